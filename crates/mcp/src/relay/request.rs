//! A client's request as the server gets it.

use callgate_schema::json::{Kind, Node, Tape, write_string};

use super::era::{META_PREFIX, ModernClient};
use crate::edit::Edits;
use crate::{FrameLimits, reserved};

/// What is changed in a request. What is `None` stays as it is.
#[derive(Debug, Clone, Copy)]
pub struct Outward<'a> {
    /// The id, as JSON text.
    pub id: &'a str,
    /// `params.name`: the name that the server itself gave.
    pub name: Option<&'a str>,
    /// The token of its progress, as JSON text, where the request has one.
    pub progress: Option<&'a str>,
    /// What the server is told of the client: all of it by a server of the newer era.
    pub client: Introduction<'a>,
}

/// What a server is told of the client by the request itself.
#[derive(Debug, Clone, Copy)]
pub enum Introduction<'a> {
    /// What the client says.
    Same,
    /// Nothing: the server belongs to the older era.
    Nothing,
    /// This: the client belongs to the older era.
    Client(&'a ModernClient),
}

/// The request with these changes. Every other byte of it stays.
///
/// The frame was read before; one that cannot be read by these limits comes back as it is.
pub fn outward(frame: &[u8], limits: &FrameLimits, outward: &Outward<'_>) -> Vec<u8> {
    change(frame, limits, outward, None)
}

/// The same, with answers and a state of the server's where it has asked before.
pub(super) fn change(
    frame: &[u8],
    limits: &FrameLimits,
    change: &Outward<'_>,
    answers: Option<(&str, Option<&str>)>,
) -> Vec<u8> {
    let mut tape = Tape::new();
    let Ok(root) = tape.read(frame, &limits.frame_text()) else { return frame.to_vec() };
    let mut edits = Edits::default();
    if let Some(id) = root.member("id") {
        edits.replace(id.span(), change.id);
    }
    let params = root.member("params").filter(|params| params.kind() == Kind::Object);
    if let (Some(name), Some(node)) = (change.name, params.and_then(|params| params.member("name")))
        && node.as_str().as_deref() != Some(name)
    {
        let mut text = Vec::new();
        write_string(&mut text, name);
        edits.replace(node.span(), text);
    }
    let meta = params.and_then(|params| params.member("_meta")).filter(|meta| meta.kind() == Kind::Object);
    if let (Some(progress), Some(node)) =
        (change.progress, meta.and_then(|meta| meta.member("progressToken")))
    {
        edits.replace(node.span(), progress);
    }
    match change.client {
        Introduction::Same => {}
        Introduction::Nothing => {
            for cut in meta.iter().flat_map(|meta| reserved::cuts_of(*meta, META_PREFIX)) {
                edits.cut(cut);
            }
        }
        Introduction::Client(client) => introduce(&mut edits, root, params, meta, client),
    }
    // Answers of a call that nobody asked for here do not reach the server: they were not checked with it.
    let is_call = root.member("method").and_then(Node::as_str).as_deref() == Some("tools/call");
    for params in params.iter().filter(|_| is_call) {
        for cut in reserved::cuts_where(*params, |name| name == "inputResponses") {
            edits.cut(cut);
        }
    }
    if let (Some((responses, state)), Some(params)) = (answers, params) {
        let state = state.map(|state| format!(",\"requestState\":{state}")).unwrap_or_default();
        let members = format!("\"inputResponses\":{responses}{state}");
        edits.insert_members(params.span(), params.len() == 0, members.as_bytes());
    }
    edits.apply(frame)
}

fn introduce(
    edits: &mut Edits,
    root: Node<'_>,
    params: Option<Node<'_>>,
    meta: Option<Node<'_>>,
    client: &ModernClient,
) {
    let members = client.members();
    let whole = [b"\"_meta\":{".as_slice(), &members, b"}"].concat();
    match (meta, params) {
        (Some(meta), _) => edits.insert_members(meta.span(), meta.len() == 0, &members),
        (None, Some(params)) => edits.insert_members(params.span(), params.len() == 0, &whole),
        (None, None) => {
            let whole = [b"\"params\":{".as_slice(), &whole, b"}"].concat();
            edits.insert_members(root.span(), root.len() == 0, &whole);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(frame: &str, change: &Outward<'_>, expected: &str) {
        let out = outward(frame.as_bytes(), &FrameLimits::default(), change);
        assert_eq!(String::from_utf8(out).unwrap(), expected);
    }

    #[test]
    fn only_what_is_the_gates_is_changed() {
        let change =
            Outward { id: "7", name: Some("read"), progress: Some("7"), client: Introduction::Nothing };
        check(
            r#"{"jsonrpc":"2.0", "id" : "a","method":"tools/call","params":{"name":"fs__read","arguments":{"a": 1e2},"_meta":{"progressToken":"p","io.modelcontextprotocol/protocolVersion":"2026-07-28","k":1}}}"#,
            &change,
            r#"{"jsonrpc":"2.0", "id" : 7,"method":"tools/call","params":{"name":"read","arguments":{"a": 1e2},"_meta":{"progressToken":7,"k":1}}}"#,
        );
    }

    #[test]
    fn a_server_of_the_newer_era_is_told_of_the_client() {
        let client = ModernClient::of_session("{}", Some(r#"{"name":"c"}"#));
        let change = Outward { id: "1", name: None, progress: None, client: Introduction::Client(&client) };
        let meta = r#""io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},"io.modelcontextprotocol/clientInfo":{"name":"c"}"#;
        for (params, expected) in [
            (r#","params":{}"#, format!(r#","params":{{"_meta":{{{meta}}}}}"#)),
            (r#","params":{"a":1}"#, format!(r#","params":{{"_meta":{{{meta}}},"a":1}}"#)),
            (r#","params":{"_meta":{"k":1}}"#, format!(r#","params":{{"_meta":{{{meta},"k":1}}}}"#)),
        ] {
            check(
                &format!(r#"{{"id":1,"method":"m"{params}}}"#),
                &change,
                &format!(r#"{{"id":1,"method":"m"{expected}}}"#),
            );
        }
        check(
            r#"{"id":1,"method":"m"}"#,
            &change,
            &format!(r#"{{"params":{{"_meta":{{{meta}}}}},"id":1,"method":"m"}}"#),
        );
    }
}
