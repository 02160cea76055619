//! What the caller of a call that is not permitted is told: which rules decided, why, and what may pass instead.

use std::fmt::Write as _;

use callgate_wire::{Code, Principal};

use super::judge::{DEFAULT_DENY, DOT_SEGMENTS, NO_PRINCIPAL};
use super::{Decision, Effect, Judgement, Question, RuleOutcome, RuleSet, Target, TargetKind};
use crate::Refusal;

/// Rules that a message names; the others are counted. Programs are told all.
const RULES_NAMED_MAX: usize = 5;

impl RuleSet {
    /// Whether what is asked for may be had at once: for what is no call of a tool, which has stages of its own.
    ///
    /// # Errors
    /// `call-forbidden`, with the rules that determined it; `approval-required` where they ask.
    pub fn permit(&self, question: &Question<'_>) -> Result<Decision, Refusal> {
        let judgement = self.judge(question);
        match judgement.decision.effect {
            Effect::Permit => Ok(judgement.decision),
            Effect::Ask => Err(self.approval_required(&question.target, &judgement)),
            Effect::Forbid => Err(self.forbidden(&question.target, question.principal, &judgement)),
        }
    }

    /// The refusal of a call that these rules forbid.
    pub(crate) fn forbidden(
        &self,
        target: &Target<'_>,
        principal: &Principal,
        judgement: &Judgement,
    ) -> Refusal {
        assert_eq!(judgement.decision.effect, Effect::Forbid, "only what is forbidden is refused so");
        let determining = &judgement.decision.determining;
        let message = match determining.first().map(String::as_str) {
            Some(NO_PRINCIPAL) => {
                format!("expected `{target}` to be asked for on somebody's behalf, found nobody")
            }
            Some(DOT_SEGMENTS) => format!("expected `{target}` to have no segment `.` or `..`, found one"),
            Some(DEFAULT_DENY) => {
                let with = if self.looked_at_arguments(judgement) { " with these arguments" } else { "" };
                format!("no rule permits `{target}` to `{principal}`{with}")
            }
            _ => {
                let mut message =
                    format!("`{target}` is forbidden to `{principal}` by {}", named(determining));
                for (rule, outcome) in self.rules.iter().zip(&judgement.outcomes) {
                    if let RuleOutcome::Failed(failure) = outcome {
                        let id = &rule.spec.id;
                        let why = failure.describe(&rule.spec);
                        // Writing to a text does not fail.
                        let _ = write!(message, "; `{id}` could not be evaluated: {why}");
                    }
                }
                message
            }
        };
        let refusal = Refusal::new(Code::CallForbidden, message).with_determining(determining.clone());
        refusal.with_help(self.advice(target, judgement))
    }

    /// The refusal of a call that needs an approval and has none.
    pub(crate) fn approval_required(&self, target: &Target<'_>, judgement: &Judgement) -> Refusal {
        let determining = &judgement.decision.determining;
        let message = format!("`{target}` needs the approval of a person, by {}", named(determining));
        let help = self.reason(judgement).unwrap_or_else(|| {
            "ask the operator of the gate; calling again before there is an approval changes nothing"
                .to_owned()
        });
        Refusal::new(Code::ApprovalRequired, message).with_determining(determining.clone()).with_help(help)
    }

    /// The words that the operator wrote for the caller, of the first rule that determined the decision and has some.
    pub(crate) fn reason(&self, judgement: &Judgement) -> Option<String> {
        let determined = |id: &String| judgement.decision.determining.contains(id);
        self.rules.iter().filter(|rule| determined(&rule.spec.id)).find_map(|rule| rule.spec.reason.clone())
    }

    /// Whether other arguments could have led to another decision: a rule that was about the call looked at them.
    fn looked_at_arguments(&self, judgement: &Judgement) -> bool {
        self.rules.iter().zip(&judgement.outcomes).any(|(rule, outcome)| match outcome {
            RuleOutcome::Matched => {
                let conditions = rule.when.is_some() || rule.unless.is_some() || !rule.spec.equal.is_empty();
                rule.spec.effect == Effect::Forbid && conditions
            }
            RuleOutcome::WhenUnmet | RuleOutcome::UnlessMet | RuleOutcome::Unequal(_) => {
                rule.spec.effect != Effect::Forbid
            }
            RuleOutcome::Failed(_) => true,
            RuleOutcome::OtherPrincipal | RuleOutcome::OtherTarget | RuleOutcome::NotPinned(..) => false,
        })
    }

    fn advice(&self, target: &Target<'_>, judgement: &Judgement) -> String {
        if let Some(reason) = self.reason(judgement) {
            return reason;
        }
        let what = match target.kind {
            TargetKind::Tool => "tool",
            TargetKind::Resource => "resource",
            TargetKind::Prompt => "prompt",
            TargetKind::Method => "method",
        };
        if self.looked_at_arguments(judgement) {
            format!(
                "the same call is refused again; other arguments may pass, or another {what}; else ask the operator of the gate"
            )
        } else {
            format!("other arguments change nothing; use another {what}, or ask the operator of the gate")
        }
    }
}

fn named(ids: &[String]) -> String {
    let named: Vec<String> = ids.iter().take(RULES_NAMED_MAX).map(|id| format!("`{id}`")).collect();
    let rules = if ids.len() == 1 { "the rule" } else { "the rules" };
    let more = match ids.len().saturating_sub(RULES_NAMED_MAX) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!("{rules} {}{more}", named.join(", "))
}
