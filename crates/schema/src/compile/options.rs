//! How a schema is to be read.

use crate::{Dialect, Limits, Profile, Resource};

/// How a schema is to be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    /// Which keywords are admitted.
    pub profile: Profile,
    /// What the root may be.
    pub root: Root,
    /// The dialect of a schema without `$schema`.
    pub dialect: Dialect,
    /// What happens to a keyword that the dialect does not define.
    pub unknown_keywords: UnknownKeywords,
    /// Names that are taken as annotations beside those of the dialect and `x-…`, in profile `standard`.
    pub annotations: Vec<String>,
    /// Schemas that references may reach, beside the metaschemas, which always are there.
    pub resources: Vec<Resource>,
    /// Whether `format` is asserted, in profile `standard`, for the formats that JSON Schema defines. Otherwise it is an
    /// annotation, unless the vocabularies of the schema's metaschema have it asserted.
    pub format_assertion: bool,
    /// The maxima.
    pub limits: Limits,
}

/// What the root of a schema may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Root {
    /// An object that describes an object: the input of a tool.
    Tool,
    /// Any schema.
    Any,
}

/// What happens to a keyword that the dialect does not define.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UnknownKeywords {
    /// The schema is refused: a misspelt constraint would otherwise be lost.
    Refuse,
    /// It is an annotation and is named in the warnings, as JSON Schema has it.
    Annotate,
}

impl Options {
    /// For the input schema of a tool.
    pub fn tool(profile: Profile) -> Self {
        Options {
            profile,
            root: Root::Tool,
            dialect: Dialect::default(),
            unknown_keywords: UnknownKeywords::Refuse,
            annotations: Vec::new(),
            resources: Vec::new(),
            format_assertion: false,
            limits: Limits::default(),
        }
    }

    /// For a schema of any value, such as the output of a tool.
    pub fn value() -> Self {
        Options {
            root: Root::Any,
            unknown_keywords: UnknownKeywords::Annotate,
            ..Options::tool(Profile::Standard)
        }
    }
}
