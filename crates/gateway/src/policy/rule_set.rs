//! All rules together: compiled whole or not at all, with a digest over what they say.

use std::collections::BTreeSet;
use std::fmt;

use callgate_schema::json::{Digest, Document, ReadLimits, digest, write_string};
use callgate_schema::{Finding, Limits, Location, Options, Program, Step};

use super::judge::RESERVED_IDS;
use super::rule::Rule;
use super::tool_settings::{PinnedAnnotations, ToolPins, ToolSettings, ToolSpec};
use super::{Effect, Glob, RuleSpec, Target, TargetGlob, TargetKind};
use crate::budget::Cost;

/// Rules of one set. Each call asks all of them.
pub const RULES_MAX: usize = 10_000;
/// Bytes of a rule's id, which is named in messages.
const ID_BYTES_MAX: usize = 64;

/// A fault of one rule, or of one entry about tools.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleFault {
    /// Where: `rules` or `tools`, the index, and the member.
    pub place: Location,
    /// What was expected, then what was found.
    pub message: String,
    /// What to write instead, if that can be said.
    pub help: Option<String>,
}

/// Every fault of the rules of a set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleFaults(pub Vec<RuleFault>);

impl fmt::Display for RuleFaults {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, fault) in self.0.iter().enumerate() {
            let separator = if at == 0 { "" } else { "; " };
            write!(f, "{separator}{}: {}", fault.place, fault.message)?;
        }
        Ok(())
    }
}

impl std::error::Error for RuleFaults {}

/// The rules, and what the operator says of tools, since that decides, too.
#[derive(Debug, Clone)]
pub struct RuleSet {
    pub(super) rules: Vec<Rule>,
    pub(super) tools: ToolSettings,
    digest: Digest,
}

impl RuleSet {
    /// No rules at all: every admitted tool is permitted.
    pub fn none() -> RuleSet {
        let tools = ToolSettings::default();
        let digest = digest_of(&[], &tools);
        RuleSet { rules: Vec::new(), tools, digest }
    }

    /// Compiles the rules and the entries about tools. Nothing that is misspelt is left out: one fault refuses all.
    ///
    /// # Errors
    /// Every fault, in the order of the rules.
    pub fn compile(
        rules: Vec<RuleSpec>,
        tools: Vec<ToolSpec>,
        limits: &Limits,
    ) -> Result<RuleSet, RuleFaults> {
        let mut faults = Faults::default();
        if rules.len() > RULES_MAX {
            faults.push(
                vec![name("rules")],
                format!("expected at most {RULES_MAX} rules, found {}", rules.len()),
            );
            return Err(RuleFaults(faults.found));
        }
        let mut ids = BTreeSet::new();
        let compiled: Vec<Rule> = rules
            .into_iter()
            .enumerate()
            .map(|(index, spec)| {
                check_id(index, &spec.id, &mut ids, &mut faults);
                compile_rule(index, spec, limits, &mut faults)
            })
            .collect();
        let entries = compile_tools(tools, &mut faults);
        if !faults.found.is_empty() {
            return Err(RuleFaults(faults.found));
        }
        let tools = ToolSettings { entries };
        let digest = digest_of(&compiled, &tools);
        Ok(RuleSet { rules: compiled, tools, digest })
    }

    /// The digest over what the rules say and what is said of tools: not over the order of the rules, nor over the
    /// spelling of schemas and the order of patterns, none of which changes a decision.
    pub fn digest(&self) -> Digest {
        self.digest
    }

    /// How many rules there are.
    pub fn len(&self) -> usize {
        self.rules.len()
    }

    /// Whether there are none, so that every admitted tool is permitted.
    pub fn is_empty(&self) -> bool {
        self.rules.is_empty()
    }

    /// The rules as they are written, in their order.
    pub fn specs(&self) -> impl Iterator<Item = &RuleSpec> {
        self.rules.iter().map(|rule| &rule.spec)
    }

    /// What the operator says of a target; of anything but a tool nothing.
    pub fn pins(&self, target: &Target<'_>) -> ToolPins {
        self.tools.pins(target.kind, &target.path())
    }

    /// Doubts about the schemas of the rules, each with its place; they refuse nothing.
    pub fn warnings(&self) -> Vec<(Location, Finding)> {
        let mut all = Vec::new();
        for (index, rule) in self.rules.iter().enumerate() {
            for (member, program) in [("when", &rule.when), ("unless", &rule.unless)] {
                let place = Location(vec![name("rules"), Step::Index(index), name(member)]);
                let findings = program.iter().flat_map(Program::warnings);
                all.extend(findings.map(|finding| (place.clone(), finding.clone())));
            }
        }
        all
    }
}

fn name(text: &str) -> Step {
    Step::Name(text.to_owned())
}

#[derive(Default)]
struct Faults {
    found: Vec<RuleFault>,
}

impl Faults {
    fn push(&mut self, place: Vec<Step>, message: String) {
        self.found.push(RuleFault { place: Location(place), message, help: None });
    }

    fn push_schema(&mut self, place: &[Step], findings: &[Finding]) {
        for finding in findings {
            let at = finding.schema_location.as_deref().filter(|at| !at.is_empty());
            let at = at.map(|at| format!(", at `{at}` of the schema")).unwrap_or_default();
            self.found.push(RuleFault {
                place: Location(place.to_vec()),
                message: format!("{}{at} ({})", finding.message, finding.code),
                help: finding.help.clone(),
            });
        }
    }
}

fn check_id(index: usize, id: &str, ids: &mut BTreeSet<String>, faults: &mut Faults) {
    let place = || vec![name("rules"), Step::Index(index), name("id")];
    let good = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    if id.is_empty() || id.len() > ID_BYTES_MAX || !id.bytes().all(good) {
        let message = format!(
            "expected an id of 1 to {ID_BYTES_MAX} letters, digits, `-`, `_` and `.`, found another text"
        );
        faults.push(place(), message);
    } else if RESERVED_IDS.contains(&id) {
        faults.push(
            place(),
            format!("expected an id of its own, found `{id}`, which decisions use for no rule"),
        );
    } else if !ids.insert(id.to_owned()) {
        faults.push(place(), format!("expected an id that no other rule has, found `{id}` again"));
    }
}

fn compile_rule(index: usize, spec: RuleSpec, limits: &Limits, faults: &mut Faults) -> Rule {
    let place = |member: &str| vec![name("rules"), Step::Index(index), name(member)];
    let item = |member: &str, at: usize| [place(member), vec![Step::Index(at)]].concat();
    for (member, list) in [("principals", &spec.principals), ("tools", &spec.tools)] {
        if list.is_empty() {
            faults.push(
                place(member),
                "expected a pattern at least, since without one the rule is about nothing".into(),
            );
        }
    }
    let mut principals = Vec::new();
    for (at, text) in spec.principals.iter().enumerate() {
        match Glob::parse(text) {
            Ok(glob) => principals.push(glob),
            Err(message) => faults.push(item("principals", at), message),
        }
    }
    let mut targets = Vec::new();
    for (at, text) in spec.tools.iter().enumerate() {
        match TargetGlob::parse(text) {
            Ok(glob) => targets.push(glob),
            Err(message) => faults.push(item("tools", at), message),
        }
    }
    if spec.effect == Effect::Ask && targets.iter().any(|glob| glob.kind() != TargetKind::Tool) {
        let message = "expected `permit` or `forbid` in a rule about other things than tools, since only a call of a tool \
                       can be approved, found `ask`";
        faults.push(place("effect"), message.to_owned());
    }
    let pins = spec.annotations.entries().iter().any(|(_, wanted)| wanted.is_some());
    if pins && targets.iter().any(|glob| glob.kind() != TargetKind::Tool) {
        let message = "expected no annotations in a rule about other things than tools, which have none";
        faults.push(place("annotations"), message.to_owned());
    }
    for (at, pair) in spec.equal.iter().enumerate() {
        if !pair.argument.starts_with('/') {
            let mut place = item("equal", at);
            place.push(name("argument"));
            faults
                .push(place, "expected a JSON Pointer, which begins with `/`, found another text".to_owned());
        }
    }
    let mut condition = |member: &str, text: &Option<String>| {
        let program = compile_condition(text.as_deref()?, limits);
        program.map_err(|findings| faults.push_schema(&place(member), &findings)).ok()
    };
    let when = condition("when", &spec.when);
    let unless = condition("unless", &spec.unless);
    Rule { spec, principals, targets, when, unless }
}

fn compile_condition(text: &str, limits: &Limits) -> Result<Program, Vec<Finding>> {
    // A schema of any value, since it may be `true`; but a misspelt keyword would silently permit, so it is refused.
    let options = Options {
        unknown_keywords: callgate_schema::UnknownKeywords::Refuse,
        limits: limits.clone(),
        ..Options::value()
    };
    Program::compile(text.as_bytes(), &options).map_err(|error| error.findings)
}

fn compile_tools(tools: Vec<ToolSpec>, faults: &mut Faults) -> Vec<(TargetGlob, ToolSpec)> {
    let mut entries = Vec::new();
    for (index, spec) in tools.into_iter().enumerate() {
        let place = |member: &str| vec![name("tools"), Step::Index(index), name(member)];
        match TargetGlob::parse(&spec.name) {
            Ok(glob) if glob.kind() == TargetKind::Tool => entries.push((glob, spec)),
            Ok(glob) => {
                let kind = glob.kind().as_str();
                faults
                    .push(place("name"), format!("expected a pattern of tools, found one of kind `{kind}`"));
            }
            Err(message) => faults.push(place("name"), message),
        }
    }
    entries
}

/// SHA-256 over the canonical form of all that the set says; kind `rule-set`.
fn digest_of(rules: &[Rule], tools: &ToolSettings) -> Digest {
    let mut sorted: Vec<&Rule> = rules.iter().collect();
    sorted.sort_by(|a, b| a.spec.id.cmp(&b.spec.id));
    let rules: Vec<String> = sorted.into_iter().map(rule_text).collect();
    let tools: Vec<String> = tools.entries.iter().map(|(_, spec)| tool_text(spec)).collect();
    let text = format!("{{\"rules\":[{}],\"tools\":[{}]}}", rules.join(","), tools.join(","));
    // Every part was read and bounded before, but for the numbers in schemas, which were read by the same limits.
    let limits = ReadLimits {
        subject: "rules",
        bytes_max: 1 << 30,
        depth_max: 1_100,
        nodes_max: 1 << 24,
        number_digits_max: 1 << 20,
        number_exponent_max: 1 << 20,
    };
    match Document::read(text.as_bytes(), &limits) {
        Ok(document) => digest("rule-set", document.root()),
        // Too large to be read at once: then spelling counts, and the digest still tells sets apart.
        Err(_) => Digest::of("rule-set", &[text.as_bytes()]),
    }
}

fn rule_text(rule: &Rule) -> String {
    let spec = &rule.spec;
    let equal: BTreeSet<String> = spec
        .equal
        .iter()
        .map(|pair| format!("[{},{}]", quoted(&pair.argument), quoted(&pair.claim)))
        .collect();
    let condition = |text: &Option<String>| text.clone().unwrap_or_else(|| "null".to_owned());
    format!(
        "{{\"id\":{},\"effect\":{},\"principals\":{},\"tools\":{},\"annotations\":{},\"when\":{},\"unless\":{},\
         \"equal\":[{}],\"reason\":{}}}",
        quoted(&spec.id),
        quoted(spec.effect.as_str()),
        set_text(&spec.principals),
        set_text(&spec.tools),
        annotations_text(spec.annotations),
        condition(&spec.when),
        condition(&spec.unless),
        equal.into_iter().collect::<Vec<_>>().join(","),
        spec.reason.as_deref().map_or_else(|| "null".to_owned(), quoted),
    )
}

fn tool_text(spec: &ToolSpec) -> String {
    let flag = spec.requires_approval.map_or("null", |flag| if flag { "true" } else { "false" });
    let cost = match &spec.cost {
        None => "null".to_owned(),
        Some(Cost::Fixed(amount)) => amount.to_string(),
        Some(Cost::Argument { pointer, ceiling }) => {
            let ceiling = ceiling.map_or_else(|| "null".to_owned(), |ceiling| ceiling.to_string());
            format!("[{},{ceiling}]", quoted(pointer))
        }
    };
    format!(
        "{{\"name\":{},\"annotations\":{},\"requires_approval\":{flag},\"cost\":{cost}}}",
        quoted(&spec.name),
        annotations_text(spec.annotations),
    )
}

fn annotations_text(annotations: PinnedAnnotations) -> String {
    let members: Vec<String> = annotations
        .entries()
        .iter()
        .filter_map(|(name, wanted)| wanted.map(|wanted| format!("\"{name}\":{wanted}")))
        .collect();
    format!("{{{}}}", members.join(","))
}

/// A list whose order and repetitions say nothing.
fn set_text(list: &[String]) -> String {
    let sorted: BTreeSet<String> = list.iter().map(|text| quoted(text)).collect();
    format!("[{}]", sorted.into_iter().collect::<Vec<_>>().join(","))
}

fn quoted(text: &str) -> String {
    let mut out = Vec::new();
    write_string(&mut out, text);
    String::from_utf8_lossy(&out).into_owned()
}
