//! The changes that are made to an upstream's result. The id is written as the request had it; members of `_meta` that
//! are the gate's alone are cut out; so is `structuredContent` that breaks the tool's own output schema, and a mark in
//! `_meta` says so. Every other byte stays.

use std::borrow::Cow;
use std::ops::Range;

use callgate_schema::Finding;
use callgate_schema::json::{skim_members, write_string};
use callgate_wire::Code;

use crate::RequestId;
use crate::answer::{class, write_findings};
use crate::edit::Edits;
use crate::frame::{Answer, AnswerContent, ResultFacts};

/// The key in `_meta` under which a result is marked that breaks the tool's own output schema.
pub const META_OUTPUT: &str = "dev.callgate/output";

/// The name of a member, quotes included, and its value.
type Member = (Range<usize>, Range<usize>);
/// A span, and what stands there instead.
type Edit = (Range<usize>, Vec<u8>);

/// The frame for the caller, with the id in the spelling of its request and without what is the gate's alone: the same
/// bytes where both are so already.
pub fn forwarded<'f>(frame: &'f [u8], answer: &Answer, id: &RequestId) -> Cow<'f, [u8]> {
    let mut edits = Vec::new();
    if frame.get(answer.id_span.clone()) != Some(id.raw().as_bytes()) {
        edits.push((answer.id_span.clone(), id.raw().as_bytes().to_vec()));
    }
    if let AnswerContent::Result(facts) = &answer.content {
        edits.extend(cut_reserved(facts));
    }
    if edits.is_empty() { Cow::Borrowed(frame) } else { Cow::Owned(spliced(frame, edits)) }
}

fn cut_reserved(facts: &ResultFacts) -> impl Iterator<Item = Edit> {
    facts.meta.iter().flat_map(|meta| &meta.cuts).map(|span| (span.clone(), Vec::new()))
}

/// The frame for the caller as [`forwarded`] has it, without `structuredContent`, and marked.
pub fn without_structured(
    frame: &[u8],
    answer: &Answer,
    facts: &ResultFacts,
    id: &RequestId,
    findings: &[Finding],
) -> Vec<u8> {
    let base = facts.span.start;
    let result = frame.get(facts.span.clone()).unwrap_or_default();
    // The strict reader took the frame, so the members are all there and each is there once.
    let members: Vec<Member> = skim_members(result)
        .unwrap_or_default()
        .into_iter()
        .map(|(name, value)| (name.start + base..name.end + base, value.start + base..value.end + base))
        .collect();
    let mut edits = vec![(answer.id_span.clone(), id.raw().as_bytes().to_vec())];
    let structured = members.iter().position(|(_, value)| Some(value) == facts.structured.as_ref());
    let mut mark = mark(findings);
    if let Some(meta) = &facts.meta {
        if meta.object {
            if meta.has_others {
                mark.push(b',');
            }
            edits.push((meta.span.start + 1..meta.span.start + 1, mark));
        } else {
            edits.push((meta.span.clone(), [b"{".as_slice(), &mark, b"}"].concat()));
        }
        edits.extend(cut_reserved(facts));
        edits.extend(structured.and_then(|at| with_comma(&members, at)).map(|span| (span, Vec::new())));
    } else {
        let mut own = [b"\"_meta\":{".as_slice(), &mark, b"}"].concat();
        if let Some((name, value)) = structured.and_then(|at| members.get(at)) {
            // The mark takes its place.
            edits.push((name.start..value.end, own));
        } else {
            if !members.is_empty() {
                own.push(b',');
            }
            edits.push((base + 1..base + 1, own));
        }
    }
    spliced(frame, edits)
}

/// The span of a member with the comma that parts it from the next one, or else from the one before.
fn with_comma(members: &[Member], at: usize) -> Option<Range<usize>> {
    let (name, value) = members.get(at)?;
    let next = members.get(at + 1).map(|(name, _)| name.start);
    let before = at.checked_sub(1).and_then(|at| members.get(at)).map(|(_, value)| value.end);
    Some(match (next, before) {
        (Some(next), _) => name.start..next,
        (None, Some(before)) => before..value.end,
        (None, None) => name.start..value.end,
    })
}

fn mark(findings: &[Finding]) -> Vec<u8> {
    let code = Code::ResultBreaksOutputSchema;
    let mut out = Vec::new();
    write_string(&mut out, META_OUTPUT);
    out.extend_from_slice(b":{\"code\":");
    write_string(&mut out, code.as_str());
    out.extend_from_slice(b",\"class\":");
    write_string(&mut out, class(code, findings).as_str());
    write_findings(&mut out, findings);
    out.push(b'}');
    out
}

fn spliced(text: &[u8], edits: Vec<Edit>) -> Vec<u8> {
    let mut all = Edits::default();
    for (span, new) in edits {
        all.replace(span, new);
    }
    all.apply(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::FrameLimits;
    use crate::frame::{AnswerContent, UpstreamFrame, UpstreamReader};

    #[track_caller]
    fn check_mended(frame: &str, expected: &str) {
        let UpstreamFrame::Answer(answer) =
            UpstreamReader::new(&FrameLimits::default()).read(frame.as_bytes())
        else {
            panic!("{frame}")
        };
        let AnswerContent::Result(facts) = &answer.content else { panic!("{frame}") };
        let id = RequestId::parse(b"\"a\"", 10).unwrap();
        let mended = without_structured(frame.as_bytes(), &answer, facts, &id, &[]);
        let mark = r#""dev.callgate/output":{"code":"result-breaks-output-schema","class":"validation"}"#;
        assert_eq!(String::from_utf8(mended).unwrap(), expected.replace("MARK", mark));
    }

    #[test]
    fn only_the_structured_part_goes_and_only_the_mark_comes() {
        for (result, mended) in [
            (r#"{"structuredContent":{"x":1}}"#, r#"{"_meta":{MARK}}"#),
            (r#"{"a": 1.0, "structuredContent": 2 , "b":3}"#, r#"{"a": 1.0, "_meta":{MARK} , "b":3}"#),
            (r#"{"structuredContent":2, "_meta":{}}"#, r#"{"_meta":{MARK}}"#),
            (r#"{"_meta":{"k":"v"},"structuredContent":2}"#, r#"{"_meta":{MARK,"k":"v"}}"#),
            (r#"{"content":[]}"#, r#"{"_meta":{MARK},"content":[]}"#),
            ("{}", r#"{"_meta":{MARK}}"#),
            (r#"{"_meta":{"dev.callgate/output":1,"k":2}}"#, r#"{"_meta":{MARK,"k":2}}"#),
            (r#"{"_meta":{"dev.callgate/output":1}}"#, r#"{"_meta":{MARK}}"#),
            (r#"{"_meta":7,"structuredContent":2}"#, r#"{"_meta":{MARK}}"#),
        ] {
            check_mended(
                &format!(r#"{{"jsonrpc":"2.0","id":"\u0061","result":{result}}}"#),
                &format!(r#"{{"jsonrpc":"2.0","id":"a","result":{mended}}}"#),
            );
            check_mended(
                &format!(r#" {{"result":{result}, "id":"a","jsonrpc":"2.0"}} "#),
                &format!(r#" {{"result":{mended}, "id":"a","jsonrpc":"2.0"}} "#),
            );
        }
    }

    #[test]
    fn what_is_the_gates_alone_is_cut_out_and_no_other_byte() {
        for (meta, left) in [
            ("{}", "{}"),
            (r#"{ "k" : 1.0 }"#, r#"{ "k" : 1.0 }"#),
            (
                r#"{"dev.callgate":1,"Dev.callgate/x":2,"x":"dev.callgate/y"}"#,
                r#"{"dev.callgate":1,"Dev.callgate/x":2,"x":"dev.callgate/y"}"#,
            ),
            (r#"{ "dev.callgate/refusal" : {"code":"x"} }"#, "{  }"),
            (r#"{"dev.callgate/a":1, "dev.callgate/b":[2] }"#, "{ }"),
            (r#"{"dev.callgate/a":1 , "k":2}"#, r#"{"k":2}"#),
            (r#"{"k":2 , "dev.callgate/a":1}"#, r#"{"k":2}"#),
            (
                r#"{"k":2,"dev.callgate/a":1,"dev.callgate/b":1, "l":3,"dev.callgate/":1 }"#,
                r#"{"k":2,"l":3 }"#,
            ),
            (r#"{"dev\u002ecallgate\/refusal":1,"k":2}"#, r#"{"k":2}"#),
            (r#""dev.callgate/""#, r#""dev.callgate/""#),
        ] {
            let frame = |meta| format!(r#"{{"jsonrpc":"2.0","id":"a","result":{{"_meta":{meta},"x":1e0}}}}"#);
            let line = frame(meta);
            let UpstreamFrame::Answer(answer) =
                UpstreamReader::new(&FrameLimits::default()).read(line.as_bytes())
            else {
                panic!("{line}")
            };
            let id = RequestId::parse(b"\"a\"", 10).unwrap();
            let text = forwarded(line.as_bytes(), &answer, &id);
            assert_eq!(String::from_utf8_lossy(&text), frame(left));
            assert_eq!(answer.is_forged(), meta != left, "{meta}");
        }
    }
}
