//! What a request is about, for the rules: the resource, the prompt, or the method itself.

use std::borrow::Cow;

use callgate_gateway::policy::TargetKind;
use callgate_schema::json::{Kind, Node};

/// What a request other than a call of a tool is about.
#[derive(Debug)]
pub struct Subject<'a> {
    /// Of what kind it is.
    pub kind: TargetKind,
    /// The resource's URI, the prompt's name, or the method.
    pub name: Cow<'a, str>,
    /// A prompt's `arguments`, or the `params`; `None` where the request has none.
    pub arguments: Option<Node<'a>>,
}

impl<'a> Subject<'a> {
    /// What this request, read from its whole frame, is about.
    ///
    /// # Errors
    /// The member that names it, spelled otherwise: some servers would read it all the same.
    pub fn of(frame: Node<'a>, method: &'a str) -> Result<Subject<'a>, String> {
        let params = frame.member("params").filter(|params| params.kind() == Kind::Object);
        let named = match method {
            "resources/read" | "resources/subscribe" | "resources/unsubscribe" => {
                Some((TargetKind::Resource, "uri"))
            }
            "prompts/get" => Some((TargetKind::Prompt, "name")),
            _ => None,
        };
        let whole = Subject { kind: TargetKind::Method, name: Cow::Borrowed(method), arguments: params };
        let (Some((kind, member)), Some(params)) = (named, params) else { return Ok(whole) };
        for known in [member, "arguments"] {
            let nearly = |name: &str| name != known && name.eq_ignore_ascii_case(known);
            if let Some(other) = params.members().find(|other| nearly(&other.name())) {
                return Err(format!("expected the member `{known}`, found `{}`", other.name()));
            }
        }
        // Without a name nothing but the method can be judged, and the server will refuse it.
        let Some(name) = params.member(member).and_then(Node::as_str) else { return Ok(whole) };
        let arguments = match kind {
            TargetKind::Prompt => params.member("arguments"),
            TargetKind::Tool | TargetKind::Resource | TargetKind::Method => Some(params),
        };
        Ok(Subject { kind, name, arguments })
    }
}

#[cfg(test)]
mod tests {
    use callgate_schema::json::Document;

    use super::*;

    fn subject(method: &str, params: &str) -> String {
        let text = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{params}}}"#);
        let frame = Document::read(text.as_bytes(), &crate::FrameLimits::default().frame_text()).unwrap();
        match Subject::of(frame.root(), method) {
            Ok(Subject { kind, name, arguments }) => {
                format!("{} {name} {}", kind.as_str(), arguments.map_or("-", Node::raw_str))
            }
            Err(message) => message,
        }
    }

    #[test]
    fn a_request_is_about_what_it_names_or_else_about_its_method() {
        for (method, params, expected) in [
            ("resources/read", r#"{"uri":"a:\u002f"}"#, r#"resource a:/ {"uri":"a:\u002f"}"#),
            ("resources/read", r#"{"uri":5}"#, r#"method resources/read {"uri":5}"#),
            ("resources/read", r#"{"URI":"a","uri":"b"}"#, "expected the member `uri`, found `URI`"),
            ("prompts/get", r#"{"name":"p"}"#, "prompt p -"),
            ("prompts/get", r#"{"name":"p","arguments":{"a":1}}"#, r#"prompt p {"a":1}"#),
            ("completion/complete", "{}", "method completion/complete {}"),
            ("resources/list", "[]", "method resources/list -"),
        ] {
            assert_eq!(subject(method, params), expected);
        }
    }
}
