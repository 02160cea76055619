//! The stable codes of the engine, in one table. A code is never renamed and never used again for something else;
//! each has a page in `docs/errors`.

use std::fmt;

/// The three classes of a refusal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Class {
    /// The schema asks for something that this engine, profile or dialect does not enforce.
    UnsupportedCapability,
    /// A malformed text or schema, or a value that its schema refuses.
    Validation,
    /// A limit was reached before there was an answer.
    ExecutionFailure,
}

impl Class {
    /// The name in answers.
    pub const fn as_str(self) -> &'static str {
        match self {
            Class::UnsupportedCapability => "unsupported_capability",
            Class::Validation => "validation",
            Class::ExecutionFailure => "execution_failure",
        }
    }
}

impl fmt::Display for Class {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

macro_rules! codes {
    ($($name:ident $text:literal $class:ident $doc:literal,)*) => {
        /// The code of a finding.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[non_exhaustive]
        pub enum Code {
            $(#[doc = $doc] $name,)*
        }

        impl Code {
            /// Every code, in the order of the table.
            pub const ALL: &[Code] = &[$(Code::$name,)*];

            /// The stable name.
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Code::$name => $text,)*
                }
            }

            /// The class that a finding of this code has.
            pub const fn class(self) -> Class {
                match self {
                    $(Code::$name => Class::$class,)*
                }
            }

            /// What the code means, in a line.
            pub const fn summary(self) -> &'static str {
                match self {
                    $(Code::$name => $doc,)*
                }
            }
        }
    };
}

codes! {
    // Reading JSON text.
    JsonSyntax "json-syntax" Validation "the text is not JSON",
    JsonUtf8 "json-utf8" Validation "the text is not UTF-8",
    JsonSurrogate "json-surrogate" Validation "an escape that names half of a surrogate pair",
    JsonDuplicateName "json-duplicate-name" Validation "a member name that stands twice in one object",
    LimitExceeded "limit-exceeded" ExecutionFailure "a maximum was exceeded before there was an answer",
    WorkExhausted "work-exhausted" ExecutionFailure "the work allowance of the check was spent before there was an answer",

    // The worker's own.
    RequestMalformed "request-malformed" Validation "a request of the worker or of an operator that lacks a field or has a wrong one",

    // The flags of a command line.
    FlagUnknown "flag-unknown" Validation "a flag that the tool's schema does not declare",
    FlagMalformed "flag-malformed" Validation "a flag without its value, a word that is no flag, or a flag given twice",

    // Faults of a schema.
    SchemaMissing "schema-missing" UnsupportedCapability "there is no schema to check against",
    SchemaShape "schema-shape" Validation "a schema that is neither an object nor, where allowed, a boolean",
    SchemaRoot "schema-root" UnsupportedCapability "a tool's schema whose root does not describe an object",
    SchemaRootText "schema-root-text" Validation "a root whose type is not exactly the text `object`, which profile wire demands",
    SchemaDialect "schema-dialect" UnsupportedCapability "a dialect of JSON Schema that is not enforced here",
    SchemaUnknownKeyword "schema-unknown-keyword" UnsupportedCapability "a keyword that the dialect does not define",
    SchemaUnsupportedKeyword "schema-unsupported-keyword" UnsupportedCapability "a keyword that this profile does not enforce",
    SchemaUnsupportedForm "schema-unsupported-form" UnsupportedCapability "a form of a keyword, or a combination of keywords, that this profile does not enforce",
    SchemaUnknownType "schema-unknown-type" UnsupportedCapability "a type name outside the seven of JSON Schema",
    SchemaMalformedKeyword "schema-malformed-keyword" Validation "a keyword whose value has the wrong form",
    SchemaAliasConflict "schema-alias-conflict" Validation "a keyword that stands beside its own alias",
    SchemaReference "schema-reference" Validation "a reference that does not resolve within what was given",
    SchemaReferenceLoop "schema-reference-loop" Validation "references that lead back to themselves without consuming any of the value",
    PatternSyntax "pattern-syntax" Validation "a pattern that is not in the language of this profile",
    PatternLimit "pattern-limit" Validation "a pattern that exceeds a maximum of its length, nesting, counts or size",
    PatternUnsupported "pattern-unsupported" UnsupportedCapability "a pattern with a Unicode property whose table is not here",

    // Doubts about a schema: warnings, never refusals by themselves.
    SchemaNotEnforced "schema-not-enforced" Validation "a constraint that this profile does not enforce",
    SchemaFormatUnknown "schema-format-unknown" Validation "a format name that JSON Schema does not define",
    SchemaIgnoredSibling "schema-ignored-sibling" Validation "a keyword beside a draft-07 reference, which that dialect ignores",

    SchemaUnsatisfiable "schema-unsatisfiable" Validation "a schema, or a part of one, that no value satisfies",
    SchemaUnreachable "schema-unreachable" Validation "a keyword for values that the stated type excludes",
    SchemaExampleRefused "schema-example-refused" Validation "a default or an example that its own schema refuses",
    SchemaOpenRoot "schema-open-root" Validation "a tool's input that accepts members which it does not declare",
    PatternBacktracks "pattern-backtracks" Validation "a pattern that cannot be matched in linear time",

    // Violations: a value that breaks its schema.
    TypeMismatch "type-mismatch" Validation "a value of the wrong type",
    EnumMismatch "enum-mismatch" Validation "a value that is none of those listed",
    ConstMismatch "const-mismatch" Validation "a value other than the only one allowed",
    NumberTooSmall "number-too-small" Validation "a number below its lower bound",
    NumberTooLarge "number-too-large" Validation "a number above its upper bound",
    NumberNotMultiple "number-not-multiple" Validation "a number that is no multiple of the one required",
    StringTooShort "string-too-short" Validation "a text with fewer characters than required",
    StringTooLong "string-too-long" Validation "a text with more characters than allowed",
    PatternMismatch "pattern-mismatch" Validation "a text that its pattern does not match",
    FormatMismatch "format-mismatch" Validation "a text that does not have the format that its schema names",
    ArrayTooShort "array-too-short" Validation "an array with fewer items than required",
    ArrayTooLong "array-too-long" Validation "an array with more items than allowed",
    ArrayNotUnique "array-not-unique" Validation "an array with two equal items where all must differ",
    ContainsTooFew "contains-too-few" Validation "an array with too few items of the kind it must contain",
    ContainsTooMany "contains-too-many" Validation "an array with too many items of the kind it must contain",
    PropertyMissing "property-missing" Validation "an object without a member that is required",
    PropertyUnexpected "property-unexpected" Validation "an object with a member that is not allowed",
    PropertiesTooFew "properties-too-few" Validation "an object with fewer members than required",
    PropertiesTooMany "properties-too-many" Validation "an object with more members than allowed",
    AnyOfNone "any-of-none" Validation "a value that none of the alternatives accepts",
    OneOfNone "one-of-none" Validation "a value that none of the exclusive alternatives accepts",
    OneOfSeveral "one-of-several" Validation "a value that several of the exclusive alternatives accept",
    NotMatched "not-matched" Validation "a value that a negated schema accepts",
    NeverValid "never-valid" Validation "a value where the schema `false` allows none",
    ValueInvalid "value-invalid" Validation "a value that its schema refuses, where the allowance for naming the places was spent",
    ArgumentsShape "arguments-shape" Validation "arguments that are not an object",
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
