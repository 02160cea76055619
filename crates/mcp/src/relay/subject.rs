//! What the transport over HTTP repeats of a request in its headers, in the newer era: the name of what it is about, and
//! the arguments that a tool marks with `x-mcp-header`.
//!
//! SPEC: 2026-07-28, basic/transports/streamable-http, "Request Metadata".

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use callgate_schema::json::{Kind, Node, Tape};

use crate::FrameLimits;

/// The keyword by which a tool marks an argument.
const KEYWORD: &str = "x-mcp-header";
/// What the name of such a header begins with.
const PARAM: &str = "Mcp-Param-";

/// What a request is about, in headers.
#[derive(Debug, Clone, Copy)]
pub struct Subject;

impl Subject {
    /// A value as a header has it: as it is where it is plain, else encoded.
    pub fn header_value(text: &str) -> String {
        let plain = text.bytes().all(|byte| matches!(byte, b' '..=b'~' | b'\t'))
            && text.trim_matches([' ', '\t']) == text
            && !(text.starts_with("=?base64?") && text.ends_with("?="));
        if plain { text.to_owned() } else { format!("=?base64?{}?=", STANDARD.encode(text)) }
    }

    /// The text of a header's value; `None` if it is encoded and cannot be read.
    pub fn header_text(value: &str) -> Option<String> {
        let value = value.trim_matches([' ', '\t']);
        match value.strip_prefix("=?base64?").and_then(|rest| rest.strip_suffix("?=")) {
            None => Some(value.to_owned()),
            Some(encoded) => String::from_utf8(STANDARD.decode(encoded).ok()?).ok(),
        }
    }

    /// The arguments that a tool's definition wants to have repeated: names of headers and encoded values.
    pub fn mirrored(definition: &[u8], arguments: &[u8], limits: &FrameLimits) -> Vec<(String, String)> {
        let expected = Subject::expected(definition, arguments, limits).into_iter();
        expected.filter_map(|(name, value)| Some((name, Subject::header_value(&value?)))).collect()
    }

    /// The headers that a tool's definition knows, and what each has to say for these arguments: `None` for nothing.
    pub fn expected(
        definition: &[u8],
        arguments: &[u8],
        limits: &FrameLimits,
    ) -> Vec<(String, Option<String>)> {
        let (mut tape, mut other) = (Tape::new(), Tape::new());
        let (Ok(tool), Ok(arguments)) =
            (tape.read(definition, &limits.frame_text()), other.read(arguments, &limits.frame_text()))
        else {
            return Vec::new();
        };
        let mut found = Vec::new();
        if let Some(schema) = tool.member("inputSchema") {
            walk(schema, Some(arguments), &mut found);
        }
        found.into_iter().map(|(name, value)| (format!("{PARAM}{name}"), value)).collect()
    }
}

/// Marked properties are reached by `properties` alone.
fn walk(schema: Node<'_>, value: Option<Node<'_>>, found: &mut Vec<(String, Option<String>)>) {
    let Some(properties) = schema.member("properties").filter(|node| node.kind() == Kind::Object) else {
        return;
    };
    for property in properties.members() {
        let value = value.and_then(|value| value.member(&property.name()));
        let schema = property.value();
        if let Some(name) = schema.member(KEYWORD).and_then(Node::as_str) {
            let text = value.filter(|value| !value.is_null()).map(|value| match value.as_str() {
                Some(text) => text.into_owned(),
                None => value.raw_str().to_owned(),
            });
            found.push((name.into_owned(), text));
        }
        walk(schema, value, found);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_that_is_not_plain_is_encoded_and_comes_back() {
        for (text, value) in [
            ("get_weather", "get_weather"),
            ("a b", "a b"),
            (" a", "=?base64?IGE=?="),
            ("é", "=?base64?w6k=?="),
            ("=?base64?x?=", "=?base64?PT9iYXNlNjQ/eD89?="),
        ] {
            assert_eq!(Subject::header_value(text), value);
            assert_eq!(Subject::header_text(value).as_deref(), Some(text));
        }
        assert_eq!(Subject::header_text("=?base64?!?="), None);
    }

    #[test]
    fn marked_arguments_are_repeated() {
        let tool = br#"{"name":"t","inputSchema":{"properties":{"region":{"x-mcp-header":"Region"},
            "deep":{"properties":{"n":{"type":"integer","x-mcp-header":"N"}}},"off":{"x-mcp-header":"Off"}}}}"#;
        let limits = FrameLimits::default();
        let mirrored = Subject::mirrored(tool, br#"{"region":"eu","deep":{"n":7},"off":null}"#, &limits);
        let expected = [("Mcp-Param-Region", "eu"), ("Mcp-Param-N", "7")];
        assert_eq!(mirrored, expected.map(|(name, value)| (name.to_owned(), value.to_owned())));
    }
}
