//! The one change that is made to an upstream's result: `structuredContent` that breaks the tool's own output schema is
//! cut out, and a mark in `_meta` says so. Every other byte stays.

use std::ops::Range;

use callgate_schema::Finding;
use callgate_schema::json::{skim_members, write_string};
use callgate_wire::Code;

use crate::RequestId;
use crate::answer::{class, write_findings};
use crate::frame::{Answer, ResultFacts};

/// The key in `_meta` under which a result is marked that breaks the tool's own output schema.
pub const META_OUTPUT: &str = "dev.callgate/output";

/// The name of a member, quotes included, and its value.
type Member = (Range<usize>, Range<usize>);

/// The frame for the caller: without `structuredContent`, marked, its id in the spelling of the request.
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
    if let Some(meta) = facts.meta.clone() {
        let inner = frame.get(meta.clone()).and_then(|meta| skim_members(meta).ok());
        if inner.is_some_and(|inner| !inner.is_empty()) {
            mark.push(b',');
        }
        edits.push((meta.start + 1..meta.start + 1, mark));
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
    splice(frame, edits)
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

/// The text with each span replaced; no two of them overlap.
fn splice(text: &[u8], mut edits: Vec<(Range<usize>, Vec<u8>)>) -> Vec<u8> {
    edits.sort_by_key(|(span, _)| span.start);
    let mut out = Vec::with_capacity(text.len());
    let mut done = 0;
    for (span, new) in edits {
        out.extend_from_slice(text.get(done..span.start).unwrap_or_default());
        out.extend_from_slice(&new);
        done = span.end;
    }
    out.extend_from_slice(text.get(done..).unwrap_or_default());
    out
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
}
