//! The keywords: one table, and a file for each that says how it is compiled and what it asserts.
//!
//! To add one: its file, a row here, a variant in `program/instruction.rs` if it asserts something new, a row in
//! `cases/`.

pub(crate) mod annotations;
pub(crate) mod any_of;
pub(crate) mod bounds;
pub(crate) mod const_;
pub(crate) mod contains;
pub(crate) mod dependent;
pub(crate) mod enum_;
pub(crate) mod if_;
pub(crate) mod items;
pub(crate) mod lengths;
pub(crate) mod multiple_of;
pub(crate) mod never;
pub(crate) mod not;
pub(crate) mod one_of;
pub(crate) mod pattern;
pub(crate) mod properties;
pub(crate) mod property_names;
pub(crate) mod ref_;
pub(crate) mod required;
pub(crate) mod type_;
pub(crate) mod unique_items;

mod advice;

use crate::compile::{Compiler, Draft, Entry};
use crate::dialect::{Dialect, Profile};

pub(crate) use advice::advice;

/// How a keyword becomes instructions, or is judged as an annotation.
pub(crate) type Compile = for<'a> fn(&mut Compiler<'a>, &mut Draft, &Entry<'a, '_>);

/// One keyword.
pub(crate) struct Keyword {
    pub(crate) name: &'static str,
    /// In profile `portable`, in draft-07 and in 2020-12 of profile `standard`.
    uses: [Use; 3],
    /// Whether it constrains the value, so that ignoring it would lose something.
    pub(crate) asserts: bool,
    pub(crate) compile: Compile,
}

/// Whether a keyword counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Use {
    /// It does.
    On,
    /// The dialect or the profile has no such keyword.
    Off,
    /// The dialect has it and it is not enforced: such a schema is refused.
    Later,
}

impl Keyword {
    pub(crate) const fn use_in(&self, profile: Profile, dialect: Dialect) -> Use {
        let [portable, draft_07, draft_2020_12] = self.uses;
        match (profile, dialect) {
            (Profile::Portable, _) => portable,
            (Profile::Standard, Dialect::Draft07) => draft_07,
            (Profile::Standard, Dialect::Draft202012) => draft_2020_12,
        }
    }
}

/// The keyword of that name, in whatever profile it counts.
pub(crate) fn find(name: &str) -> Option<&'static Keyword> {
    KEYWORDS.iter().find(|keyword| keyword.name == name)
}

const ALL: [Use; 3] = [Use::On, Use::On, Use::On];
const STANDARD: [Use; 3] = [Use::Off, Use::On, Use::On];
const ONLY_07: [Use; 3] = [Use::Off, Use::On, Use::Off];
const ONLY_2020: [Use; 3] = [Use::Off, Use::Off, Use::On];
const PORTABLE: [Use; 3] = [Use::On, Use::Off, Use::Off];
const LATER_2020: [Use; 3] = [Use::Off, Use::Off, Use::Later];

const fn note(name: &'static str, uses: [Use; 3], compile: Compile) -> Keyword {
    Keyword { name, uses, asserts: false, compile }
}

const fn rule(name: &'static str, uses: [Use; 3], compile: Compile) -> Keyword {
    Keyword { name, uses, asserts: true, compile }
}

/// Every keyword, in the order in which faults are reported.
pub(crate) const KEYWORDS: &[Keyword] = &[
    note("description", ALL, annotations::text),
    note("format", ALL, annotations::format),
    note("contentEncoding", ALL, annotations::text),
    note("$schema", ALL, annotations::dialect),
    note("x-mcp-header", ALL, annotations::text),
    note("contentMediaType", STANDARD, annotations::text),
    note("contentSchema", ONLY_2020, annotations::any),
    note("title", STANDARD, annotations::text),
    note("$comment", STANDARD, annotations::text),
    note("default", ALL, annotations::any),
    note("example", STANDARD, annotations::any),
    note("examples", STANDARD, annotations::list),
    note("deprecated", STANDARD, annotations::boolean),
    note("readOnly", STANDARD, annotations::boolean),
    note("writeOnly", STANDARD, annotations::boolean),
    note("$id", STANDARD, ref_::identifier),
    rule("type", ALL, type_::compile),
    rule("enum", ALL, enum_::compile),
    rule("const", STANDARD, const_::compile),
    rule("minimum", ALL, bounds::minimum),
    rule("maximum", ALL, bounds::maximum),
    rule("exclusiveMinimum", STANDARD, bounds::exclusive_minimum),
    rule("exclusiveMaximum", STANDARD, bounds::exclusive_maximum),
    rule("multipleOf", STANDARD, multiple_of::compile),
    rule("minLength", ALL, lengths::min_length),
    rule("maxLength", STANDARD, lengths::max_length),
    rule("minItems", ALL, lengths::min_items),
    rule("maxItems", ALL, lengths::max_items),
    rule("uniqueItems", STANDARD, unique_items::compile),
    rule("minProperties", STANDARD, lengths::min_properties),
    rule("maxProperties", STANDARD, lengths::max_properties),
    rule("pattern", ALL, pattern::compile),
    rule("properties", ALL, properties::compile),
    rule("patternProperties", STANDARD, properties::patterns),
    rule("required", ALL, required::compile),
    rule("additionalProperties", ALL, properties::additional),
    rule("additional_properties", PORTABLE, properties::additional),
    rule("propertyNames", STANDARD, property_names::compile),
    rule("dependentRequired", ONLY_2020, dependent::required),
    rule("dependentSchemas", ONLY_2020, dependent::schemas),
    rule("dependencies", STANDARD, dependent::dependencies),
    rule("prefixItems", ONLY_2020, items::prefix),
    rule("items", ALL, items::compile),
    rule("additionalItems", ONLY_07, items::additional),
    rule("contains", STANDARD, contains::compile),
    rule("minContains", ONLY_2020, contains::least),
    rule("maxContains", ONLY_2020, contains::most),
    rule("not", ALL, not::compile),
    rule("if", STANDARD, if_::condition),
    rule("then", STANDARD, if_::then),
    rule("else", STANDARD, if_::otherwise),
    rule("allOf", STANDARD, ref_::all_of),
    rule("oneOf", ALL, one_of::compile),
    rule("anyOf", ALL, any_of::compile),
    rule("$ref", STANDARD, ref_::compile),
    note("$defs", STANDARD, ref_::definitions),
    note("definitions", STANDARD, ref_::definitions),
    rule("$anchor", LATER_2020, annotations::any),
    rule("$dynamicRef", LATER_2020, annotations::any),
    rule("$dynamicAnchor", LATER_2020, annotations::any),
    rule("$vocabulary", LATER_2020, annotations::any),
    rule("unevaluatedItems", LATER_2020, annotations::any),
    rule("unevaluatedProperties", LATER_2020, annotations::any),
];
