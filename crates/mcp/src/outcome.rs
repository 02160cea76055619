//! How a call ended without a result that is passed on, as its caller sees it: refusals and doubts as results with
//! `isError`.

use callgate_gateway::Refusal;
use callgate_gateway::intent::{Observation, outcome};
use callgate_schema::Finding;
use callgate_schema::json::write_string;
use callgate_wire::{ApprovalId, Class, Code, Intent, IntentId, SideEffect, Stage};

use crate::answer::write_findings;

/// The key in `_meta` under which a refusal or a doubt is told to programs.
pub const META_REFUSAL: &str = "dev.callgate/refusal";
/// Findings that a model is shown.
pub const FINDINGS_SHOWN_MAX: usize = 8;

/// What a caller is told in place of a result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Notice {
    /// The stable code.
    pub code: Code,
    /// Its class.
    pub class: Class,
    /// The stage that decided.
    pub stage: Stage,
    /// What is known of the world.
    pub side_effect: SideEffect,
    /// The record of the call, where there is one.
    pub intent: Option<IntentId>,
    /// The request that a person permit it, where it waits for one.
    pub approval: Option<ApprovalId>,
    /// What is behind it.
    pub findings: Vec<Finding>,
    /// Every rule that determined it, where rules did.
    pub determining: Vec<String>,
    /// The text for a model.
    pub text: String,
}

impl Notice {
    /// What a refusal says.
    pub fn refusal(refusal: &Refusal, intent: Option<&IntentId>) -> Notice {
        Notice {
            code: refusal.code,
            class: refusal.class(),
            stage: refusal.stage,
            side_effect: refusal.side_effect,
            intent: intent.cloned(),
            approval: refusal.approval.clone(),
            findings: refusal.findings.clone(),
            determining: refusal.determining.clone(),
            text: refusal.text_for_model(FINDINGS_SHOWN_MAX),
        }
    }

    /// What is said of a call whose intent was durable and whose result does not come; `None` where a result or the
    /// upstream's own error is the answer.
    pub fn unanswered(observation: Observation, intent: &Intent) -> Option<Notice> {
        let Intent { id, tool, pinned, .. } = intent;
        let outcome = outcome(observation, *pinned);
        let code = outcome.code?;
        let stage = match observation {
            Observation::CancelledBeforeDispatch
            | Observation::UpstreamGoneBeforeDispatch
            | Observation::RejectedBeforeDispatch => Stage::Dispatch,
            _ => code.stage(),
        };
        let what = match observation {
            Observation::Result { .. } | Observation::RpcError => return None,
            Observation::ResultTooLarge { bytes } => format!(
                "the tool `{tool}` ran, but its result of {bytes} bytes is over the bound and was dropped; \
                 ask for less at once"
            ),
            Observation::InputUnavailable => format!(
                "the tool `{tool}` asked for more before it would go on, and was not answered; what it did until then is \
                 done"
            ),
            Observation::CancelledBeforeDispatch
            | Observation::UpstreamGoneBeforeDispatch
            | Observation::RejectedBeforeDispatch => {
                format!("the call of `{tool}` was not sent: {}", observation.description())
            }
            _ if pinned.read_only => {
                format!(
                    "`{tool}` did not answer ({}); it changes nothing, so it may be called again",
                    observation.description()
                )
            }
            Observation::Timeout
            | Observation::UpstreamGone
            | Observation::AnswerUnreadable
            | Observation::CancelledAfterDispatch
            | Observation::GateStopped
            | Observation::GateGone => format!(
                "nobody can say whether `{tool}` has run ({}); do not repeat the call before someone has looked at \
                 intent {id}",
                observation.description()
            ),
        };
        Some(Notice {
            code,
            class: code.class(),
            stage,
            side_effect: outcome.side_effect,
            intent: Some(id.clone()),
            approval: None,
            findings: Vec::new(),
            determining: Vec::new(),
            text: format!("{what} ({code})"),
        })
    }

    /// The notice as the `result` of a `tools/call`.
    pub fn to_result(&self) -> Vec<u8> {
        let mut out = b"{\"content\":[{\"type\":\"text\",\"text\":".to_vec();
        write_string(&mut out, &self.text);
        out.extend_from_slice(b"}],\"isError\":true,\"_meta\":{");
        write_string(&mut out, META_REFUSAL);
        out.extend_from_slice(b":{\"code\":");
        write_string(&mut out, self.code.as_str());
        for (name, text) in [
            ("class", self.class.as_str()),
            ("stage", self.stage.as_str()),
            ("side_effect", self.side_effect.as_str()),
        ] {
            out.push(b',');
            write_string(&mut out, name);
            out.push(b':');
            write_string(&mut out, text);
        }
        if let Some(intent) = &self.intent {
            out.extend_from_slice(b",\"intent\":");
            write_string(&mut out, intent.as_str());
        }
        if let Some(approval) = &self.approval {
            out.extend_from_slice(b",\"approval\":");
            write_string(&mut out, approval.as_str());
        }
        if !self.determining.is_empty() {
            out.extend_from_slice(b",\"determining\":[");
            for (i, rule) in self.determining.iter().enumerate() {
                if i > 0 {
                    out.push(b',');
                }
                write_string(&mut out, rule);
            }
            out.push(b']');
        }
        write_findings(&mut out, &self.findings);
        out.extend_from_slice(b"}}}");
        out
    }
}

#[cfg(test)]
mod tests;
