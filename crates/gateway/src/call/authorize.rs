//! The rules decide. Without any rule, every call of an admitted tool is permitted, and the decision says so.

use callgate_schema::json::Digest;
use callgate_wire::{Charge, Timestamp};

use super::Bound;
use crate::Refusal;
use crate::budget::{BudgetSet, CallFacts};
use crate::policy::{Claims, Decision, Effect, Judgement, Question, RuleReason, RuleSet, Target, ToolPins};

/// A call that its principal may make, at once or with an approval: [`Authorized::decision`] says which.
#[derive(Debug)]
pub struct Authorized<'a> {
    pub(super) bound: Bound<'a>,
    pub(super) decision: Decision,
    pub(super) pins: ToolPins,
    /// What the operator has to say to the caller of a call that a person is asked about.
    pub(super) reason: Option<String>,
}

impl<'a> Bound<'a> {
    /// Decides whether the principal, of whom `claims` is known, may make this call.
    ///
    /// # Errors
    /// `call-forbidden`, with the rules that determined it.
    pub fn authorize(self, rules: &RuleSet, claims: &Claims) -> Result<Authorized<'a>, Refusal> {
        let judgement = rules.judge(&self.question(claims));
        if judgement.decision.effect == Effect::Forbid {
            return Err(rules.forbidden(&self.target(), self.call.principal, &judgement));
        }
        let reason = rules.reason(&judgement);
        let Judgement { decision, pins, .. } = judgement;
        Ok(Authorized { bound: self, decision, pins, reason })
    }

    /// The same decision with what came of each rule, for people; the call goes nowhere.
    pub fn explain<'r>(&self, rules: &'r RuleSet, claims: &Claims) -> (Judgement, Vec<RuleReason<'r>>) {
        let question = self.question(claims);
        let judgement = rules.judge(&question);
        let reasons = rules.reasons(&question, &judgement);
        (judgement, reasons)
    }

    fn target(&self) -> Target<'_> {
        Target::tool(&self.upstream, &self.tool.name)
    }

    fn question<'q>(&'q self, claims: &'q Claims) -> Question<'q> {
        Question {
            principal: self.call.principal,
            claims,
            target: self.target(),
            arguments: self.arguments.root(),
        }
    }
}

impl<'a> Authorized<'a> {
    /// Why the call may be made: permit or ask, and the rules that say so.
    pub fn decision(&self) -> &Decision {
        &self.decision
    }

    /// What the operator says of the tool.
    pub fn pins(&self) -> &ToolPins {
        &self.pins
    }

    /// The call as it was bound, with its digests.
    pub fn bound(&self) -> &Bound<'a> {
        &self.bound
    }

    /// What the call takes from the budgets.
    ///
    /// # Errors
    /// `budget-cost-unknown`.
    pub fn charges(&self, budgets: &BudgetSet, now: Timestamp) -> Result<Vec<Charge>, Refusal> {
        let facts = CallFacts {
            principal: self.bound.call.principal,
            run: self.bound.call.run,
            upstream: &self.bound.upstream,
            tool: &self.bound.tool.name,
            cost: self.pins.cost.as_ref(),
            arguments: self.bound.arguments.root(),
        };
        budgets.charges(&facts, now)
    }

    /// What has to be asked of a person, if anything is.
    pub(super) fn asks(&self) -> Option<(Digest, Vec<String>)> {
        match self.decision.effect {
            Effect::Ask => Some((self.decision.rule_set, self.decision.determining.clone())),
            Effect::Permit | Effect::Forbid => None,
        }
    }
}
