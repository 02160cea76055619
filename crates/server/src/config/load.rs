//! From a text to a configuration. What the schema of the file cannot say is checked here, and everything is checked before
//! anything is in force.

mod auth;
mod upstream;

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use callgate_gateway::budget::{BudgetSet, BudgetSpec, Cost, Per, Unit, Window};
use callgate_gateway::catalog::PinIgnore;
use callgate_gateway::policy::{
    Claims, Effect, EqualSpec, Glob, PinnedAnnotations, RuleSet, RuleSpec, ToolSpec,
};
use callgate_mcp::FrameLimits;
use callgate_schema::{Limits, Location, Profile, Step};
use callgate_wire::Principal;
use serde_json::value::RawValue;

use super::fault::{ConfigError, ConfigFault};
use super::form::{
    AdmissionForm, BudgetForm, CostForm, EffectForm, FileForm, GateForm, PerForm, PrincipalForm, ProfileForm,
    RuleForm, ServeForm, ToolForm,
};
use super::secret::{Secret, TextOrSecret};
use super::tree::Tree;
use super::{schema, show};
pub use auth::{Auth, JwtAlgorithm, JwtAuth, KeysPlace};

/// Bytes of a configuration.
const CONFIG_BYTES_MAX: usize = 8 << 20;

/// A configuration that was read whole and holds no fault.
#[derive(Debug, Clone)]
pub struct Config {
    /// The gate itself.
    pub gate: Gate,
    /// Clients over HTTP.
    pub serve: Serve,
    /// Who calls over HTTP.
    pub auth: Auth,
    /// Who may call what, and what the operator says of tools.
    pub rules: Arc<RuleSet>,
    /// How much may be called.
    pub budgets: Arc<BudgetSet>,
    /// Approvals of calls that a rule asks about.
    pub approvals: Approvals,
    /// The tool servers behind the gate.
    pub upstreams: Vec<Upstream>,
    /// What is doubtful and refuses nothing.
    pub warnings: Vec<ConfigFault>,
    principals: Vec<(Vec<Glob>, Claims)>,
    shown: show::Shown,
    folder: PathBuf,
}

/// The gate itself; `None` where the file says nothing.
#[derive(Debug, Clone, PartialEq)]
pub struct Gate {
    /// Where the records are kept.
    pub store: Option<Store>,
    /// How much of JSON Schema is admitted.
    pub profile: Profile,
    /// How long a tool server may take to answer.
    pub call_timeout: Duration,
    /// How long a gate that ends waits for what is out.
    pub drain: Duration,
    /// Calls at once to one tool server.
    pub calls_in_flight_max: usize,
    /// The maxima of frames and results.
    pub frames: FrameLimits,
}

/// Clients over HTTP.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Serve {
    /// The address that is listened at.
    pub listen: SocketAddr,
    /// Names by which clients may call the gate besides those of the machine itself.
    pub hosts: Vec<String>,
    /// Origins of pages that may call the gate.
    pub origins: Vec<String>,
}

impl Serve {
    /// The address that is listened at where nothing says otherwise: of this machine alone.
    pub const LISTEN: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 7411);
}

/// Where the records are kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Store {
    /// A file.
    File(PathBuf),
    /// The address of a PostgreSQL server, without a password.
    Postgres(String),
    /// A secret that holds one of these.
    Secret(Secret),
}

/// Approvals.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Approvals {
    /// How long a request waits for an answer, and an approval for its call.
    pub expiry: Duration,
    /// Whether the client's own user may be asked.
    pub in_band: bool,
}

/// One tool server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Upstream {
    /// Its name in rules and records.
    pub name: String,
    /// How it is reached.
    pub place: Place,
    /// What stands before the names of its tools and prompts; `None` for what the gate chooses.
    pub prefix: Option<String>,
    /// Whether one bad tool refuses it.
    pub admission: Admission,
    /// How much of JSON Schema is admitted.
    pub profile: Profile,
    /// What of a definition is not pinned.
    pub pin_ignore: PinIgnore,
}

/// How a tool server is reached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// A program that is started.
    Command {
        /// The program.
        command: String,
        /// Its arguments.
        args: Vec<String>,
        /// Further variables of its environment.
        env: Vec<(String, Text)>,
        /// The folder it is started in.
        cwd: Option<PathBuf>,
    },
    /// An address.
    Url {
        /// The address.
        url: String,
        /// Further headers.
        headers: Vec<(String, Text)>,
    },
}

/// A text of the file, or a secret elsewhere.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Text {
    /// The text.
    Plain(String),
    /// Where it is.
    Secret(Secret),
}

/// Whether one bad tool refuses its server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Admission {
    /// The bad tool is left out; the others serve.
    Quarantine,
    /// One bad tool refuses all.
    Strict,
}

impl Config {
    /// What is in force without a file.
    pub fn defaults() -> Config {
        let shown = show::Shown::of(FileForm::default(), |_| false);
        Config {
            gate: gate(&GateForm::default(), Path::new("")),
            serve: Serve { listen: Serve::LISTEN, hosts: Vec::new(), origins: Vec::new() },
            auth: Auth::default(),
            rules: Arc::new(RuleSet::none()),
            budgets: Arc::new(BudgetSet::none()),
            approvals: Approvals { expiry: APPROVAL_EXPIRY, in_band: false },
            upstreams: Vec::new(),
            warnings: Vec::new(),
            principals: Vec::new(),
            shown,
            folder: PathBuf::new(),
        }
    }

    /// Reads the text of a file of this name; its folder is what paths in it are relative to. Time zones are looked up in
    /// the system's database. No secret is read.
    ///
    /// # Errors
    /// Every fault of the text: those of its form first, and if there are none, those of what it means.
    pub fn parse(file: &str, text: &str) -> Result<Config, ConfigError> {
        let error = |mut faults: Vec<ConfigFault>| {
            faults.sort_by_key(|fault| (fault.line, fault.column));
            ConfigError { file: file.to_owned(), faults }
        };
        if text.len() > CONFIG_BYTES_MAX {
            let message = format!("expected at most {CONFIG_BYTES_MAX} bytes, found {}", text.len());
            let fault = ConfigFault { line: 0, column: 0, key: String::new(), message, help: None };
            return Err(error(vec![fault]));
        }
        let tree = Tree::read(text).map_err(|fault| error(vec![fault]))?;
        let json = tree.to_json().map_err(|fault| error(vec![fault]))?;
        let faults = schema::check(&tree, &json);
        if !faults.is_empty() {
            return Err(error(faults));
        }
        let form: FileForm = serde_json::from_slice(&json).map_err(|_| {
            // The library's message would show values.
            let message =
                "expected the form that `callgate config schema` prints, found another one".to_owned();
            error(vec![ConfigFault { line: 0, column: 0, key: String::new(), message, help: None }])
        })?;
        let mut loader = Loader { tree: &tree, faults: Vec::new() };
        let folder = Path::new(file).parent().unwrap_or(Path::new(""));
        let config = loader.load(form, folder);
        if loader.faults.is_empty() { Ok(config) } else { Err(error(loader.faults)) }
    }

    /// What is known of a principal: the claims of the first entry that matches its name, else those of the system.
    pub fn claims(&self, principal: &Principal) -> Claims {
        self.written_claims(principal).cloned().unwrap_or_else(|| Claims::local(principal))
    }

    /// The claims of the first entry that matches a principal's name, if one does.
    pub fn written_claims(&self, principal: &Principal) -> Option<&Claims> {
        let matching =
            |(names, _): &&(Vec<Glob>, Claims)| names.iter().any(|glob| glob.matches(principal.as_str()));
        self.principals.iter().find(matching).map(|(_, claims)| claims)
    }

    /// What is in force, as TOML: what the file says, and the defaults marked as such. Secrets are references, of which
    /// `is_set` says whether they lead somewhere.
    pub fn show(&self, is_set: impl Fn(&Secret) -> bool) -> String {
        self.shown.text(&|secret: &Secret| is_set(&secret.beside(&self.folder)))
    }
}

/// Approvals that wait longer are asked for again.
const APPROVAL_EXPIRY: Duration = Duration::from_mins(15);

/// Looks at what a form means, and collects what is wrong.
struct Loader<'t> {
    tree: &'t Tree<'t>,
    faults: Vec<ConfigFault>,
}

impl Loader<'_> {
    fn load(&mut self, form: FileForm, folder: &Path) -> Config {
        if let Some(TextOrSecret::Text(address)) = &form.gate.store
            && is_postgres(address)
            && has_password(address)
        {
            let help = "name a variable or a file that holds the address: `store = { env = \"NAME\" }`";
            self.fault(&["gate", "store"], "expected no password in the file, found one", Some(help));
        }
        let principals =
            form.principals.iter().enumerate().map(|(index, form)| self.principal(index, form)).collect();
        let rules = form.rules.iter().map(rule).collect();
        let tools = form.tools.iter().map(tool).collect();
        let rules = RuleSet::compile(rules, tools, &Limits::default()).unwrap_or_else(|faults| {
            self.faults.extend(
                faults.0.into_iter().map(|fault| self.tree.fault(&fault.place, fault.message, fault.help)),
            );
            RuleSet::none()
        });
        let specs: Vec<BudgetSpec> =
            form.budgets.iter().enumerate().map(|(index, form)| self.budget(index, form)).collect();
        let budgets = BudgetSet::compile(specs).unwrap_or_else(|faults| {
            self.faults
                .extend(faults.into_iter().map(|fault| self.tree.fault(&fault.place, fault.message, None)));
            BudgetSet::none()
        });
        let upstreams = self.upstreams(&form.upstreams, form.gate.profile, folder);
        let serve = self.serve(&form.serve);
        let auth = self.auth(&form.auth, folder);
        let doubts = rules.warnings().into_iter();
        let warnings = doubts
            .map(|(place, finding)| {
                let message = format!("{} ({})", finding.message, finding.code);
                self.tree.fault(&place, message, finding.help)
            })
            .collect();
        Config {
            gate: gate(&form.gate, folder),
            serve,
            auth,
            rules: Arc::new(rules),
            budgets: Arc::new(budgets),
            approvals: Approvals {
                expiry: form.approvals.expiry_ms.map_or(APPROVAL_EXPIRY, Duration::from_millis),
                in_band: form.approvals.in_band.unwrap_or(false),
            },
            upstreams,
            warnings,
            principals,
            shown: show::Shown::of(form, |place| self.tree.has(place)),
            folder: folder.to_owned(),
        }
    }

    fn serve(&mut self, form: &ServeForm) -> Serve {
        let listen = form.listen.as_deref().map_or(Ok(Serve::LISTEN), str::parse);
        let listen = listen.unwrap_or_else(|_| {
            let help = format!("such as `{}`", Serve::LISTEN);
            self.fault(
                &["serve", "listen"],
                "expected an address and a port, found another text",
                Some(&help),
            );
            Serve::LISTEN
        });
        for (index, origin) in form.origins.iter().enumerate() {
            if !origin.starts_with("https://") && !origin.starts_with("http://") {
                let path = ["serve", "origins", &index.to_string()];
                let message =
                    "expected an origin that begins with `https://` or `http://`, found another text";
                self.fault(&path, message, None);
            }
        }
        Serve { listen, hosts: form.hosts.clone(), origins: form.origins.clone() }
    }

    fn fault(&mut self, path: &[&str], message: impl Into<String>, help: Option<&str>) {
        let place = path.iter().map(|part| match part.parse() {
            Ok(index) => Step::Index(index),
            Err(_) => Step::Name((*part).to_owned()),
        });
        let fault = self.tree.fault(&Location(place.collect()), message.into(), help.map(str::to_owned));
        self.faults.push(fault);
    }

    fn principal(&mut self, index: usize, form: &PrincipalForm) -> (Vec<Glob>, Claims) {
        let index = index.to_string();
        let mut names = Vec::new();
        for (at, name) in form.names.iter().enumerate() {
            match Glob::parse(name) {
                Ok(glob) => names.push(glob),
                Err(message) => self.fault(&["principals", &index, "names", &at.to_string()], message, None),
            }
        }
        let claims = Claims::read(json_text(&form.claims).as_bytes()).unwrap_or_else(|finding| {
            self.fault(&["principals", &index, "claims"], finding.message, finding.help.as_deref());
            Claims::none()
        });
        (names, claims)
    }

    fn budget(&mut self, index: usize, form: &BudgetForm) -> BudgetSpec {
        let at = index.to_string();
        let window = form
            .window
            .as_deref()
            .map_or(Ok(Window::None), |text| Window::parse(text, |name| jiff::tz::TimeZone::get(name).ok()));
        let window = window.unwrap_or_else(|message| {
            self.fault(&["budgets", &at, "window"], message, None);
            Window::None
        });
        let (unit, limit) = match (form.limit.calls, form.limit.cost) {
            (Some(calls), _) => (Unit::Calls, calls),
            (None, cost) => (Unit::Cost(form.cost.as_ref().map(cost_of)), cost.unwrap_or(0)),
        };
        if unit == Unit::Calls && form.cost.is_some() {
            let help = "count cost with `limit = { cost = N }`, or leave `cost` out";
            self.fault(
                &["budgets", &at, "cost"],
                "expected no cost in a budget that counts calls, found one",
                Some(help),
            );
        }
        let everything = || vec!["*".to_owned()];
        BudgetSpec {
            name: form.name.clone(),
            principals: form.principals.clone().unwrap_or_else(everything),
            tools: form.tools.clone().unwrap_or_else(everything),
            per: form.per.iter().copied().map(per).collect(),
            unit,
            limit,
            window,
        }
    }
}

fn gate(form: &GateForm, folder: &Path) -> Gate {
    let mut frames = FrameLimits::default();
    let size = |size: u64| usize::try_from(size).unwrap_or(usize::MAX);
    if let Some(bytes) = form.frame_bytes_max {
        frames.frame_bytes_max = size(bytes);
    }
    if let Some(bytes) = form.result_bytes_max {
        frames.result_bytes_max = size(bytes);
    }
    Gate {
        store: form.store.as_ref().map(|store| match store {
            TextOrSecret::Secret(secret) => Store::Secret(secret.beside(folder)),
            TextOrSecret::Text(text) if is_postgres(text) => Store::Postgres(text.clone()),
            TextOrSecret::Text(text) => Store::File(folder.join(text)),
        }),
        profile: form.profile.map_or(Profile::Standard, profile),
        call_timeout: Duration::from_millis(form.call_timeout_ms.unwrap_or(show::CALL_TIMEOUT_MS)),
        drain: Duration::from_millis(form.drain_ms.unwrap_or(show::DRAIN_MS)),
        calls_in_flight_max: size(form.calls_in_flight_max.unwrap_or(show::CALLS_IN_FLIGHT_MAX)),
        frames,
    }
}

fn is_postgres(text: &str) -> bool {
    text.starts_with("postgres://") || text.starts_with("postgresql://")
}

/// Whether an address has a password, before its host or among its parameters.
fn has_password(address: &str) -> bool {
    let after = address.split_once("://").map_or(address, |(_, after)| after);
    let authority = after.split(['/', '?', '#']).next().unwrap_or_default();
    let user = authority.rsplit_once('@').map(|(user, _)| user);
    user.is_some_and(|user| user.contains(':')) || after.contains("password=")
}

fn profile(form: ProfileForm) -> Profile {
    match form {
        ProfileForm::Standard => Profile::Standard,
        ProfileForm::Portable => Profile::Portable,
        ProfileForm::Wire => Profile::Wire,
    }
}

fn per(form: PerForm) -> Per {
    match form {
        PerForm::Principal => Per::Principal,
        PerForm::Run => Per::Run,
        PerForm::Tool => Per::Tool,
    }
}

fn cost_of(form: &CostForm) -> Cost {
    match form {
        CostForm::Fixed(amount) => Cost::Fixed(*amount),
        CostForm::Argument(pointer, ceiling) => {
            Cost::Argument { pointer: pointer.clone(), ceiling: *ceiling }
        }
    }
}

fn rule(form: &RuleForm) -> RuleSpec {
    let annotations = form.annotations.as_ref();
    RuleSpec {
        id: form.id.clone(),
        effect: match form.effect {
            EffectForm::Permit => Effect::Permit,
            EffectForm::Ask => Effect::Ask,
            EffectForm::Forbid => Effect::Forbid,
        },
        principals: form.principals.clone().unwrap_or_else(|| vec!["*".to_owned()]),
        tools: form.tools.clone(),
        annotations: annotations.map_or_else(PinnedAnnotations::default, |form| PinnedAnnotations {
            read_only: form.read_only,
            destructive: form.destructive,
            idempotent: form.idempotent,
            open_world: form.open_world,
        }),
        when: form.when.as_deref().map(json_text),
        unless: form.unless.as_deref().map(json_text),
        equal: form
            .equal
            .iter()
            .map(|pair| EqualSpec { argument: pair.argument.clone(), claim: pair.claim.clone() })
            .collect(),
        reason: form.reason.clone(),
    }
}

fn tool(form: &ToolForm) -> ToolSpec {
    ToolSpec {
        name: form.name.clone(),
        annotations: PinnedAnnotations {
            read_only: form.read_only,
            destructive: form.destructive,
            idempotent: form.idempotent,
            open_world: form.open_world,
        },
        requires_approval: form.requires_approval,
        cost: form.cost.as_ref().map(cost_of),
    }
}

/// The JSON of a value that is a table, or a text that holds JSON.
pub(super) fn json_text(raw: &RawValue) -> String {
    let text = raw.get();
    if text.starts_with('"') { serde_json::from_str(text).unwrap_or_default() } else { text.to_owned() }
}
