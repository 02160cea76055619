//! The compact text of a value that was read: no white space, the fewest escapes; the order of members and the spelling
//! of numbers stay.

use std::borrow::Cow;

use callgate_schema::json::{Items, Kind, Member, Members, Node, write_string};

use super::scan::{Look, SMALL_NUMBER_MAX, look, needs_no_escape};

/// A container whose parts are being written.
enum Open<'a> {
    Array(Items<'a>),
    Object(Members<'a>),
}

/// The compact text of a value.
pub(super) fn compact(node: Node<'_>) -> String {
    looked_at(node, look(node.raw()))
}

/// The compact text of a value whose numbers all are ones that a double holds; else none.
pub(crate) fn compact_finite(node: Node<'_>) -> Option<String> {
    let seen = look(node.raw());
    (seen == Look::Plain || all_finite(node)).then(|| looked_at(node, seen))
}

fn looked_at(node: Node<'_>, seen: Look) -> String {
    let raw = node.raw_str();
    if seen != Look::Other {
        return raw.to_owned();
    }
    let mut out = String::with_capacity(raw.len());
    write_compact(&mut out, node);
    out
}

/// Appends a text as a JSON string.
pub(crate) fn push_text(out: &mut String, text: &str) {
    if needs_no_escape(text) {
        out.reserve(text.len() + 2);
        out.push('"');
        out.push_str(text);
        out.push('"');
        return;
    }
    let mut quoted = Vec::with_capacity(text.len() + 8);
    write_string(&mut quoted, text);
    // INVARIANT: a text in quotes is as much UTF-8 as the text.
    out.push_str(std::str::from_utf8(&quoted).unwrap_or_default());
}

/// Appends the compact text of a value. Linear, without recursion.
fn write_compact(out: &mut String, node: Node<'_>) {
    let mut open: Vec<Open<'_>> = Vec::new();
    let mut value = Some(node);
    while let Some(node) = value {
        match node.kind() {
            Kind::Null | Kind::Bool | Kind::Number => out.push_str(node.raw_str()),
            Kind::String => write_quoted(out, node.raw_str(), node.as_str().unwrap_or_default()),
            Kind::Array => {
                out.push('[');
                open.push(Open::Array(node.items()));
            }
            Kind::Object => {
                out.push('{');
                open.push(Open::Object(node.members()));
            }
        }
        value = next_value(out, &mut open);
    }
}

/// Writes what stands before the next value, brackets that close included.
fn next_value<'a>(out: &mut String, open: &mut Vec<Open<'a>>) -> Option<Node<'a>> {
    while let Some(innermost) = open.last_mut() {
        // A value never ends with a bracket that opens, but for the one that was just written.
        let first = out.ends_with(['[', '{']);
        let (next, close) = match innermost {
            Open::Array(items) => (items.next().map(|item| (None, item)), ']'),
            Open::Object(members) => (members.next().map(|member| (Some(member), member.value())), '}'),
        };
        if let Some((member, value)) = next {
            if !first {
                out.push(',');
            }
            if let Some(member) = member {
                push_text(out, &member.name());
                out.push(':');
            }
            return Some(value);
        }
        out.push(close);
        open.pop();
    }
    None
}

/// Appends a string: as it stands, unless it has escapes, some of which may be needless.
fn write_quoted(out: &mut String, raw: &str, text: Cow<'_, str>) {
    match text {
        Cow::Borrowed(_) => out.push_str(raw),
        Cow::Owned(text) => push_text(out, &text),
    }
}

/// Whether every number of the value is one that a double holds without becoming infinite.
pub(crate) fn is_finite(node: Node<'_>) -> bool {
    look(node.raw()) == Look::Plain || all_finite(node)
}

fn all_finite(node: Node<'_>) -> bool {
    let mut rest = vec![node];
    while let Some(node) = rest.pop() {
        match node.kind() {
            Kind::Number if !number_is_finite(node.raw_str()) => return false,
            Kind::Array => rest.extend(node.items()),
            Kind::Object => rest.extend(node.members().map(Member::value)),
            _ => {}
        }
    }
    true
}

fn number_is_finite(raw: &str) -> bool {
    // Without an exponent it takes more than 308 digits to be infinite.
    let small = raw.len() <= SMALL_NUMBER_MAX && !raw.bytes().any(|byte| byte | 0x20 == b'e');
    small || raw.parse::<f64>().is_ok_and(f64::is_finite)
}
