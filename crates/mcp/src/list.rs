//! `tools/list`: taking the pages of an upstream apart so that a fault in one tool's definition spoils only that one,
//! and putting one page together for the client, byte for byte from what was received.

use std::ops::Range;

use callgate_schema::json::{Kind, Tape, skim_items, skim_members};

use crate::frame::one_line;
use crate::reserved::Meta;
use crate::{FrameLimits, RequestId};

/// One page, taken apart and not yet judged: each tool is read on its own later.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page {
    /// The definitions, as received.
    pub tools: Vec<Box<[u8]>>,
    /// The cursor of the next page, as JSON text.
    pub next: Option<Box<str>>,
    /// The result's other members, as received: name with quotes, value.
    pub others: Vec<(Box<str>, Box<str>)>,
    /// Whether members of its `_meta` were left out that are the gate's alone.
    pub forged: bool,
}

/// Why a page was not taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PageFault {
    /// The upstream answered with an error: its JSON text.
    Refused(Box<str>),
    /// The answer is no list of tools; says what was expected.
    Malformed(&'static str),
}

impl Page {
    /// Takes apart the answer to a `tools/list`.
    ///
    /// The frame need not be readable as a whole: everything but the tools is read strictly, member by member.
    ///
    /// # Errors
    /// [`PageFault`] if the upstream refused, or if something other than a tool's definition is at fault.
    pub fn read(frame: &[u8], limits: &FrameLimits) -> Result<Page, PageFault> {
        let envelope = Parts::of(frame, limits, &["result", "error"])?;
        if let Some(error) = envelope.find("error") {
            return Err(PageFault::Refused(strict(frame, error, limits)?.into()));
        }
        let result = envelope.find("result").ok_or(PageFault::Malformed("a member `result`"))?;
        let result = frame.get(result).unwrap_or_default();
        let parts = Parts::of(result, limits, &["tools"])?;
        let tools = parts.find("tools").ok_or(PageFault::Malformed("a member `tools` in `result`"))?;
        let tools = result.get(tools).unwrap_or_default();
        let items = skim_items(tools).map_err(|_| PageFault::Malformed("`tools` to be an array"))?;
        let mut page = Page {
            tools: items.into_iter().map(|item| tools.get(item).unwrap_or_default().into()).collect(),
            next: None,
            others: Vec::new(),
            forged: false,
        };
        for (name, span) in parts.0 {
            match name.as_str() {
                "tools" => {}
                "nextCursor" => page.next = Some(cursor(result, span, limits)?),
                "_meta" => {
                    let (meta, forged) = without_reserved(strict(result, span, limits)?, limits);
                    page.forged = forged;
                    page.others.push((quoted(&name), meta));
                }
                _ => page.others.push((quoted(&name), strict(result, span, limits)?.into())),
            }
        }
        Ok(page)
    }
}

/// The result that a client gets: the first page's other members, and all admitted definitions.
pub fn result<'a>(
    others: &[(Box<str>, Box<str>)],
    definitions: impl IntoIterator<Item = &'a [u8]>,
) -> Vec<u8> {
    let mut out = b"{\"tools\":[".to_vec();
    for (i, definition) in definitions.into_iter().enumerate() {
        if i > 0 {
            out.push(b',');
        }
        out.extend_from_slice(definition);
    }
    out.push(b']');
    for (name, value) in others {
        out.push(b',');
        out.extend_from_slice(name.as_bytes());
        out.push(b':');
        out.extend_from_slice(value.as_bytes());
    }
    out.push(b'}');
    one_line(&mut out);
    out
}

/// The gate's own request for a page.
pub fn request(id: &str, cursor: Option<&str>) -> Vec<u8> {
    let params = cursor.map_or_else(String::new, |cursor| format!(",\"params\":{{\"cursor\":{cursor}}}"));
    format!("{{\"jsonrpc\":\"2.0\",\"id\":\"{id}\",\"method\":\"tools/list\"{params}}}").into_bytes()
}

/// Whether this is the id of an answer that a list is waiting for.
pub fn own_id(prefix: &str, number: u64) -> Option<(String, RequestId)> {
    let text = format!("callgate-{prefix}-{number}");
    let id = RequestId::parse(format!("\"{text}\"").as_bytes(), usize::MAX)?;
    Some((text, id))
}

/// The members of an object by their unescaped names, none of them twice.
struct Parts(Vec<(String, Range<usize>)>);

impl Parts {
    /// Only the values of `tolerated` may be unreadable.
    fn of(text: &[u8], limits: &FrameLimits, tolerated: &[&str]) -> Result<Parts, PageFault> {
        let start = text.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
        let object = text.get(start..).unwrap_or_default();
        let members = skim_members(object).map_err(|_| PageFault::Malformed("an object that closes"))?;
        let mut parts: Vec<(String, Range<usize>)> = Vec::with_capacity(members.len());
        for (name, value) in members {
            let span = value.start + start..value.end + start;
            let mut tape = Tape::new();
            let name = tape
                .read(object.get(name).unwrap_or_default(), &limits.frame_text())
                .ok()
                .and_then(|name| name.as_str().map(std::borrow::Cow::into_owned))
                .ok_or(PageFault::Malformed("members whose names are strings"))?;
            if parts.iter().any(|(other, _)| other.eq_ignore_ascii_case(&name)) {
                return Err(PageFault::Malformed("each member once"));
            }
            if !tolerated.contains(&name.as_str()) {
                strict(text, span.clone(), limits)?;
            }
            parts.push((name, span));
        }
        Ok(Parts(parts))
    }

    fn find(&self, name: &str) -> Option<Range<usize>> {
        self.0.iter().find(|(other, _)| other == name).map(|(_, span)| span.clone())
    }
}

/// A value that is forwarded: read strictly.
fn strict<'t>(text: &'t [u8], span: Range<usize>, limits: &FrameLimits) -> Result<&'t str, PageFault> {
    let malformed = PageFault::Malformed("members that can be read");
    let value = text.get(span).unwrap_or_default();
    if Tape::new().read(value, &limits.frame_text()).is_err() {
        return Err(malformed);
    }
    std::str::from_utf8(value).map_err(|_| malformed)
}

/// The `_meta` of a result without the members that are the gate's alone, and whether there were any.
fn without_reserved(value: &str, limits: &FrameLimits) -> (Box<str>, bool) {
    let mut tape = Tape::new();
    let cuts = tape.read(value.as_bytes(), &limits.frame_text()).map(|node| Meta::of(node).cuts);
    let cuts = cuts.unwrap_or_default();
    let mut text = value.to_owned();
    for cut in cuts.iter().rev() {
        text.replace_range(cut.clone(), "");
    }
    (text.into(), !cuts.is_empty())
}

fn cursor(text: &[u8], span: Range<usize>, limits: &FrameLimits) -> Result<Box<str>, PageFault> {
    let value = strict(text, span, limits)?;
    let mut tape = Tape::new();
    match tape.read(value.as_bytes(), &limits.frame_text()) {
        Ok(node) if node.kind() == Kind::String => Ok(value.into()),
        _ => Err(PageFault::Malformed("`nextCursor` to be a string")),
    }
}

fn quoted(name: &str) -> Box<str> {
    let mut out = Vec::new();
    callgate_schema::json::write_string(&mut out, name);
    String::from_utf8_lossy(&out).into()
}

#[cfg(test)]
mod tests;
