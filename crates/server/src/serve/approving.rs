//! Approvals in band, where the operator allows them: the client's own user decides about a call that the rules ask about.

use callgate_gateway::journal::{Command, DecideRequest};
use callgate_mcp::relay::{ELICIT, Elicited, Question};
use callgate_schema::json::write_string;
use callgate_wire::{ApprovalId, Principal, Timestamp};

use super::gate::Gate;
use crate::clock::now;
use crate::session::chain;

/// The key of the question and the member of its form.
pub(super) const KEY: &str = "approval";
const MEMBER: &str = "decision";
/// Bytes of arguments that are shown. Of longer ones nobody would see all, so an operator decides.
const SHOWN_BYTES_MAX: usize = 4_096;

/// The question about a call; `None` if its arguments are too long to be shown.
pub(super) fn question(tool: &str, arguments: &[u8], why: &str) -> Option<Question> {
    let arguments = std::str::from_utf8(arguments).ok().filter(|text| text.len() <= SHOWN_BYTES_MAX)?;
    let message = format!("May `{tool}` be called? {why}\n\nArguments: {arguments}");
    let mut params = b"{\"message\":".to_vec();
    write_string(&mut params, &message);
    params.extend_from_slice(
        br#","requestedSchema":{"type":"object","properties":{"decision":{"type":"string","title":"Decision","enum":["approve","deny"]}},"required":["decision"]}}"#,
    );
    let params = String::from_utf8(params).ok()?;
    Some(Question { key: KEY.to_owned(), method: ELICIT.to_owned(), params: Some(params.into()) })
}

impl Gate {
    /// Records what a client's user has decided, if they have. It is looked at anew when the call is opened. Blocks.
    pub(super) fn decided(&self, principal: &Principal, id: &ApprovalId, answer: &str) {
        let approve = match Elicited::read(answer, MEMBER) {
            Elicited::Accepted(Some(decision)) if decision == "approve" => true,
            Elicited::Accepted(Some(decision)) if decision == "deny" => false,
            Elicited::Declined => false,
            Elicited::Accepted(_) | Elicited::Cancelled => return,
        };
        let at = now();
        let valid = i64::try_from(self.current().config.approvals.expiry.as_millis()).unwrap_or(i64::MAX);
        let decided = self.journal.commit(Command::Decide(DecideRequest {
            id: id.clone(),
            approve,
            by: format!("client:{principal}"),
            reason: None,
            at,
            expires_at: Timestamp(at.0.saturating_add(valid)),
        }));
        match decided {
            Ok(_) => tracing::info!(approval = %id, approve, %principal, "the client's user has decided"),
            Err(error) => {
                tracing::warn!(approval = %id, error = %chain(&error), "the decision of the client's user does not count");
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_person_sees_all_of_the_arguments_or_is_not_asked() {
        let asked = question("delete", br#"{"id":"a\"b"}"#, "Rule: careful.").unwrap();
        let params: serde_json::Value = serde_json::from_str(&asked.params.unwrap()).unwrap();
        assert_eq!(
            params["message"],
            "May `delete` be called? Rule: careful.\n\nArguments: {\"id\":\"a\\\"b\"}"
        );
        assert_eq!(question("delete", &vec![b' '; SHOWN_BYTES_MAX + 1], ""), None);
    }
}
