//! Why a rule matched or did not, in the words of its operator's file; without values of the arguments.

use callgate_schema::{Finding, Verdict};

use super::rule::Rule;
use super::{Judgement, Question, RuleFailure, RuleOutcome, RuleSet, RuleSpec};

/// What came of one rule, for people.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleReason<'a> {
    /// The rule as it is written.
    pub rule: &'a RuleSpec,
    /// What came of it.
    pub outcome: RuleOutcome,
    /// The same in words.
    pub text: String,
    /// How the arguments break its `when`, where that is why it did not match.
    pub findings: Vec<Finding>,
}

impl RuleSet {
    /// Says of each rule why it matched or did not. The question is the one that the judgement is about.
    pub fn reasons(&self, question: &Question<'_>, judgement: &Judgement) -> Vec<RuleReason<'_>> {
        let pairs = self.rules.iter().zip(&judgement.outcomes);
        pairs
            .map(|(rule, outcome)| RuleReason {
                rule: &rule.spec,
                outcome: outcome.clone(),
                text: outcome.describe(&rule.spec),
                findings: findings(rule, outcome, question),
            })
            .collect()
    }
}

impl RuleOutcome {
    /// The outcome in words: a lower-case fragment.
    pub fn describe(&self, rule: &RuleSpec) -> String {
        let pair = |index: &usize| rule.equal.get(*index);
        match self {
            RuleOutcome::Matched => "matched".to_owned(),
            RuleOutcome::OtherPrincipal => "is about other principals".to_owned(),
            RuleOutcome::OtherTarget => "is about other tools".to_owned(),
            RuleOutcome::NotPinned(name, wanted) => {
                format!("the operator has not pinned `{name} = {wanted}`")
            }
            RuleOutcome::WhenUnmet => "the arguments do not keep its `when`".to_owned(),
            RuleOutcome::UnlessMet => "the arguments keep its `unless`".to_owned(),
            RuleOutcome::Unequal(index) => pair(index).map_or_else(String::new, |pair| {
                format!("`{}` of the arguments is not the claim `{}`", pair.argument, pair.claim)
            }),
            RuleOutcome::Failed(failure) => format!("could not be evaluated: {}", failure.describe(rule)),
        }
    }
}

impl RuleFailure {
    /// The failure in words: a lower-case fragment.
    pub fn describe(&self, rule: &RuleSpec) -> String {
        let pair = |index: &usize| rule.equal.get(*index);
        match self {
            RuleFailure::When(finding) => format!("{} in its `when`", finding.message),
            RuleFailure::Unless(finding) => format!("{} in its `unless`", finding.message),
            RuleFailure::ArgumentMissing(index) => pair(index).map_or_else(String::new, |pair| {
                format!("the arguments have nothing at `{}`", pair.argument)
            }),
            RuleFailure::ClaimMissing(index) => pair(index)
                .map_or_else(String::new, |pair| format!("the principal has no claim `{}`", pair.claim)),
        }
    }
}

fn findings(rule: &Rule, outcome: &RuleOutcome, question: &Question<'_>) -> Vec<Finding> {
    match (outcome, &rule.when) {
        (RuleOutcome::WhenUnmet, Some(when)) => match when.check(question.arguments) {
            Verdict::Invalid(violations) => violations.findings,
            Verdict::Valid | Verdict::Failed(_) => Vec::new(),
        },
        _ => Vec::new(),
    }
}
