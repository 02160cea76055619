//! What a rule can look for beside keywords.

use std::collections::HashSet;
use std::sync::LazyLock;

use callgate_schema::json::Tape;
use callgate_schema::{Limits, Options, Program, Step, Verdict};

use super::schemas::{children, types, walk};
use super::table::texts;
use super::tree::{Tree, below};

/// What a rule can look for beside keywords.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Shape {
    /// The root does not say that it is an object, and nothing else.
    RootNotObject,
    /// An array may stand here, and nothing is said of its items.
    ArrayWithoutItems,
    /// The items have a schema each, as draft-07 can have it.
    ItemsList,
    /// A pattern looks ahead or behind.
    PatternLookaround,
    /// A format that is not one of these.
    FormatBeyond(Vec<String>),
    /// Another keyword beside `$ref`.
    ReferenceWithSiblings,
    /// No type, no union, no reference; or a boolean as a schema.
    WithoutType,
    TypeList,
    /// An object may stand here that is not closed.
    ObjectNotClosed,
    PropertyNotRequired,
    RequiredUndefined,
    ItemsOfNoArray,
    PropertiesOfNoObject,
    EnumOfNoTexts,
    /// A property whose schema is a boolean.
    PropertyNoObject,
    /// A property's name with a character that is neither an ASCII letter or digit nor one of these, or too long.
    PropertyKeyBeyond(String, usize),
    /// Not good as JSON Schema 2020-12.
    Breaks202012,
    /// `x-mcp-header` against its rules.
    HeaderMisplaced,
    EnumValuesOver(usize),
    PropertiesOver(usize),
    ObjectsNestedOver(usize),
}

/// Where a shape was found: the way from the schema at hand, and the keyword it is about.
pub(super) type Spot = (String, String);

impl Shape {
    pub(super) fn named(name: &str, row: &Tree) -> Option<Shape> {
        let maximum = || match row.get("maximum")? {
            Tree::Raw(number) => number.parse().ok(),
            _ => None,
        };
        Some(match name {
            "root-not-object" => Shape::RootNotObject,
            "array-without-items" => Shape::ArrayWithoutItems,
            "items-list" => Shape::ItemsList,
            "pattern-lookaround" => Shape::PatternLookaround,
            "format-beyond" => Shape::FormatBeyond(texts(row, "allowed")?),
            "reference-with-siblings" => Shape::ReferenceWithSiblings,
            "without-type" => Shape::WithoutType,
            "type-list" => Shape::TypeList,
            "object-not-closed" => Shape::ObjectNotClosed,
            "property-not-required" => Shape::PropertyNotRequired,
            "required-undefined" => Shape::RequiredUndefined,
            "items-of-no-array" => Shape::ItemsOfNoArray,
            "properties-of-no-object" => Shape::PropertiesOfNoObject,
            "enum-of-no-texts" => Shape::EnumOfNoTexts,
            "property-no-object" => Shape::PropertyNoObject,
            "property-key-beyond" => {
                Shape::PropertyKeyBeyond(row.get("characters")?.as_text()?.to_owned(), maximum()?)
            }
            "breaks-2020-12" => Shape::Breaks202012,
            "header-misplaced" => Shape::HeaderMisplaced,
            "enum-values-over" => Shape::EnumValuesOver(maximum()?),
            "properties-over" => Shape::PropertiesOver(maximum()?),
            "objects-nested-over" => Shape::ObjectsNestedOver(maximum()?),
            _ => return None,
        })
    }

    /// Each place in this schema, not within those below it, that has the shape. Shapes of the whole schema look at all
    /// of it, and are asked at its root.
    pub(super) fn spots(&self, schema: &Tree) -> Vec<Spot> {
        match self {
            Shape::ArrayWithoutItems | Shape::ItemsList | Shape::ItemsOfNoArray => self.of_arrays(schema),
            Shape::ObjectNotClosed
            | Shape::PropertyNotRequired
            | Shape::RequiredUndefined
            | Shape::PropertiesOfNoObject
            | Shape::PropertyNoObject
            | Shape::PropertyKeyBeyond(..) => self.of_objects(schema),
            Shape::Breaks202012 => breaks_2020_12(schema),
            Shape::HeaderMisplaced => headers_misplaced(schema),
            Shape::EnumValuesOver(_) | Shape::PropertiesOver(_) | Shape::ObjectsNestedOver(_) => {
                if self.is_over(schema) { here("") } else { Vec::new() }
            }
            Shape::RootNotObject
            | Shape::PatternLookaround
            | Shape::FormatBeyond(_)
            | Shape::ReferenceWithSiblings
            | Shape::WithoutType
            | Shape::TypeList
            | Shape::EnumOfNoTexts => self.of_any(schema),
        }
    }

    fn of_any(&self, schema: &Tree) -> Vec<Spot> {
        let texts =
            || schema.get("enum").is_some_and(|list| list.items().iter().all(|it| it.as_text().is_some()));
        let (found, keyword) = match self {
            Shape::RootNotObject => (schema.get("type").and_then(Tree::as_text) != Some("object"), "type"),
            Shape::PatternLookaround => {
                (schema.get("pattern").and_then(Tree::as_text).is_some_and(looks_around), "pattern")
            }
            Shape::FormatBeyond(known) => {
                let format = schema.get("format").and_then(Tree::as_text);
                (format.is_some_and(|format| !known.iter().any(|it| it == format)), "format")
            }
            Shape::ReferenceWithSiblings => {
                let alone = |name: &str| matches!(name, "$ref" | "$defs" | "definitions" | "$schema" | "$id");
                (schema.has("$ref") && schema.members().iter().any(|(name, _)| !alone(name)), "$ref")
            }
            Shape::WithoutType => (!["type", "anyOf", "$ref"].iter().any(|name| schema.has(name)), "type"),
            Shape::TypeList => (matches!(schema.get("type"), Some(Tree::Array(_))), "type"),
            Shape::EnumOfNoTexts => {
                let is_text = schema.get("type").and_then(Tree::as_text) == Some("string");
                (schema.has("enum") && !(is_text && texts()), "enum")
            }
            _ => (false, ""),
        };
        if found { here(keyword) } else { Vec::new() }
    }

    fn of_arrays(&self, schema: &Tree) -> Vec<Spot> {
        let array = types(schema).contains(&"array");
        let items = schema.get("items");
        let (found, keyword) = match self {
            Shape::ArrayWithoutItems => (array && items.is_none(), "items"),
            Shape::ItemsList => (matches!(items, Some(Tree::Array(_))), "items"),
            _ => (items.is_some() && schema.get("type").and_then(Tree::as_text) != Some("array"), "items"),
        };
        if found { here(keyword) } else { Vec::new() }
    }

    fn of_objects(&self, schema: &Tree) -> Vec<Spot> {
        let properties = schema.get("properties").map(Tree::members).unwrap_or_default();
        let required = schema.get("required").map(Tree::items).unwrap_or_default();
        let is_object = types(schema).contains(&"object");
        let of_properties = |keep: &dyn Fn(&str, &Tree) -> bool| {
            let bad = properties.iter().filter(|(name, value)| keep(name, value));
            bad.map(|(name, _)| (below("/properties", name), name.clone())).collect()
        };
        match self {
            Shape::ObjectNotClosed => {
                let closed = schema.get("additionalProperties").is_some_and(|value| value.is_raw("false"));
                if is_object && !closed { here("additionalProperties") } else { Vec::new() }
            }
            Shape::PropertyNotRequired => of_properties(&|name, _| {
                is_object && !required.iter().any(|known| known.as_text() == Some(name))
            }),
            Shape::RequiredUndefined => {
                let is_defined = |name: &str| properties.iter().any(|(known, _)| known == name);
                let undefined = required
                    .iter()
                    .enumerate()
                    .filter(|(_, name)| name.as_text().is_some_and(|name| !is_defined(name)));
                undefined.map(|(at, _)| (format!("/required/{at}"), "required".to_owned())).collect()
            }
            Shape::PropertiesOfNoObject => {
                let one = schema.get("type").and_then(Tree::as_text);
                let bad = ["properties", "required"]
                    .into_iter()
                    .filter(|name| one != Some("object") && schema.has(name));
                bad.map(|name| (format!("/{name}"), name.to_owned())).collect()
            }
            Shape::PropertyNoObject => of_properties(&|_, value| !value.is_object()),
            Shape::PropertyKeyBeyond(characters, maximum) => of_properties(&|name, _| {
                let good = |c: char| c.is_ascii_alphanumeric() || characters.contains(c);
                name.is_empty() || name.len() > *maximum || !name.chars().all(good)
            }),
            _ => Vec::new(),
        }
    }

    fn is_over(&self, schema: &Tree) -> bool {
        let (mut values, mut properties) = (0, 0);
        let mut count = |schema: &Tree, _: &str| {
            values += schema.get("enum").map_or(0, |list| list.items().len());
            properties += schema.get("properties").map_or(0, |all| all.members().len());
        };
        walk(schema, "", &mut count);
        match self {
            Shape::EnumValuesOver(maximum) => values > *maximum,
            Shape::PropertiesOver(maximum) => properties > *maximum,
            Shape::ObjectsNestedOver(maximum) => nesting(schema) > *maximum,
            _ => false,
        }
    }
}

fn here(keyword: &str) -> Vec<Spot> {
    vec![(if keyword.is_empty() { String::new() } else { format!("/{keyword}") }, keyword.to_owned())]
}

/// Objects within each other, as far as they are spelled out.
fn nesting(schema: &Tree) -> usize {
    let own = usize::from(schema.has("properties"));
    own + children(schema).into_iter().map(|(_, _, child)| nesting(child)).max().unwrap_or(0)
}

/// Whether a group of the pattern looks ahead or behind. Escapes and classes are stepped over.
fn looks_around(pattern: &str) -> bool {
    let mut in_class = false;
    let mut rest = pattern;
    while let Some(c) = rest.chars().next() {
        match c {
            '\\' => rest = rest.get(1..).unwrap_or_default(),
            '[' => in_class = true,
            ']' => in_class = false,
            '(' if !in_class
                && ["(?=", "(?!", "(?<=", "(?<!"].iter().any(|group| rest.starts_with(group)) =>
            {
                return true;
            }
            _ => {}
        }
        let mut chars = rest.chars();
        chars.next();
        rest = chars.as_str();
    }
    false
}

/// Where the metaschema of 2020-12 refuses the schema.
fn breaks_2020_12(schema: &Tree) -> Vec<Spot> {
    static METASCHEMA: LazyLock<Option<Program>> = LazyLock::new(|| {
        let text = br#"{"$ref": "https://json-schema.org/draft/2020-12/schema"}"#;
        Program::compile(text, &Options::value()).ok()
    });
    let limits = Limits::default().schema_text();
    let text = schema.written();
    let mut tape = Tape::new();
    let (Some(program), Ok(node)) = (METASCHEMA.as_ref(), tape.read(text.as_bytes(), &limits)) else {
        return here("");
    };
    let Verdict::Invalid(violations) = program.check(node) else { return Vec::new() };
    let mut spots: Vec<Spot> = Vec::new();
    for place in violations.findings.iter().filter_map(|finding| finding.instance_location.as_ref()) {
        let keyword = match place.0.last() {
            Some(Step::Name(name)) => name.clone(),
            Some(Step::Index(_)) | None => String::new(),
        };
        let spot = (place.to_string(), keyword);
        if !spots.contains(&spot) {
            spots.push(spot);
        }
    }
    spots
}

/// Each `x-mcp-header` that names no header, one that is taken, or that stands where no header can be made of it.
fn headers_misplaced(schema: &Tree) -> Vec<Spot> {
    const NAME: &str = "x-mcp-header";
    fn reached(schema: &Tree, pointer: &str, found: &mut HashSet<String>) {
        for (name, property) in schema.get("properties").map(Tree::members).unwrap_or_default() {
            let way = below(&format!("{pointer}/properties"), name);
            reached(property, &way, found);
            found.insert(way);
        }
    }
    let mut properties = HashSet::new();
    reached(schema, "", &mut properties);
    let (mut taken, mut spots) = (HashSet::new(), Vec::new());
    walk(schema, "", &mut |schema: &Tree, pointer: &str| {
        let Some(value) = schema.get(NAME) else { return };
        let header = value.as_text().unwrap_or_default();
        let of_token = |c: char| c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c);
        let is_token = !header.is_empty() && header.chars().all(of_token);
        let is_simple = schema
            .get("type")
            .and_then(Tree::as_text)
            .is_some_and(|name| matches!(name, "string" | "integer" | "boolean"));
        let is_new = taken.insert(header.to_ascii_lowercase());
        if !(is_token && is_simple && is_new && properties.contains(pointer)) {
            spots.push((format!("{pointer}/{NAME}"), NAME.to_owned()));
        }
    });
    spots
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_group_that_looks_around_is_told_from_what_only_looks_like_one() {
        for pattern in ["^(?=a)", "(?!a)", r"\\(?<=a)", "[(](?<!b)", r"[\]](?=x)"] {
            assert!(looks_around(pattern), "{pattern}");
        }
        for pattern in ["(?:a)", "(?<name>a)", r"\(?=a", "[(?=]", r"[\](?=]", "", "é(a)?="] {
            assert!(!looks_around(pattern), "{pattern}");
        }
    }
}
