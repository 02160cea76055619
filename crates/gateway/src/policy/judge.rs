//! The decision. Forbid beats ask beats permit; what cannot be evaluated forbids; where there are rules and none matches,
//! the answer is no.

use callgate_schema::json::{Digest, Node};
use callgate_wire::Principal;

use super::{Claims, Effect, RuleOutcome, RuleSet, Target, TargetKind, ToolPins};

/// What determines a decision where there are no rules at all.
pub const NO_RULES: &str = "no-rules";
/// What determines a decision where there are rules and none of them matches.
pub const DEFAULT_DENY: &str = "default-deny";
/// What determines a decision about a call on behalf of nobody.
pub const NO_PRINCIPAL: &str = "no-principal";
/// What determines a decision where the operator says of the tool that each call needs an approval.
pub const REQUIRES_APPROVAL: &str = "requires-approval";

/// What determines a decision about a resource whose URI leads out of the folder that it names: patterns compare texts, and
/// `file:///public/../private` begins like what is public.
pub const DOT_SEGMENTS: &str = "dot-segments";

/// What no rule can be called.
pub(super) const RESERVED_IDS: [&str; 5] =
    [NO_RULES, DEFAULT_DENY, NO_PRINCIPAL, REQUIRES_APPROVAL, DOT_SEGMENTS];

/// What the rules are asked.
#[derive(Debug, Clone, Copy)]
pub struct Question<'a> {
    /// Who asks.
    pub principal: &'a Principal,
    /// What is known of them.
    pub claims: &'a Claims,
    /// What is asked for.
    pub target: Target<'a>,
    /// The arguments of a tool or a prompt; the `params` of other methods.
    pub arguments: Node<'a>,
}

/// The answer, with its reasons.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
pub struct Decision {
    /// What was decided.
    pub effect: Effect,
    /// Every rule that determined it, in the order of the rules; or one of the words for where no rule did.
    pub determining: Vec<String>,
    /// The digest of the rules that were asked.
    pub rule_set: Digest,
}

/// A decision, with what came of each rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Judgement {
    /// The decision.
    pub decision: Decision,
    /// What came of each rule, in their order.
    pub outcomes: Vec<RuleOutcome>,
    /// What the operator says of the target.
    pub pins: ToolPins,
}

impl RuleSet {
    /// Asks every rule, and decides.
    ///
    /// The same question always has the same answer: no clock, no state. Work: each schema of a rule has the engine's
    /// allowance for itself.
    pub fn judge(&self, question: &Question<'_>) -> Judgement {
        let path = question.target.path();
        let pins = self.tools.pins(question.target.kind, &path);
        let outcomes: Vec<RuleOutcome> =
            self.rules.iter().map(|rule| rule.ask(question, &path, pins.annotations)).collect();
        let asks_always = pins.requires_approval && question.target.kind == TargetKind::Tool;
        let (effect, determining) = if question.principal.as_str().is_empty() {
            (Effect::Forbid, vec![NO_PRINCIPAL.to_owned()])
        } else if !self.is_empty() && leads_elsewhere(&question.target) {
            (Effect::Forbid, vec![DOT_SEGMENTS.to_owned()])
        } else {
            self.decide(&outcomes, asks_always)
        };
        let decision = Decision { effect, determining, rule_set: self.digest() };
        Judgement { decision, outcomes, pins }
    }

    fn decide(&self, outcomes: &[RuleOutcome], asks_always: bool) -> (Effect, Vec<String>) {
        let says = |effect: Effect| {
            let pairs = self.rules.iter().zip(outcomes);
            let ids = pairs.filter(move |(rule, outcome)| match outcome {
                RuleOutcome::Matched => rule.spec.effect == effect,
                RuleOutcome::Failed(_) => effect == Effect::Forbid,
                _ => false,
            });
            ids.map(|(rule, _)| rule.spec.id.clone()).collect::<Vec<_>>()
        };
        let forbids = says(Effect::Forbid);
        if !forbids.is_empty() {
            return (Effect::Forbid, forbids);
        }
        let mut asks = says(Effect::Ask);
        let permits = says(Effect::Permit);
        // The tool's own need of an approval is no permission: a rule has to permit or ask, where there are rules.
        if asks_always && (!asks.is_empty() || !permits.is_empty() || self.is_empty()) {
            asks.push(REQUIRES_APPROVAL.to_owned());
        }
        match (asks.is_empty(), permits.is_empty()) {
            (false, _) => (Effect::Ask, asks),
            (true, false) => (Effect::Permit, permits),
            (true, true) if self.is_empty() => (Effect::Permit, vec![NO_RULES.to_owned()]),
            (true, true) => (Effect::Forbid, vec![DEFAULT_DENY.to_owned()]),
        }
    }
}

/// Whether a URI has a segment `.` or `..`, also spelled with percent signs.
fn leads_elsewhere(target: &Target<'_>) -> bool {
    let is_dots = |segment: &str| {
        let plain = segment.replace("%2e", ".").replace("%2E", ".");
        matches!(plain.as_str(), "." | "..")
    };
    let plain =
        |name: &str| name.replace("%2f", "/").replace("%2F", "/").replace("%5c", "/").replace("%5C", "/");
    target.kind == TargetKind::Resource && plain(target.name).split(['/', '\\', '?', '#']).any(is_dots)
}
