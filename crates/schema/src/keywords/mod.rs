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
pub(crate) mod format;
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
pub(crate) mod unevaluated;
pub(crate) mod unique_items;

mod advice;
mod present;

use crate::compile::{Compiler, Draft, Entry};
use crate::dialect::{Dialect, Profile};
use crate::resolve::Vocabularies;

pub(crate) use advice::{advice, form, shape};
pub(crate) use present::{KeywordSet, Present, find};

/// How a keyword becomes instructions, or is judged as an annotation.
pub(crate) type Compile = for<'a> fn(&mut Compiler<'a>, &mut Draft, &Entry<'a, '_>);

/// One keyword.
pub(crate) struct Keyword {
    pub(crate) name: &'static str,
    /// In profile `portable`, in draft-07 and in 2020-12 of profile `standard`.
    uses: [Use; 3],
    /// Whether it constrains the value, so that ignoring it would lose something.
    pub(crate) asserts: bool,
    /// The vocabulary of 2020-12 that it belongs to. In draft-07 all are there.
    pub(crate) vocabulary: Vocabularies,
    /// Whether there are schemas in its value.
    pub(crate) holds: Holds,
    pub(crate) compile: Compile,
}

/// Where schemas stand in a keyword's value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Holds {
    /// There are none.
    Nothing,
    /// The value is a schema, or a list of schemas.
    Schemas,
    /// The members of the value are schemas.
    Named,
}

/// Whether a keyword counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Use {
    /// It does.
    On,
    /// The dialect or the profile has no such keyword.
    Off,
}

impl Keyword {
    pub(crate) const fn use_in(&self, profile: Profile, dialect: Dialect) -> Use {
        let [portable, draft_07, draft_2020_12] = self.uses;
        match (profile, dialect) {
            (Profile::Portable, _) => portable,
            (Profile::Standard, Dialect::Draft07) => draft_07,
            (Profile::Standard, Dialect::Draft202012) => draft_2020_12,
            // It has a compiler of its own, which asserts a few of them at a few places.
            (Profile::Wire, _) => Use::Off,
        }
    }
}

const ALL: [Use; 3] = [Use::On, Use::On, Use::On];
const STANDARD: [Use; 3] = [Use::Off, Use::On, Use::On];
const ONLY_07: [Use; 3] = [Use::Off, Use::On, Use::Off];
const ONLY_2020: [Use; 3] = [Use::Off, Use::Off, Use::On];
const PORTABLE: [Use; 3] = [Use::On, Use::Off, Use::Off];

const fn note(
    name: &'static str,
    uses: [Use; 3],
    vocabulary: Vocabularies,
    holds: Holds,
    compile: Compile,
) -> Keyword {
    Keyword { name, uses, asserts: false, vocabulary, holds, compile }
}

const fn rule(
    name: &'static str,
    uses: [Use; 3],
    vocabulary: Vocabularies,
    holds: Holds,
    compile: Compile,
) -> Keyword {
    Keyword { name, uses, asserts: true, vocabulary, holds, compile }
}

/// Every keyword, in the order in which faults are reported.
pub(crate) const KEYWORDS: &[Keyword] = &[
    note("description", ALL, Vocabularies::METADATA, Holds::Nothing, annotations::text),
    note("format", ALL, Vocabularies::FORMAT, Holds::Nothing, format::compile),
    note("contentEncoding", ALL, Vocabularies::CONTENT, Holds::Nothing, annotations::text),
    note("$schema", ALL, Vocabularies::CORE, Holds::Nothing, annotations::dialect),
    note("x-mcp-header", ALL, Vocabularies::CORE, Holds::Nothing, annotations::text),
    note("contentMediaType", STANDARD, Vocabularies::CONTENT, Holds::Nothing, annotations::text),
    note("contentSchema", ONLY_2020, Vocabularies::CONTENT, Holds::Schemas, annotations::any),
    note("title", STANDARD, Vocabularies::METADATA, Holds::Nothing, annotations::text),
    note("$comment", STANDARD, Vocabularies::CORE, Holds::Nothing, annotations::text),
    note("default", ALL, Vocabularies::METADATA, Holds::Nothing, annotations::any),
    note("example", STANDARD, Vocabularies::CORE, Holds::Nothing, annotations::any),
    note("examples", STANDARD, Vocabularies::METADATA, Holds::Nothing, annotations::list),
    note("deprecated", STANDARD, Vocabularies::METADATA, Holds::Nothing, annotations::boolean),
    note("readOnly", STANDARD, Vocabularies::METADATA, Holds::Nothing, annotations::boolean),
    note("writeOnly", STANDARD, Vocabularies::METADATA, Holds::Nothing, annotations::boolean),
    note("$id", STANDARD, Vocabularies::CORE, Holds::Nothing, ref_::identifier),
    note("$anchor", ONLY_2020, Vocabularies::CORE, Holds::Nothing, ref_::anchor),
    note("$dynamicAnchor", ONLY_2020, Vocabularies::CORE, Holds::Nothing, ref_::anchor),
    note("$vocabulary", ONLY_2020, Vocabularies::CORE, Holds::Nothing, annotations::vocabulary),
    rule("type", ALL, Vocabularies::VALIDATION, Holds::Nothing, type_::compile),
    rule("enum", ALL, Vocabularies::VALIDATION, Holds::Nothing, enum_::compile),
    rule("const", STANDARD, Vocabularies::VALIDATION, Holds::Nothing, const_::compile),
    rule("minimum", ALL, Vocabularies::VALIDATION, Holds::Nothing, bounds::minimum),
    rule("maximum", ALL, Vocabularies::VALIDATION, Holds::Nothing, bounds::maximum),
    rule("exclusiveMinimum", STANDARD, Vocabularies::VALIDATION, Holds::Nothing, bounds::exclusive_minimum),
    rule("exclusiveMaximum", STANDARD, Vocabularies::VALIDATION, Holds::Nothing, bounds::exclusive_maximum),
    rule("multipleOf", STANDARD, Vocabularies::VALIDATION, Holds::Nothing, multiple_of::compile),
    rule("minLength", ALL, Vocabularies::VALIDATION, Holds::Nothing, lengths::min_length),
    rule("maxLength", STANDARD, Vocabularies::VALIDATION, Holds::Nothing, lengths::max_length),
    rule("minItems", ALL, Vocabularies::VALIDATION, Holds::Nothing, lengths::min_items),
    rule("maxItems", ALL, Vocabularies::VALIDATION, Holds::Nothing, lengths::max_items),
    rule("uniqueItems", STANDARD, Vocabularies::VALIDATION, Holds::Nothing, unique_items::compile),
    rule("minProperties", STANDARD, Vocabularies::VALIDATION, Holds::Nothing, lengths::min_properties),
    rule("maxProperties", STANDARD, Vocabularies::VALIDATION, Holds::Nothing, lengths::max_properties),
    rule("pattern", ALL, Vocabularies::VALIDATION, Holds::Nothing, pattern::compile),
    rule("properties", ALL, Vocabularies::APPLICATOR, Holds::Named, properties::compile),
    rule("patternProperties", STANDARD, Vocabularies::APPLICATOR, Holds::Named, properties::patterns),
    rule("required", ALL, Vocabularies::VALIDATION, Holds::Nothing, required::compile),
    rule("additionalProperties", ALL, Vocabularies::APPLICATOR, Holds::Schemas, properties::additional),
    rule("additional_properties", PORTABLE, Vocabularies::APPLICATOR, Holds::Schemas, properties::additional),
    rule("propertyNames", STANDARD, Vocabularies::APPLICATOR, Holds::Schemas, property_names::compile),
    rule("dependentRequired", ONLY_2020, Vocabularies::VALIDATION, Holds::Nothing, dependent::required),
    rule("dependentSchemas", ONLY_2020, Vocabularies::APPLICATOR, Holds::Named, dependent::schemas),
    rule("dependencies", STANDARD, Vocabularies::APPLICATOR, Holds::Named, dependent::dependencies),
    rule("prefixItems", ONLY_2020, Vocabularies::APPLICATOR, Holds::Schemas, items::prefix),
    rule("items", ALL, Vocabularies::APPLICATOR, Holds::Schemas, items::compile),
    rule("additionalItems", ONLY_07, Vocabularies::APPLICATOR, Holds::Schemas, items::additional),
    rule("contains", STANDARD, Vocabularies::APPLICATOR, Holds::Schemas, contains::compile),
    rule("minContains", ONLY_2020, Vocabularies::VALIDATION, Holds::Nothing, contains::least),
    rule("maxContains", ONLY_2020, Vocabularies::VALIDATION, Holds::Nothing, contains::most),
    rule("not", ALL, Vocabularies::APPLICATOR, Holds::Schemas, not::compile),
    rule("if", STANDARD, Vocabularies::APPLICATOR, Holds::Schemas, if_::condition),
    rule("then", STANDARD, Vocabularies::APPLICATOR, Holds::Schemas, if_::then),
    rule("else", STANDARD, Vocabularies::APPLICATOR, Holds::Schemas, if_::otherwise),
    rule("allOf", STANDARD, Vocabularies::APPLICATOR, Holds::Schemas, ref_::all_of),
    rule("oneOf", ALL, Vocabularies::APPLICATOR, Holds::Schemas, one_of::compile),
    rule("anyOf", ALL, Vocabularies::APPLICATOR, Holds::Schemas, any_of::compile),
    rule("$ref", STANDARD, Vocabularies::CORE, Holds::Nothing, ref_::compile),
    note("$defs", STANDARD, Vocabularies::CORE, Holds::Named, ref_::definitions),
    note("definitions", STANDARD, Vocabularies::CORE, Holds::Named, ref_::definitions),
    rule("$dynamicRef", ONLY_2020, Vocabularies::CORE, Holds::Nothing, ref_::dynamic),
    rule("unevaluatedItems", ONLY_2020, Vocabularies::UNEVALUATED, Holds::Schemas, unevaluated::items),
    rule(
        "unevaluatedProperties",
        ONLY_2020,
        Vocabularies::UNEVALUATED,
        Holds::Schemas,
        unevaluated::properties,
    ),
];
