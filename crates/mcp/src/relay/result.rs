//! A server's result as the client gets it.

use callgate_schema::json::{Kind, Node, Tape};

use super::Era;
use crate::edit::Edits;
use crate::{FrameLimits, reserved, rpc};

/// What kind of result a method has, as far as the eras differ in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ResultKind {
    /// That of a call.
    Call,
    /// One that may be kept for a while: a list, or a resource.
    Cacheable,
    /// Any other.
    Other,
}

impl ResultKind {
    /// What a request of this method has as its result.
    pub fn of(method: &str) -> ResultKind {
        match method {
            "tools/call" => ResultKind::Call,
            "resources/read"
            | "resources/list"
            | "resources/templates/list"
            | "prompts/list"
            | "tools/list" => ResultKind::Cacheable,
            _ => ResultKind::Other,
        }
    }
}

/// How a server's answer becomes that of a client.
#[derive(Debug, Clone, Copy)]
pub struct Inward<'a> {
    /// The client's id, as JSON text.
    pub id: &'a str,
    /// How the client speaks.
    pub era: Era,
    /// What kind of result it is.
    pub kind: ResultKind,
    /// Members that the gate puts into `_meta`, without braces.
    pub mark: Option<&'a [u8]>,
}

/// A server's answer for a client: with its id, without what is the gate's alone, and with what its era needs and the
/// server's does not. `None` if nothing has to be changed, or if it is no answer.
///
/// A result of the newer era says what type it is; one of the older era is complete. A client of the older era gets
/// `structuredContent` only where it is an object, which is all that its revision knows.
pub fn inward(frame: &[u8], limits: &FrameLimits, inward: &Inward<'_>) -> Option<Vec<u8>> {
    change(frame, limits, inward, true)
}

/// The same of an answer that the gate has written itself.
pub fn own_answer(frame: &[u8], limits: &FrameLimits, inward: &Inward<'_>) -> Option<Vec<u8>> {
    change(frame, limits, inward, false)
}

fn change(frame: &[u8], limits: &FrameLimits, to: &Inward<'_>, foreign: bool) -> Option<Vec<u8>> {
    let mut tape = Tape::new();
    let root = tape.read(frame, &limits.frame_text()).ok()?;
    let mut edits = Edits::default();
    let node = root.member("id")?;
    let mut changed = node.raw_str() != to.id;
    if changed {
        edits.replace(node.span(), to.id);
    }
    if let Some(code) = root.pointer("/error/code").filter(|code| is_code_of_older(*code, to.era)) {
        edits.replace(code.span(), rpc::INVALID_PARAMS.to_string());
        changed = true;
    }
    if let Some(result) = root.member("result").filter(|result| result.kind() == Kind::Object) {
        let mut members = match to.era {
            Era::Modern => missing(result, to.kind),
            Era::Legacy(_) => Vec::new(),
        };
        changed |= to.era != Era::Modern && plain(&mut edits, result, to.kind);
        changed |= meta(&mut edits, result, to.mark, foreign, &mut members);
        if !members.is_empty() {
            let members = members.join(b",".as_slice());
            edits.insert_members(result.span(), is_emptied(result, to), &members);
            changed = true;
        }
    }
    changed.then(|| edits.apply(frame))
}

/// Whether a code is one that the newer era must not have any more: that of a resource that is not there.
fn is_code_of_older(code: Node<'_>, era: Era) -> bool {
    era == Era::Modern && code.raw_str().parse() == Ok(rpc::RESOURCE_NOT_FOUND)
}

/// Whether nothing is left of a result after what its client cannot read is cut.
fn is_emptied(result: Node<'_>, to: &Inward<'_>) -> bool {
    match to.era {
        Era::Modern => result.len() == 0,
        Era::Legacy(_) => result.members().all(|member| is_beyond(&member.name(), member.value(), to.kind)),
    }
}

/// Cuts the members of `_meta` that are the gate's alone and puts in its own.
fn meta(
    edits: &mut Edits,
    result: Node<'_>,
    mark: Option<&[u8]>,
    foreign: bool,
    members: &mut Vec<Vec<u8>>,
) -> bool {
    let Some(node) = result.member("_meta") else {
        members.extend(mark.map(|mark| [b"\"_meta\":{".as_slice(), mark, b"}"].concat()));
        return false;
    };
    let meta = reserved::Meta::of(node);
    let mut changed = false;
    if foreign {
        for cut in &meta.cuts {
            edits.cut(cut.clone());
            changed = true;
        }
    }
    let left = meta.has_others || (!foreign && node.len() > 0);
    match mark {
        Some(mark) if meta.object => edits.insert_members(node.span(), !left, mark),
        Some(mark) => edits.replace(node.span(), [b"{".as_slice(), mark, b"}"].concat()),
        None => return changed,
    }
    true
}

/// What a result of the newer era has and this one does not.
fn missing(result: Node<'_>, kind: ResultKind) -> Vec<Vec<u8>> {
    // A server that says nothing of how long it may be kept is asked again each time, and what it said is for this caller.
    let wanted: &[(&str, &str)] = match kind {
        ResultKind::Cacheable => {
            &[("resultType", "\"complete\""), ("ttlMs", "0"), ("cacheScope", "\"private\"")]
        }
        ResultKind::Call | ResultKind::Other => &[("resultType", "\"complete\"")],
    };
    let absent = wanted.iter().filter(|(name, _)| result.member(name).is_none());
    absent.map(|(name, value)| format!("\"{name}\":{value}").into_bytes()).collect()
}

fn plain(edits: &mut Edits, result: Node<'_>, kind: ResultKind) -> bool {
    let beyond = |name: &str| result.member(name).is_some_and(|value| is_beyond(name, value, kind));
    let cuts = reserved::cuts_where(result, beyond);
    let changed = !cuts.is_empty();
    for cut in cuts {
        edits.cut(cut);
    }
    changed
}

/// Whether a revision of the older era does not know a member of a result.
fn is_beyond(name: &str, value: Node<'_>, kind: ResultKind) -> bool {
    match name {
        "resultType" => true,
        "structuredContent" => kind == ResultKind::Call && value.kind() != Kind::Object,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::revision;

    fn answer(result: &str, era: Era, kind: ResultKind) -> String {
        let frame = format!(r#"{{"jsonrpc":"2.0","id":7,"result":{result}}}"#);
        let to = Inward { id: "7", era, kind, mark: None };
        let out = inward(frame.as_bytes(), &FrameLimits::default(), &to);
        let out = out.map_or(frame, |out| String::from_utf8(out).unwrap());
        let result = out.strip_prefix(r#"{"jsonrpc":"2.0","id":7,"result":"#).unwrap();
        result.strip_suffix('}').unwrap().to_owned()
    }

    #[test]
    fn a_client_of_the_newer_era_learns_of_what_type_a_result_is() {
        for (result, kind, expected) in [
            (r#"{"content":[]}"#, ResultKind::Call, r#"{"resultType":"complete","content":[]}"#),
            (r#"{"resultType":"task"}"#, ResultKind::Call, r#"{"resultType":"task"}"#),
            (
                r#"{"ttlMs":5}"#,
                ResultKind::Cacheable,
                r#"{"resultType":"complete","cacheScope":"private","ttlMs":5}"#,
            ),
        ] {
            assert_eq!(answer(result, Era::Modern, kind), expected);
        }
    }

    #[test]
    fn a_client_of_the_older_era_gets_what_its_revision_knows() {
        let legacy = Era::Legacy(revision::find("2025-11-25").unwrap());
        for (result, expected) in [
            (r#"{"resultType":"complete","content":[]}"#, r#"{"content":[]}"#),
            (r#"{"content":[],"structuredContent":[1]}"#, r#"{"content":[]}"#),
            (
                r#"{"content":[],"structuredContent":{"a":[1]}}"#,
                r#"{"content":[],"structuredContent":{"a":[1]}}"#,
            ),
        ] {
            assert_eq!(answer(result, legacy, ResultKind::Call), expected);
        }
    }

    #[test]
    fn a_resource_that_is_not_there_has_the_code_of_the_clients_era() {
        let legacy = Era::Legacy(revision::find("2025-11-25").unwrap());
        let frame =
            br#"{"jsonrpc":"2.0","id":7,"error":{"code":-32002,"message":"-32002","data":{"uri":"a:b"}}}"#;
        let limits = FrameLimits::default();
        let to = |era| Inward { id: "7", era, kind: ResultKind::Cacheable, mark: None };
        let out = inward(frame, &limits, &to(Era::Modern)).unwrap();
        assert_eq!(
            String::from_utf8(out).unwrap(),
            r#"{"jsonrpc":"2.0","id":7,"error":{"code":-32602,"message":"-32002","data":{"uri":"a:b"}}}"#
        );
        assert_eq!(inward(frame, &limits, &to(legacy)), None);
    }

    #[test]
    fn a_server_does_not_speak_in_the_gates_name() {
        let out = answer(
            r#"{"_meta":{"dev.callgate/refusal":{},"k":1},"resultType":"complete"}"#,
            Era::Modern,
            ResultKind::Call,
        );
        assert_eq!(out, r#"{"_meta":{"k":1},"resultType":"complete"}"#);
    }
}
