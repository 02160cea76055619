//! What the transport over HTTP repeats of a request in its headers, in the newer era: the name of what it is about, and
//! the arguments that a tool marks with `x-mcp-header`.
//!
//! SPEC: 2026-07-28, basic/transports/streamable-http, "Request Metadata".

use std::collections::HashSet;

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

    /// Where a tool's definition marks what no header can be made of, as JSON Pointers into its `inputSchema`. A client over
    /// HTTP leaves such a tool out.
    ///
    /// SPEC: 2026-07-28, server/tools, "x-mcp-header": a token that no other property has, on a string, an integer or a
    /// boolean that is reached from the root by `properties` alone.
    pub fn misplaced(definition: &[u8], limits: &FrameLimits) -> Vec<String> {
        let mut tape = Tape::new();
        let Ok(tool) = tape.read(definition, &limits.frame_text()) else { return Vec::new() };
        let mut marks = Marks::default();
        if let Some(schema) = tool.member("inputSchema") {
            marks.look(schema, "", Way::Root);
        }
        marks.misplaced
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

/// How a subschema is reached from the root.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    /// It is the root.
    Root,
    /// By `properties` alone.
    Properties,
    /// Also by others.
    Other,
}

/// The marks of a schema as far as it was looked at.
#[derive(Debug, Default)]
struct Marks {
    taken: HashSet<String>,
    misplaced: Vec<String>,
}

impl Marks {
    fn look(&mut self, schema: Node<'_>, at: &str, way: Way) {
        if schema.kind() != Kind::Object {
            return;
        }
        if let Some(mark) = schema.member(KEYWORD)
            && !(way == Way::Properties && self.is_good(schema, mark))
        {
            self.misplaced.push(format!("{at}/{KEYWORD}"));
        }
        for member in schema.members() {
            let (name, value) = (member.name(), member.value());
            let below = format!("{at}/{}", escaped(&name));
            match &*name {
                "properties" if way != Way::Other => self.look_at_each(value, &below, Way::Properties),
                name if MAPS.contains(&name) => self.look_at_each(value, &below, Way::Other),
                name if LISTS.contains(&name) && value.kind() == Kind::Array => {
                    for (index, item) in value.items().enumerate() {
                        self.look(item, &format!("{below}/{index}"), Way::Other);
                    }
                }
                name if ONES.contains(&name) => self.look(value, &below, Way::Other),
                _ => {}
            }
        }
    }

    fn look_at_each(&mut self, schemas: Node<'_>, at: &str, way: Way) {
        if schemas.kind() == Kind::Object {
            for member in schemas.members() {
                self.look(member.value(), &format!("{at}/{}", escaped(&member.name())), way);
            }
        }
    }

    fn is_good(&mut self, schema: Node<'_>, mark: Node<'_>) -> bool {
        let of_token = |c: char| c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c);
        let Some(name) = mark.as_str().filter(|name| !name.is_empty() && name.chars().all(of_token)) else {
            return false;
        };
        let kind = schema.member("type").and_then(Node::as_str);
        let is_simple = kind.is_some_and(|kind| matches!(&*kind, "string" | "integer" | "boolean"));
        // Headers of names that differ in case alone are one.
        let is_new = self.taken.insert(name.to_ascii_lowercase());
        is_simple && is_new
    }
}

/// Keywords that hold schemas under names.
const MAPS: &[&str] =
    &["properties", "patternProperties", "$defs", "definitions", "dependentSchemas", "dependencies"];
/// Keywords that hold a list of schemas.
const LISTS: &[&str] = &["allOf", "anyOf", "oneOf", "prefixItems", "items"];
/// Keywords that hold one schema.
const ONES: &[&str] = &[
    "items",
    "additionalItems",
    "additionalProperties",
    "unevaluatedItems",
    "unevaluatedProperties",
    "contains",
    "propertyNames",
    "contentSchema",
    "not",
    "if",
    "then",
    "else",
];

/// A name as a step of a JSON Pointer.
fn escaped(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
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

    #[test]
    fn a_mark_of_which_no_header_can_be_made_is_found() {
        let limits = FrameLimits::default();
        let misplaced = |schema: &str| {
            Subject::misplaced(format!(r#"{{"name":"t","inputSchema":{schema}}}"#).as_bytes(), &limits)
        };
        for (schema, expected) in [
            (r#"{"properties":{"a":{"type":"string","x-mcp-header":"A-1"}}}"#, &[] as &[&str]),
            (r#"{"properties":{"a":{"properties":{"b":{"type":"integer","x-mcp-header":"B"}}}}}"#, &[]),
            // Neither a property of that name nor a value that is no schema is a mark.
            (r#"{"properties":{"x-mcp-header":{"type":"string"}},"default":{"x-mcp-header":7}}"#, &[]),
            (r#"{"properties":{"a":{"type":"string","x-mcp-header":""}}}"#, &["/properties/a/x-mcp-header"]),
            (
                r#"{"properties":{"a":{"type":"string","x-mcp-header":"a b"}}}"#,
                &["/properties/a/x-mcp-header"],
            ),
            (r#"{"properties":{"a":{"type":"string","x-mcp-header":7}}}"#, &["/properties/a/x-mcp-header"]),
            (
                r#"{"properties":{"a/b":{"type":"number","x-mcp-header":"A"}}}"#,
                &["/properties/a~1b/x-mcp-header"],
            ),
            (
                r#"{"properties":{"a":{"type":"string","x-mcp-header":"A"},"b":{"type":"boolean","x-mcp-header":"a"}}}"#,
                &["/properties/b/x-mcp-header"],
            ),
            (r#"{"x-mcp-header":"A","type":"string"}"#, &["/x-mcp-header"]),
            (
                r#"{"properties":{"a":{"items":{"type":"string","x-mcp-header":"A"}}}}"#,
                &["/properties/a/items/x-mcp-header"],
            ),
            (
                r#"{"allOf":[{"properties":{"a":{"type":"string","x-mcp-header":"A"}}}]}"#,
                &["/allOf/0/properties/a/x-mcp-header"],
            ),
            (
                r##"{"$defs":{"d":{"type":"string","x-mcp-header":"A"}},"properties":{"a":{"$ref":"#/$defs/d"}}}"##,
                &["/$defs/d/x-mcp-header"],
            ),
        ] {
            assert_eq!(misplaced(schema), expected, "{schema}");
        }
    }
}
