//! One rule: as it is written, compiled, and what comes of asking it.

use callgate_schema::{Finding, Program};

use super::glob::any_matches;
use super::{Glob, PinnedAnnotations, Question, TargetGlob};

/// What a rule says where it matches, and what all rules together decide.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Effect {
    /// The call may be made.
    Permit,
    /// The call may be made if a person approves.
    Ask,
    /// The call may not be made.
    Forbid,
}

impl Effect {
    /// The word in the configuration.
    pub const fn as_str(self) -> &'static str {
        match self {
            Effect::Permit => "permit",
            Effect::Ask => "ask",
            Effect::Forbid => "forbid",
        }
    }

    /// The effect with this name.
    pub fn parse(text: &str) -> Option<Effect> {
        [Effect::Permit, Effect::Ask, Effect::Forbid].into_iter().find(|effect| effect.as_str() == text)
    }
}

impl std::fmt::Display for Effect {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A rule as it is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleSpec {
    /// Its name: letters, digits, `-`, `_` and `.`, and no other rule's.
    pub id: String,
    /// What it says.
    pub effect: Effect,
    /// Patterns of principals; one of them has to match.
    pub principals: Vec<String>,
    /// Patterns of qualified names, as [`TargetGlob`] has them; one of them has to match.
    pub tools: Vec<String>,
    /// What the operator must have pinned of the tool.
    pub annotations: PinnedAnnotations,
    /// The text of a JSON Schema that the arguments have to keep.
    pub when: Option<String>,
    /// The text of a JSON Schema that the arguments must not keep.
    pub unless: Option<String>,
    /// What in the arguments has to be what the principal claims.
    pub equal: Vec<EqualSpec>,
    /// What the caller is told of a rule that forbids or asks.
    pub reason: Option<String>,
}

impl RuleSpec {
    /// A rule about these tools, for everybody and with all arguments.
    pub fn new(id: impl Into<String>, effect: Effect, tools: impl Into<String>) -> RuleSpec {
        RuleSpec {
            id: id.into(),
            effect,
            principals: vec!["*".to_owned()],
            tools: vec![tools.into()],
            annotations: PinnedAnnotations::default(),
            when: None,
            unless: None,
            equal: Vec::new(),
            reason: None,
        }
    }
}

/// What in the arguments has to be what the principal claims.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct EqualSpec {
    /// A JSON Pointer into the arguments.
    pub argument: String,
    /// The claim, as [`Claims::claim`](super::Claims::claim) finds it.
    pub claim: String,
}

/// A rule, compiled.
#[derive(Debug, Clone)]
pub(super) struct Rule {
    pub(super) spec: RuleSpec,
    pub(super) principals: Vec<Glob>,
    pub(super) targets: Vec<TargetGlob>,
    pub(super) when: Option<Program>,
    pub(super) unless: Option<Program>,
}

/// What came of asking one rule: it matched, or the first reason why not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RuleOutcome {
    /// It says its effect.
    Matched,
    /// It is about other principals.
    OtherPrincipal,
    /// It is about other tools, or other things than tools.
    OtherTarget,
    /// The operator has not pinned this annotation so.
    NotPinned(&'static str, bool),
    /// The arguments do not keep its `when`.
    WhenUnmet,
    /// The arguments keep its `unless`.
    UnlessMet,
    /// The pair of its `equal` with this index differs.
    Unequal(usize),
    /// It could not be evaluated, which forbids the call whatever it says.
    Failed(RuleFailure),
}

/// Why a rule could not be evaluated.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RuleFailure {
    /// A limit came before its `when` was decided.
    When(Box<Finding>),
    /// A limit came before its `unless` was decided.
    Unless(Box<Finding>),
    /// The arguments have nothing at the pointer of the pair of its `equal` with this index.
    ArgumentMissing(usize),
    /// The principal does not have the claim of the pair of its `equal` with this index.
    ClaimMissing(usize),
}

impl Rule {
    /// Asks the rule; `path` is the target's, and `pinned` what the operator pinned of it. What is cheap comes first.
    pub(super) fn ask(&self, question: &Question<'_>, path: &str, pinned: PinnedAnnotations) -> RuleOutcome {
        if !any_matches(&self.principals, question.principal.as_str()) {
            return RuleOutcome::OtherPrincipal;
        }
        if !self.targets.iter().any(|glob| glob.matches_path(question.target.kind, path)) {
            return RuleOutcome::OtherTarget;
        }
        if let Some((name, wanted)) = pinned.lacks(self.spec.annotations) {
            return RuleOutcome::NotPinned(name, wanted);
        }
        match self.when.as_ref().map(|when| when.is_valid(question.arguments)) {
            None | Some(Ok(true)) => {}
            Some(Ok(false)) => return RuleOutcome::WhenUnmet,
            Some(Err(finding)) => return RuleOutcome::Failed(RuleFailure::When(finding)),
        }
        match self.unless.as_ref().map(|unless| unless.is_valid(question.arguments)) {
            None | Some(Ok(false)) => {}
            Some(Ok(true)) => return RuleOutcome::UnlessMet,
            Some(Err(finding)) => return RuleOutcome::Failed(RuleFailure::Unless(finding)),
        }
        self.ask_equal(question)
    }

    /// A difference anywhere is an answer; only where there is none does it matter that something is missing.
    fn ask_equal(&self, question: &Question<'_>) -> RuleOutcome {
        let mut failed = None;
        for (index, pair) in self.spec.equal.iter().enumerate() {
            let argument = question.arguments.pointer(&pair.argument);
            match (argument, question.claims.claim(&pair.claim)) {
                (Some(argument), Some(claim)) if argument.equals(claim) => {}
                (Some(_), Some(_)) => return RuleOutcome::Unequal(index),
                (_, None) => failed = failed.or(Some(RuleFailure::ClaimMissing(index))),
                (None, _) => failed = failed.or(Some(RuleFailure::ArgumentMissing(index))),
            }
        }
        failed.map_or(RuleOutcome::Matched, RuleOutcome::Failed)
    }
}
