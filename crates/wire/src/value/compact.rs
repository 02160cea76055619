//! The compact text of a value that was read: no white space, the fewest escapes; the order of members and the spelling
//! of numbers stay.

use callgate_schema::json::{Items, Kind, Member, Members, Node, write_string};

/// A container whose parts are being written.
enum Open<'a> {
    Array(Items<'a>),
    Object(Members<'a>),
}

/// Appends the compact text of a value. Linear, without recursion.
pub(super) fn write_compact(out: &mut Vec<u8>, node: Node<'_>) {
    let mut open: Vec<Open<'_>> = Vec::new();
    let mut value = Some(node);
    while let Some(node) = value {
        match node.kind() {
            Kind::Null | Kind::Bool | Kind::Number => out.extend_from_slice(node.raw()),
            Kind::String => write_text(out, node),
            Kind::Array => {
                out.push(b'[');
                open.push(Open::Array(node.items()));
            }
            Kind::Object => {
                out.push(b'{');
                open.push(Open::Object(node.members()));
            }
        }
        value = next_value(out, &mut open);
    }
}

/// Writes what stands before the next value, brackets that close included.
fn next_value<'a>(out: &mut Vec<u8>, open: &mut Vec<Open<'a>>) -> Option<Node<'a>> {
    while let Some(innermost) = open.last_mut() {
        // A value never ends with a bracket that opens, but for the one that was just written.
        let first = matches!(out.last(), Some(b'[' | b'{'));
        let close = match innermost {
            Open::Array(items) => {
                if let Some(item) = items.next() {
                    if !first {
                        out.push(b',');
                    }
                    return Some(item);
                }
                b']'
            }
            Open::Object(members) => {
                if let Some(member) = members.next() {
                    if !first {
                        out.push(b',');
                    }
                    let raw = member.value().text_bytes().get(member.name_span()).unwrap_or_default();
                    write_quoted(out, raw, || member.name());
                    out.push(b':');
                    return Some(member.value());
                }
                b'}'
            }
        };
        out.push(close);
        open.pop();
    }
    None
}

fn write_text(out: &mut Vec<u8>, node: Node<'_>) {
    write_quoted(out, node.raw(), || node.as_str().unwrap_or_default());
}

/// Appends a string: as it stands, unless it has escapes, some of which may be needless.
fn write_quoted<'a>(out: &mut Vec<u8>, raw: &[u8], text: impl FnOnce() -> std::borrow::Cow<'a, str>) {
    match text() {
        std::borrow::Cow::Borrowed(_) => out.extend_from_slice(raw),
        std::borrow::Cow::Owned(text) => write_string(out, &text),
    }
}

/// Whether every number of the value is one that a double holds without becoming infinite.
pub(crate) fn is_finite(node: Node<'_>) -> bool {
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
    // The largest double has 309 digits, so that a short number without exponent is finite.
    let small = raw.len() < 300 && !raw.bytes().any(|byte| byte | 0x20 == b'e');
    small || raw.parse::<f64>().is_ok_and(f64::is_finite)
}
