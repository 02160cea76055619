//! A tolerant scan that finds the parts of an array or object without judging them.
//!
//! It isolates a fault: each part can then be read on its own by the strict reader, so that a bad one spoils only
//! itself. Brackets are counted and not told apart, strings are stepped over, nothing else is looked at. No recursion,
//! no limit on depth, one pass.

use std::ops::Range;

/// Parts that are found at most, so that a text of commas does not take many times its size.
const PARTS_MAX: u64 = 1 << 20;

/// A bracket or string that does not close, a text that does not start with the bracket that was asked for, or one of
/// more than 2^20 parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SkimFault {
    /// Where the scan gave up.
    pub offset: usize,
}

/// Where the name of a member stands, with its quotes, and where its value does.
pub type MemberSpans = (Range<usize>, Range<usize>);

/// The spans of the items of the array that starts at `text[0]`, white space around them left out.
///
/// Items are not judged, and one may be empty, as in `[1,,2]`. What stands after the array is not looked at.
///
/// # Errors
/// [`SkimFault`] if `text` does not start with `[`, the array or a string in it does not close, or it has more than 2^20
/// items.
///
/// ```
/// use callgate_schema::json::skim_items;
/// assert_eq!(skim_items(br#"[ {"a":1,"a":2} , nonsense]"#).unwrap(), [2..15, 18..26]);
/// ```
pub fn skim_items(text: &[u8]) -> Result<Vec<Range<usize>>, SkimFault> {
    let mut items = Vec::new();
    skim(text, b'[', |part| items.push(part.span))?;
    Ok(items)
}

/// The spans of the names, with quotes, and of the values of the object that starts at `text[0]`, in their order;
/// repeated names are all there.
///
/// Names and values are not judged: a name need not be a string, and either may be empty, as in `{"a"}`. What stands
/// after the object is not looked at.
///
/// # Errors
/// [`SkimFault`] if `text` does not start with `{`, the object or a string in it does not close, or it has more than 2^20
/// members.
///
/// ```
/// use callgate_schema::json::skim_members;
/// assert_eq!(skim_members(br#"{"a":1, "a" : [2]}"#).unwrap(), [(1..4, 5..6), (8..11, 14..17)]);
/// ```
pub fn skim_members(text: &[u8]) -> Result<Vec<MemberSpans>, SkimFault> {
    let mut members = Vec::new();
    skim(text, b'{', |part| {
        let end = part.span.end;
        members.push(match part.colon {
            Some(colon) => (trim(text, part.span.start..colon), trim(text, colon + 1..end)),
            None => (part.span, end..end),
        });
    })?;
    Ok(members)
}

/// What stands between two commas.
struct Part {
    span: Range<usize>,
    /// The first colon outside of nested brackets and strings.
    colon: Option<usize>,
}

fn skim(text: &[u8], open: u8, mut found: impl FnMut(Part)) -> Result<(), SkimFault> {
    if text.first() != Some(&open) {
        return Err(SkimFault { offset: 0 });
    }
    let (mut at, mut start, mut depth, mut colon, mut commas) = (1, 1, 0u64, None, 0u64);
    loop {
        let Some(&byte) = text.get(at) else { return Err(SkimFault { offset: text.len() }) };
        let last = depth == 0 && matches!(byte, b']' | b'}');
        if last || depth == 0 && byte == b',' {
            let span = trim(text, start..at);
            // `[]` and `{}` have no part, but `[1,]` has an empty one.
            if !(last && commas == 0 && span.is_empty()) {
                if commas == PARTS_MAX {
                    return Err(SkimFault { offset: start });
                }
                found(Part { span, colon });
            }
            if last {
                return Ok(());
            }
            (start, colon, commas) = (at + 1, None, commas + 1);
        }
        match byte {
            b'[' | b'{' => depth += 1,
            b']' | b'}' => depth -= 1,
            b':' if depth == 0 => colon = colon.or(Some(at)),
            b'"' => at = string_end(text, at).ok_or(SkimFault { offset: at })?,
            _ => {}
        }
        at += 1;
    }
}

/// The quote that closes the string whose opening quote is at `open`.
pub(super) fn string_end(text: &[u8], open: usize) -> Option<usize> {
    let mut at = open + 1;
    loop {
        at += memchr::memchr2(b'"', b'\\', text.get(at..)?)?;
        if text.get(at) == Some(&b'"') {
            return Some(at);
        }
        at += 2;
    }
}

fn trim(text: &[u8], span: Range<usize>) -> Range<usize> {
    let part = text.get(span.clone()).unwrap_or_default();
    let space = |byte: &&u8| matches!(byte, b' ' | b'\t' | b'\n' | b'\r');
    let before = part.iter().take_while(space).count();
    let after = part.iter().skip(before).rev().take_while(space).count();
    span.start + before..span.end - after
}
