//! All budgets, and the charges of one call.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use callgate_schema::json::Node;
use callgate_schema::{Location, Step};
use callgate_wire::{Charge, Code, Principal, Timestamp};

use super::{Cost, Window};
use crate::Refusal;
use crate::policy::{Glob, Target, TargetGlob, TargetKind};

/// Budgets of one configuration. Each call looks at all of them.
pub const BUDGETS_MAX: usize = 1_000;
/// Bytes of a budget's name.
const NAME_BYTES_MAX: usize = 64;

/// What a budget counts apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Per {
    /// Each principal has a counter.
    Principal,
    /// Each run has a counter; calls without a run share one.
    Run,
    /// Each tool has a counter.
    Tool,
}

impl Per {
    /// The word in the configuration and in scopes.
    pub const fn as_str(self) -> &'static str {
        match self {
            Per::Principal => "principal",
            Per::Run => "run",
            Per::Tool => "tool",
        }
    }
}

/// What a budget counts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unit {
    /// Calls.
    Calls,
    /// What calls cost, by this or, where it is absent, by what is said of their tools.
    Cost(Option<Cost>),
}

/// A budget as it is written.
#[derive(Debug, Clone, PartialEq)]
pub struct BudgetSpec {
    /// Its name: letters, digits, `-`, `_` and `.`, and no other budget's.
    pub name: String,
    /// Patterns of principals; one has to match for a call to count.
    pub principals: Vec<String>,
    /// Patterns of qualified names of tools; one has to match for a call to count.
    pub tools: Vec<String>,
    /// What has a counter of its own; one counter for all where this is empty.
    pub per: Vec<Per>,
    /// What is counted.
    pub unit: Unit,
    /// The most that a counter may reach.
    pub limit: u64,
    /// When the counters begin anew.
    pub window: Window,
}

impl BudgetSpec {
    /// A budget with one counter for all calls of everybody, which never begins anew.
    pub fn new(name: impl Into<String>, unit: Unit, limit: u64) -> BudgetSpec {
        BudgetSpec {
            name: name.into(),
            principals: vec!["*".to_owned()],
            tools: vec!["*".to_owned()],
            per: Vec::new(),
            unit,
            limit,
            window: Window::None,
        }
    }
}

/// A fault of one budget.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BudgetFault {
    /// Where: `budgets`, the index, and the member.
    pub place: Location,
    /// What was expected, then what was found.
    pub message: String,
}

/// What is known of a call when it is charged.
#[derive(Debug, Clone, Copy)]
pub struct CallFacts<'a> {
    /// Who calls.
    pub principal: &'a Principal,
    /// In which run.
    pub run: Option<&'a str>,
    /// Where the tool is.
    pub upstream: &'a str,
    /// The tool.
    pub tool: &'a str,
    /// What the operator says that the tool costs.
    pub cost: Option<&'a Cost>,
    /// The arguments, which were checked.
    pub arguments: Node<'a>,
}

/// All budgets.
#[derive(Debug, Clone, Default)]
pub struct BudgetSet {
    budgets: Vec<Budget>,
}

#[derive(Debug, Clone)]
struct Budget {
    spec: BudgetSpec,
    principals: Vec<Glob>,
    tools: Vec<TargetGlob>,
}

impl BudgetSet {
    /// No budgets: calls take nothing.
    pub fn none() -> BudgetSet {
        BudgetSet::default()
    }

    /// Reads the patterns of all budgets.
    ///
    /// # Errors
    /// Every fault, in the order of the budgets.
    pub fn compile(specs: Vec<BudgetSpec>) -> Result<BudgetSet, Vec<BudgetFault>> {
        let mut faults = Vec::new();
        if specs.len() > BUDGETS_MAX {
            let message = format!("expected at most {BUDGETS_MAX} budgets, found {}", specs.len());
            return Err(vec![BudgetFault { place: Location(vec![name("budgets")]), message }]);
        }
        let mut names = BTreeSet::new();
        let budgets = specs
            .into_iter()
            .enumerate()
            .map(|(index, spec)| {
                check(index, &spec, &mut names, &mut faults);
                compile(index, spec, &mut faults)
            })
            .collect();
        if faults.is_empty() { Ok(BudgetSet { budgets }) } else { Err(faults) }
    }

    /// The budgets as they are written.
    pub fn specs(&self) -> impl Iterator<Item = &BudgetSpec> {
        self.budgets.iter().map(|budget| &budget.spec)
    }

    /// What this call takes, from each budget that it counts in; nothing of a budget of which it takes nothing.
    ///
    /// # Errors
    /// `budget-cost-unknown` where a budget counts cost and nobody can say what this call costs: a limit that is not
    /// known to hold does not hold.
    pub fn charges(&self, facts: &CallFacts<'_>, now: Timestamp) -> Result<Vec<Charge>, Refusal> {
        let target = Target::tool(facts.upstream, facts.tool);
        let mut charges = Vec::new();
        for budget in self.budgets.iter().filter(|budget| budget.counts(facts, &target)) {
            let amount = match &budget.spec.unit {
                Unit::Calls => 1,
                Unit::Cost(own) => {
                    let cost = own.as_ref().or(facts.cost);
                    cost.and_then(|cost| cost.of(facts.arguments))
                        .ok_or_else(|| unknown(budget, cost, &target))?
                }
            };
            if amount == 0 {
                continue;
            }
            let window = budget.spec.window.around(now);
            charges.push(Charge {
                budget: budget.spec.name.clone(),
                scope: budget.scope(facts, &target),
                window: window.map(|(start, _)| start),
                resets_at: window.map(|(_, next)| next),
                amount,
                limit: budget.spec.limit,
            });
        }
        Ok(charges)
    }
}

impl Budget {
    fn counts(&self, facts: &CallFacts<'_>, target: &Target<'_>) -> bool {
        self.principals.iter().any(|glob| glob.matches(facts.principal.as_str()))
            && self.tools.iter().any(|glob| glob.matches(target))
    }

    /// Whose counter it is. Blanks stand between the parts, so those within are escaped.
    fn scope(&self, facts: &CallFacts<'_>, target: &Target<'_>) -> String {
        let mut scope = String::new();
        for per in [Per::Principal, Per::Run, Per::Tool] {
            if !self.spec.per.contains(&per) {
                continue;
            }
            let value = match per {
                Per::Principal => facts.principal.as_str().to_owned(),
                Per::Run => facts.run.unwrap_or_default().to_owned(),
                Per::Tool => target.to_string(),
            };
            if !scope.is_empty() {
                scope.push(' ');
            }
            // Writing to a text does not fail.
            let _ = write!(scope, "{}={}", per.as_str(), value.replace('%', "%25").replace(' ', "%20"));
        }
        scope
    }
}

fn unknown(budget: &Budget, cost: Option<&Cost>, target: &Target<'_>) -> Refusal {
    let name = &budget.spec.name;
    let (found, help) = match cost {
        Some(Cost::Argument { pointer, .. }) => (
            format!("found no whole number at `{pointer}` of the arguments"),
            format!("give the cost as a whole number at `{pointer}`"),
        ),
        Some(Cost::Fixed(_)) | None => (
            "found nothing that says so".to_owned(),
            "the operator of the gate has to say what this tool costs".to_owned(),
        ),
    };
    let message =
        format!("expected to know what a call of `{target}` costs, for the budget `{name}`, {found}");
    Refusal::new(Code::BudgetCostUnknown, message).with_help(help)
}

fn name(text: &str) -> Step {
    Step::Name(text.to_owned())
}

fn check(index: usize, spec: &BudgetSpec, names: &mut BTreeSet<String>, faults: &mut Vec<BudgetFault>) {
    let mut fault = |member: &str, message: String| {
        let place = Location(vec![name("budgets"), Step::Index(index), name(member)]);
        faults.push(BudgetFault { place, message });
    };
    let good = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    if spec.name.is_empty() || spec.name.len() > NAME_BYTES_MAX || !spec.name.bytes().all(good) {
        let message = format!(
            "expected a name of 1 to {NAME_BYTES_MAX} letters, digits, `-`, `_` and `.`, found another text"
        );
        fault("name", message);
    } else if !names.insert(spec.name.clone()) {
        fault("name", format!("expected a name that no other budget has, found `{}` again", spec.name));
    }
    for (member, list) in [("principals", &spec.principals), ("tools", &spec.tools)] {
        if list.is_empty() {
            fault(member, "expected a pattern at least, since without one no call counts".to_owned());
        }
    }
    if let Unit::Cost(Some(Cost::Argument { pointer, .. })) = &spec.unit
        && !pointer.starts_with('/')
    {
        fault("cost", "expected a JSON Pointer, which begins with `/`, found another text".to_owned());
    }
}

fn compile(index: usize, spec: BudgetSpec, faults: &mut Vec<BudgetFault>) -> Budget {
    let place = |member: &str, at: usize| {
        Location(vec![name("budgets"), Step::Index(index), name(member), Step::Index(at)])
    };
    let mut principals = Vec::new();
    for (at, text) in spec.principals.iter().enumerate() {
        match Glob::parse(text) {
            Ok(glob) => principals.push(glob),
            Err(message) => faults.push(BudgetFault { place: place("principals", at), message }),
        }
    }
    let mut tools = Vec::new();
    for (at, text) in spec.tools.iter().enumerate() {
        match TargetGlob::parse(text) {
            Ok(glob) if glob.kind() == TargetKind::Tool => tools.push(glob),
            Ok(_) => {
                let message = "expected a pattern of tools, since only their calls are counted".to_owned();
                faults.push(BudgetFault { place: place("tools", at), message });
            }
            Err(message) => faults.push(BudgetFault { place: place("tools", at), message }),
        }
    }
    Budget { spec, principals, tools }
}
