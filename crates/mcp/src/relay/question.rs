//! What a server asks its client before it answers a request. In the older era that is a request of the server's own while
//! the other one is open; in the newer one it is a result, and the client comes again with the answers.
//!
//! SPEC: 2026-07-28, basic/patterns/mrtr; 2025-11-25, client/elicitation.

use std::borrow::Cow;

use callgate_schema::json::{Kind, Node, Tape, write_string};

use super::request::{Outward, change};
use crate::FrameLimits;

/// The method by which a person is asked.
pub const ELICIT: &str = "elicitation/create";
/// Questions in one result.
const QUESTIONS_MAX: usize = 64;

/// A question: a request without its id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    /// What its answer is known by.
    pub key: String,
    /// Its method.
    pub method: String,
    /// Its parameters, as received.
    pub params: Option<Box<str>>,
}

/// A result that asks.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Questions {
    /// What is asked.
    pub questions: Vec<Question>,
    /// What the server wants to have back, as JSON text.
    pub state: Option<Box<str>>,
}

/// What a client that comes again brings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Return {
    /// What it was given to bring back.
    pub state: String,
    /// The answers by their keys: an object, as received.
    pub responses: Box<str>,
}

/// The answer to one question, as received.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answered {
    /// A result.
    Result(Box<str>),
    /// An error.
    Error(Box<str>),
}

impl Question {
    /// The question in a request of a server of the older era.
    pub fn read(frame: &[u8], limits: &FrameLimits) -> Option<Question> {
        let mut tape = Tape::new();
        Question::of("question".to_owned(), tape.read(frame, &limits.frame_text()).ok()?)
    }

    fn of(key: String, node: Node<'_>) -> Option<Question> {
        let method = node.member("method")?.as_str()?.into_owned();
        Some(Question { key, method, params: node.member("params").map(|params| params.raw_str().into()) })
    }

    /// The capability of a client that can be asked this; `None` for what no client is asked.
    pub fn capability(&self) -> Option<&'static str> {
        match self.method.as_str() {
            ELICIT => Some("elicitation"),
            "sampling/createMessage" => Some("sampling"),
            "roots/list" => Some("roots"),
            _ => None,
        }
    }

    /// The question as a request with this id, which is JSON text.
    pub fn to_frame(&self, id: &str) -> Vec<u8> {
        let mut out = format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},").into_bytes();
        self.write_members(&mut out);
        out.push(b'}');
        out
    }

    fn write_members(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(b"\"method\":");
        write_string(out, &self.method);
        if let Some(params) = &self.params {
            out.extend_from_slice(b",\"params\":");
            out.extend_from_slice(params.as_bytes());
        }
    }
}

impl Questions {
    /// Reads a server's answer; `None` if it does not ask. One that says that it does and cannot be read has no questions.
    pub fn read(frame: &[u8], limits: &FrameLimits) -> Option<Questions> {
        let mut tape = Tape::new();
        let root = tape.read(frame, &limits.frame_text()).ok()?;
        let result = root.member("result").filter(|result| result.kind() == Kind::Object)?;
        if result.member("resultType")?.as_str()?.as_ref() != "input_required" {
            return None;
        }
        let requests = result.member("inputRequests").filter(|requests| requests.kind() == Kind::Object);
        let read = |requests: Node<'_>| {
            requests
                .members()
                .map(|member| Question::of(member.name().into_owned(), member.value()))
                .collect::<Option<Vec<_>>>()
        };
        let questions = match requests {
            Some(requests) if requests.len() <= QUESTIONS_MAX => read(requests).unwrap_or_default(),
            _ => Vec::new(),
        };
        let state = result.member("requestState").filter(|state| state.kind() == Kind::String);
        Some(Questions { questions, state: state.map(|state| state.raw_str().into()) })
    }

    /// Whether it says anything that a client could answer or bring back.
    pub fn is_empty(&self) -> bool {
        self.questions.is_empty() && self.state.is_none()
    }

    /// The result that asks a client of the newer era, which brings back `state`.
    pub fn to_result(&self, state: &str) -> Vec<u8> {
        let mut out = b"{\"resultType\":\"input_required\",".to_vec();
        if !self.questions.is_empty() {
            out.extend_from_slice(b"\"inputRequests\":{");
            for (index, question) in self.questions.iter().enumerate() {
                if index > 0 {
                    out.push(b',');
                }
                write_string(&mut out, &question.key);
                out.extend_from_slice(b":{");
                question.write_members(&mut out);
                out.push(b'}');
            }
            out.extend_from_slice(b"},");
        }
        out.extend_from_slice(b"\"requestState\":");
        write_string(&mut out, state);
        out.push(b'}');
        out
    }
}

impl Return {
    /// Reads a request; `None` if it brings nothing back.
    ///
    /// # Errors
    /// What was expected of it.
    pub fn read(frame: &[u8], limits: &FrameLimits) -> Result<Option<Return>, &'static str> {
        let mut tape = Tape::new();
        let root = tape.read(frame, &limits.frame_text()).ok();
        let params = root.and_then(|root| root.member("params"));
        let member = |name| params.and_then(|params| params.member(name));
        match (member("requestState"), member("inputResponses")) {
            // Answers to nothing that was asked here: the call is a new one, and goes without them.
            (None, _) => Ok(None),
            (Some(state), responses) => {
                let state = state.as_str().map(Cow::into_owned).ok_or("`requestState` as a string")?;
                let responses = match responses {
                    None => "{}".into(),
                    Some(responses) if responses.kind() == Kind::Object => responses.raw_str().into(),
                    Some(_) => return Err("`inputResponses` as an object"),
                };
                Ok(Some(Return { state, responses }))
            }
        }
    }

    /// The answer to the question with this key.
    pub fn answer(&self, key: &str) -> Option<Box<str>> {
        let mut tape = Tape::new();
        // It was read by the limits of a frame, in which it stood.
        let root = tape.read(self.responses.as_bytes(), &FrameLimits::default().frame_text()).ok()?;
        root.member(key).map(|answer| answer.raw_str().into())
    }
}

impl Answered {
    /// Reads a client's answer to a request of the gate's.
    pub fn read(frame: &[u8], limits: &FrameLimits) -> Option<Answered> {
        let mut tape = Tape::new();
        let root = tape.read(frame, &limits.frame_text()).ok()?;
        match (root.member("result"), root.member("error")) {
            (Some(result), _) => Some(Answered::Result(result.raw_str().into())),
            (None, Some(error)) => Some(Answered::Error(error.raw_str().into())),
            (None, None) => None,
        }
    }

    /// The answer as a server of the older era gets it, to its request with this id, which is JSON text.
    pub fn to_frame(&self, id: &str) -> Vec<u8> {
        let (name, value) = match self {
            Answered::Result(result) => ("result", result),
            Answered::Error(error) => ("error", error),
        };
        format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"{name}\":{value}}}").into_bytes()
    }
}

/// Answers by their keys, as an object.
pub fn responses<'a>(answers: impl IntoIterator<Item = (&'a str, &'a str)>) -> String {
    let mut out = b"{".to_vec();
    for (key, answer) in answers {
        if out.len() > 1 {
            out.push(b',');
        }
        write_string(&mut out, key);
        out.push(b':');
        out.extend_from_slice(answer.as_bytes());
    }
    out.push(b'}');
    String::from_utf8(out).unwrap_or_else(|_| "{}".to_owned())
}

/// What a person has decided about a form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Elicited {
    /// They filled it in; the value of this member, where it is a text.
    Accepted(Option<String>),
    /// They said no.
    Declined,
    /// They said nothing, or it cannot be read.
    Cancelled,
}

impl Elicited {
    /// Reads the answer to an [`ELICIT`], of whose form one member counts.
    pub fn read(answer: &str, member: &str) -> Elicited {
        let mut tape = Tape::new();
        let Ok(root) = tape.read(answer.as_bytes(), &FrameLimits::default().frame_text()) else {
            return Elicited::Cancelled;
        };
        match root.member("action").and_then(Node::as_str).as_deref() {
            Some("accept") => {
                let value = root.member("content").and_then(|content| content.member(member));
                Elicited::Accepted(value.and_then(Node::as_str).map(Cow::into_owned))
            }
            Some("decline") => Elicited::Declined,
            _ => Elicited::Cancelled,
        }
    }
}

/// A request once more for a server of the newer era, with the answers to what it asked and with its own state. Everything
/// else is as it was, so that its arguments are those that were checked.
pub fn again(
    first: &[u8],
    limits: &FrameLimits,
    outward: &Outward<'_>,
    responses: &str,
    state: Option<&str>,
) -> Vec<u8> {
    change(first, limits, outward, Some((responses, state)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::relay::Introduction;

    fn read(result: &str) -> Option<Questions> {
        let frame = format!(r#"{{"jsonrpc":"2.0","id":1,"result":{result}}}"#);
        Questions::read(frame.as_bytes(), &FrameLimits::default())
    }

    #[test]
    fn a_result_that_asks_goes_on_with_the_gates_own_state() {
        let asked = read(
            r#"{"resultType":"input_required","inputRequests":{"n\u0061me":{"method":"elicitation/create","params":{"x": 1e2}},"r":{"method":"roots/list"}},"requestState":"s\u0031"}"#,
        )
        .unwrap();
        assert_eq!(asked.questions.len(), 2);
        assert_eq!(asked.questions[0].capability(), Some("elicitation"));
        assert_eq!(asked.state.as_deref(), Some(r#""s\u0031""#));
        assert_eq!(
            String::from_utf8(asked.to_result("own")).unwrap(),
            r#"{"resultType":"input_required","inputRequests":{"name":{"method":"elicitation/create","params":{"x": 1e2}},"r":{"method":"roots/list"}},"requestState":"own"}"#
        );
        assert_eq!(read(r#"{"resultType":"complete"}"#), None);
        assert_eq!(read(r#"{"content":[]}"#), None);
        for broken in [
            r#"{"resultType":"input_required"}"#,
            r#"{"resultType":"input_required","inputRequests":{"a":1}}"#,
            r#"{"resultType":"input_required","inputRequests":[],"requestState":5}"#,
        ] {
            assert!(read(broken).unwrap().is_empty(), "{broken}");
        }
    }

    #[test]
    fn a_client_brings_back_a_state_and_answers() {
        let read = |params: &str| {
            let frame = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{params}}}"#);
            Return::read(frame.as_bytes(), &FrameLimits::default())
        };
        assert_eq!(read(r#"{"name":"a"}"#), Ok(None));
        let back =
            read(r#"{"requestState":"s","inputResponses":{"a":{"action":"accept"}}}"#).unwrap().unwrap();
        assert_eq!((back.state.as_str(), back.answer("a").as_deref()), ("s", Some(r#"{"action":"accept"}"#)));
        assert_eq!(back.answer("b"), None);
        assert_eq!(&*read(r#"{"requestState":"s"}"#).unwrap().unwrap().responses, "{}");
        assert_eq!(read(r#"{"inputResponses":{}}"#), Ok(None));
        for broken in [r#"{"requestState":1}"#, r#"{"requestState":"","inputResponses":[]}"#] {
            assert!(read(broken).is_err(), "{broken}");
        }
    }

    #[test]
    fn the_second_request_has_the_first_ones_arguments_and_the_servers_state() {
        let first = br#"{"jsonrpc":"2.0","id":"c","method":"tools/call","params":{"name":"x__a","arguments":{"n": 1e2}}}"#;
        let outward = Outward { id: "7", name: Some("a"), progress: None, client: Introduction::Same };
        let limits = FrameLimits::default();
        let out = again(first, &limits, &outward, r#"{"q":{}}"#, Some(r#""s""#));
        assert_eq!(
            String::from_utf8(out).unwrap(),
            r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"inputResponses":{"q":{}},"requestState":"s","name":"a","arguments":{"n": 1e2}}}"#
        );
    }

    #[test]
    fn answers_to_nothing_do_not_reach_the_server() {
        let first = br#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"inputResponses":{"q":{}},"name":"a"}}"#;
        let change = Outward { id: "7", name: None, progress: None, client: Introduction::Same };
        let out = crate::relay::outward(first, &FrameLimits::default(), &change);
        assert_eq!(
            String::from_utf8(out).unwrap(),
            r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"a"}}"#
        );
    }

    #[test]
    fn a_persons_decision_is_what_the_form_says() {
        let read = |answer: &str| Elicited::read(answer, "decision");
        assert_eq!(
            read(r#"{"action":"accept","content":{"decision":"approve"}}"#),
            Elicited::Accepted(Some("approve".to_owned()))
        );
        assert_eq!(read(r#"{"action":"accept"}"#), Elicited::Accepted(None));
        assert_eq!(read(r#"{"action":"decline"}"#), Elicited::Declined);
        for other in ["", "{}", r#"{"action":"cancel"}"#, "[1]"] {
            assert_eq!(read(other), Elicited::Cancelled, "{other}");
        }
    }
}
