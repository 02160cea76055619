//! Which places of the text a finding is about: the keyword at fault, and what it is at odds with.

use std::ops::Range;

use callgate_schema::json::{Kind, Node};
use callgate_schema::{Code, Detail, Finding};

use super::source::Slice;
use crate::render::diagnostic::Label;

/// Bytes of an object or array that are marked whole; of a longer one only its name is.
const CONTAINER_BYTES_MAX: usize = 40;

/// The places of a finding about `part`, the one at fault first. `root` is the part's value, if it can be read.
pub(super) fn labels(text: &[u8], part: &Slice, root: Option<Node<'_>>, finding: &Finding) -> Vec<Label> {
    let start = part.span.start;
    let fault_at = start + finding.offset.unwrap_or(0);
    let place = root.and_then(|root| Place::of(root, finding.schema_location.as_deref().unwrap_or_default()));
    let Some(place) = place.filter(|_| !is_of_the_reader(finding.code)) else {
        let mut labels = vec![Label::new(token(text, fault_at), said(finding))];
        if let Some(first) = count(finding, "first_offset") {
            labels.push(Label::new(token(text, start + first), "first here"));
        }
        return labels;
    };
    let span = match (&place.name, &part.key) {
        _ if is_of_an_item(finding.code) => item(&place, finding),
        _ if finding.code == Code::PatternBacktracks => {
            let value = place.value.span();
            let construct =
                part.text(text).get(value.clone()).and_then(|written| construct(written, finding));
            construct.map_or_else(|| place.span(finding.code), |construct| shift(construct, value.start))
        }
        // What is wrong with the whole part is marked at its name, not at the bracket that opens it.
        (None, Some(key)) if place.parent.is_none() => return vec![Label::new(key.clone(), said(finding))],
        _ => place.span(finding.code),
    };
    let mut labels = vec![Label::new(shift(span, start), said(finding))];
    for (name, text) in related(finding) {
        let sibling = place.parent.and_then(|parent| Place::member(parent, name));
        if let Some(sibling) = sibling {
            labels.push(Label::new(shift(sibling.span(finding.code), start), *text));
        }
    }
    labels
}

/// A value of the text with the name that it has in its object.
struct Place<'a> {
    parent: Option<Node<'a>>,
    name: Option<Range<usize>>,
    value: Node<'a>,
}

impl<'a> Place<'a> {
    fn of(root: Node<'a>, pointer: &str) -> Option<Place<'a>> {
        let mut place = Place { parent: None, name: None, value: root };
        for step in pointer.split('/').skip(1) {
            let step = step.replace("~1", "/").replace("~0", "~");
            let within = match place.value.kind() {
                Kind::Object => Place::member(place.value, &step)?,
                Kind::Array => {
                    let item = place.value.items().nth(step.parse().ok()?)?;
                    Place { parent: Some(place.value), name: None, value: item }
                }
                _ => return None,
            };
            place = within;
        }
        Some(place)
    }

    fn member(object: Node<'a>, name: &str) -> Option<Place<'a>> {
        let member = object.members().find(|member| member.name_is(name))?;
        Some(Place { parent: Some(object), name: Some(member.name_span()), value: member.value() })
    }

    /// What of it is marked.
    fn span(&self, code: Code) -> Range<usize> {
        let value = self.value.span();
        let is_container = matches!(self.value.kind(), Kind::Object | Kind::Array);
        let is_long = is_container && value.len() > CONTAINER_BYTES_MAX;
        match &self.name {
            Some(name) if is_long || is_of_the_name(code) => name.clone(),
            Some(name) => name.start..value.end,
            None if is_long => value.start..value.start + 1,
            None => value,
        }
    }
}

/// Faults that are found while the text is read.
fn is_of_the_reader(code: Code) -> bool {
    matches!(
        code,
        Code::JsonSyntax
            | Code::JsonUtf8
            | Code::JsonSurrogate
            | Code::JsonDuplicateName
            | Code::LimitExceeded
    )
}

/// Faults of a name, whatever its value is.
fn is_of_the_name(code: Code) -> bool {
    matches!(code, Code::SchemaUnknownKeyword | Code::SchemaUnsupportedKeyword)
}

/// Faults of one name in the list under `required`.
fn is_of_an_item(code: Code) -> bool {
    code == Code::SchemaUnsatisfiable
}

/// The name in the list that the finding is about, or the keyword where it is about no name.
fn item(place: &Place<'_>, finding: &Finding) -> Range<usize> {
    let property = finding.details.iter().find_map(|(name, detail)| match detail {
        Detail::Text(text) if *name == "property" => Some(text.as_str()),
        _ => None,
    });
    let named = |item: &Node<'_>| property.is_some() && item.as_str().as_deref() == property;
    let item = matches!(place.value.kind(), Kind::Array).then(|| place.value.items().find(named)).flatten();
    item.map_or_else(|| place.span(finding.code), Node::span)
}

/// The construct of a pattern that the finding is about, in the pattern as it is written in JSON.
fn construct(written: &[u8], finding: &Finding) -> Option<Range<usize>> {
    let construct = finding.details.iter().find_map(|(name, detail)| match detail {
        Detail::Text(text) if *name == "construct" && !text.is_empty() => Some(text.replace('\\', "\\\\")),
        _ => None,
    })?;
    let at = memchr::memmem::find(written, construct.as_bytes())?;
    Some(at..at + construct.len())
}

/// What the place is, in the fewest words; the title says the rest.
fn said(finding: &Finding) -> &'static str {
    match finding.code {
        Code::SchemaUnknownKeyword => "not a keyword",
        Code::SchemaUnsupportedKeyword | Code::SchemaUnsupportedForm => "not enforced in this profile",
        Code::SchemaNotEnforced => "not enforced",
        Code::SchemaUnreachable => "no value gets here",
        Code::SchemaIgnoredSibling => "ignored",
        Code::SchemaExampleRefused => "refused by its own schema",
        Code::SchemaOpenRoot => "takes members of any name",
        Code::SchemaReference => "leads nowhere",
        Code::SchemaReferenceLoop => "leads back to itself",
        Code::SchemaFormatUnknown => "checked by nobody",
        Code::PatternBacktracks => "matched by trying",
        Code::JsonDuplicateName => "again here",
        Code::LimitExceeded => "the first one too many",
        _ => "",
    }
}

/// The siblings that a keyword is at odds with, and what each of them is.
fn related(finding: &Finding) -> &'static [(&'static str, &'static str)] {
    match (finding.code, finding.keyword.as_deref()) {
        (Code::SchemaUnreachable, _) | (Code::SchemaUnsatisfiable, Some("enum" | "const")) => {
            &[("type", "the stated type")]
        }
        (Code::SchemaExampleRefused, Some("default" | "example" | "examples")) => &[
            ("type", "the stated type"),
            ("enum", "the choices"),
            ("anyOf", "the branches"),
            ("oneOf", "the branches"),
        ],
        (Code::SchemaIgnoredSibling, _) => &[("$ref", "draft-07 looks at this alone")],
        (Code::SchemaAliasConflict, _) => {
            &[("additionalProperties", "the keyword"), ("additional_properties", "its alias")]
        }
        (Code::SchemaUnsatisfiable, Some("required")) => {
            &[("additionalProperties", "closes the object"), ("properties", "the declared members")]
        }
        (Code::SchemaUnsatisfiable, Some("minimum" | "exclusiveMinimum")) => {
            &[("maximum", "the upper bound"), ("exclusiveMaximum", "the upper bound")]
        }
        (Code::SchemaUnsatisfiable, Some("minLength")) => &[("maxLength", "the upper bound")],
        (Code::SchemaUnsatisfiable, Some("minItems")) => &[("maxItems", "the upper bound")],
        (Code::SchemaUnsatisfiable, Some("minContains")) => &[("maxContains", "the upper bound")],
        (Code::SchemaUnsatisfiable, Some("minProperties")) => &[("maxProperties", "the upper bound")],
        _ => &[],
    }
}

fn count(finding: &Finding, fact: &str) -> Option<usize> {
    finding.details.iter().find_map(|(name, detail)| match detail {
        Detail::Count(count) if *name == fact => usize::try_from(*count).ok(),
        _ => None,
    })
}

fn shift(span: Range<usize>, by: usize) -> Range<usize> {
    span.start + by..span.end + by
}

/// The token that begins at a byte: a string to its end, a number or word, or one byte.
pub(super) fn token(text: &[u8], start: usize) -> Range<usize> {
    let rest = text.get(start..).unwrap_or_default();
    let len = match rest.first() {
        Some(b'"') => {
            let mut escaped = false;
            let end = rest.iter().skip(1).position(|&byte| {
                let ends = byte == b'\n' || (byte == b'"' && !escaped);
                escaped = byte == b'\\' && !escaped;
                ends
            });
            end.map_or(1, |end| end + 2)
        }
        Some(byte) if byte.is_ascii_alphanumeric() || *byte == b'-' => {
            let is_word = |byte: &&u8| byte.is_ascii_alphanumeric() || b"+-._".contains(byte);
            rest.iter().take_while(is_word).count()
        }
        Some(_) => 1,
        None => 0,
    };
    start.min(text.len())..(start + len).min(text.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_ends_where_it_does() {
        let found = |text: &str, start| {
            String::from_utf8_lossy(&text.as_bytes()[token(text.as_bytes(), start)]).into_owned()
        };
        assert_eq!(found(r#"{"a\"\\":1}"#, 1), r#""a\"\\""#);
        assert_eq!(found("[-1.5e+9,true]", 1), "-1.5e+9");
        assert_eq!(found("[-1.5e+9,true]", 9), "true");
        assert_eq!(found("\"a\nb\"", 0), "\"a\n");
        assert_eq!(found("[]", 0), "[");
        assert_eq!(found("[]", 9), "");
    }
}
