//! What an answer says about the call.

use std::borrow::Cow;
use std::fmt;

use callgate_wire::Code;
use serde_json::Value;

/// What became of a message.
#[derive(Debug, Clone)]
pub(super) enum Outcome {
    /// The list of tools came.
    Listed { tools: usize },
    /// The call ran, and the tool answered.
    Ran,
    /// The call ran, and the tool answered that it failed.
    ToolFailed,
    /// The gate refused the call: at this stage, with this code, for this reason.
    Refused { stage: Cow<'static, str>, code: Cow<'static, str>, reason: String },
    /// Something else.
    Other(String),
}

/// Where a result of the gate's own says why it is one.
const REFUSAL: &str = "/result/_meta/dev.callgate~1refusal";

impl Outcome {
    /// A refusal at this stage with this code, for whatever reason.
    pub(super) const fn refused(stage: &'static str, code: &'static str) -> Outcome {
        Outcome::Refused { stage: Cow::Borrowed(stage), code: Cow::Borrowed(code), reason: String::new() }
    }

    /// Reads an answer.
    pub(super) fn read(answer: &Value) -> Outcome {
        let text = |pointer: &str| answer.pointer(pointer).and_then(Value::as_str);
        if let Some(refusal) = answer.pointer(REFUSAL) {
            let text = |pointer: &str| refusal.pointer(pointer).and_then(Value::as_str);
            let code = text("/code").unwrap_or_default();
            // The first finding says more than the code of the stage, where the stage looks at the arguments.
            let finding = text("/errors/0/code").filter(|_| code == Code::CallArgumentsInvalid.as_str());
            let first_line =
                answer.pointer("/result/content/0/text").and_then(Value::as_str).unwrap_or_default();
            return Outcome::Refused {
                stage: text("/stage").unwrap_or_default().to_owned().into(),
                code: finding.unwrap_or(code).to_owned().into(),
                reason: text("/errors/0/message").unwrap_or(first_line).to_owned(),
            };
        }
        if let Some(tools) = answer.pointer("/result/tools").and_then(Value::as_array) {
            return Outcome::Listed { tools: tools.len() };
        }
        if let Some(code) = text("/error/data/code").and_then(Code::parse) {
            return Outcome::Refused {
                stage: code.stage().as_str().into(),
                code: code.as_str().into(),
                reason: text("/error/message").unwrap_or_default().to_owned(),
            };
        }
        match answer.pointer("/result/content") {
            Some(_) if answer.pointer("/result/isError") == Some(&Value::Bool(true)) => Outcome::ToolFailed,
            Some(_) => Outcome::Ran,
            None => Outcome::Other(answer.to_string()),
        }
    }

    /// Whether the call ran, so that it has an intent.
    pub(super) fn ran(&self) -> bool {
        matches!(self, Outcome::Ran | Outcome::ToolFailed)
    }

    /// The stage that decided, or nothing where no call was decided.
    pub(super) fn stage(&self) -> &str {
        match self {
            Outcome::Listed { .. } => "catalog",
            Outcome::Ran | Outcome::ToolFailed => "settle",
            Outcome::Refused { stage, .. } => stage,
            Outcome::Other(_) => "?",
        }
    }

    /// Why, where there is a reason.
    pub(super) fn reason(&self) -> Option<&str> {
        match self {
            Outcome::Refused { reason, .. } => Some(reason),
            Outcome::Other(answer) => Some(answer),
            Outcome::Listed { .. } | Outcome::Ran | Outcome::ToolFailed => None,
        }
    }
}

/// Two outcomes are the same when the caller would do the same: the reason's wording does not count.
impl PartialEq for Outcome {
    fn eq(&self, other: &Outcome) -> bool {
        match (self, other) {
            (Outcome::Listed { tools }, Outcome::Listed { tools: others }) => tools == others,
            (Outcome::Ran, Outcome::Ran) | (Outcome::ToolFailed, Outcome::ToolFailed) => true,
            (
                Outcome::Refused { stage, code, .. },
                Outcome::Refused { stage: other_stage, code: other_code, .. },
            ) => stage == other_stage && code == other_code,
            _ => false,
        }
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Outcome::Listed { tools } => write!(f, "{tools} tools"),
            Outcome::Ran => f.write_str("ran"),
            Outcome::ToolFailed => f.write_str("ran; the tool says it failed"),
            Outcome::Refused { code, .. } => write!(f, "refused: {code}"),
            Outcome::Other(_) => f.write_str("something else"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_form_of_answer_is_told_apart() {
        let read = |text: &str| Outcome::read(&serde_json::from_str(text).expect("JSON"));
        assert_eq!(read(r#"{"result":{"tools":[{},{}]}}"#), Outcome::Listed { tools: 2 });
        assert_eq!(read(r#"{"result":{"content":[]}}"#), Outcome::Ran);
        assert_eq!(read(r#"{"result":{"content":[],"isError":true}}"#), Outcome::ToolFailed);
        assert_eq!(
            read(
                r#"{"result":{"content":[],"isError":true,"_meta":{"dev.callgate/refusal":{"stage":"bind",
                "code":"call-arguments-invalid","errors":[{"code":"type-mismatch","message":"m"}]}}}}"#
            ),
            Outcome::refused("bind", "type-mismatch")
        );
        assert_eq!(
            read(r#"{"error":{"code":-32602,"message":"m","data":{"code":"call-unknown-tool"}}}"#),
            Outcome::refused("resolve", "call-unknown-tool")
        );
        assert!(matches!(read(r#"{"error":{"code":-32603,"message":"m"}}"#), Outcome::Other(_)));
    }
}
