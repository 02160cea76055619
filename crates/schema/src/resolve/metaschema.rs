//! The metaschemas of both dialects, always at hand, and the vocabularies that they are made of.
//!
//! The texts assert what the published ones do; they were written here, without the prose.

use std::sync::{Arc, LazyLock};

use crate::Limits;
use crate::json::{Document, Node};

/// A text with the URI that it is known by.
type Known = (&'static str, &'static str);

const METASCHEMAS: [Known; 10] = [
    ("https://json-schema.org/draft/2020-12/schema", include_str!("metaschema/2020-12.json")),
    ("https://json-schema.org/draft/2020-12/meta/core", include_str!("metaschema/2020-12-core.json")),
    (
        "https://json-schema.org/draft/2020-12/meta/applicator",
        include_str!("metaschema/2020-12-applicator.json"),
    ),
    (
        "https://json-schema.org/draft/2020-12/meta/unevaluated",
        include_str!("metaschema/2020-12-unevaluated.json"),
    ),
    (
        "https://json-schema.org/draft/2020-12/meta/validation",
        include_str!("metaschema/2020-12-validation.json"),
    ),
    (
        "https://json-schema.org/draft/2020-12/meta/meta-data",
        include_str!("metaschema/2020-12-meta-data.json"),
    ),
    (
        "https://json-schema.org/draft/2020-12/meta/format-annotation",
        include_str!("metaschema/2020-12-format-annotation.json"),
    ),
    (
        "https://json-schema.org/draft/2020-12/meta/format-assertion",
        include_str!("metaschema/2020-12-format-assertion.json"),
    ),
    ("https://json-schema.org/draft/2020-12/meta/content", include_str!("metaschema/2020-12-content.json")),
    ("http://json-schema.org/draft-07/schema", include_str!("metaschema/draft-07.json")),
];

static DOCUMENTS: LazyLock<Vec<Option<Arc<Document>>>> = LazyLock::new(|| {
    let limits = Limits::default().schema_text();
    METASCHEMAS.iter().map(|(_, text)| Document::read(text.as_bytes(), &limits).ok().map(Arc::new)).collect()
});

/// The metaschema of that URI.
pub(super) fn find(uri: &str) -> Option<&'static Arc<Document>> {
    let at = METASCHEMAS.iter().position(|(known, _)| *known == uri)?;
    DOCUMENTS.get(at)?.as_ref()
}

/// A set of vocabularies of 2020-12.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Vocabularies(u8);

const VOCABULARIES: [(&str, Vocabularies); 8] = [
    ("https://json-schema.org/draft/2020-12/vocab/core", Vocabularies::CORE),
    ("https://json-schema.org/draft/2020-12/vocab/applicator", Vocabularies::APPLICATOR),
    ("https://json-schema.org/draft/2020-12/vocab/unevaluated", Vocabularies::UNEVALUATED),
    ("https://json-schema.org/draft/2020-12/vocab/validation", Vocabularies::VALIDATION),
    ("https://json-schema.org/draft/2020-12/vocab/meta-data", Vocabularies::METADATA),
    ("https://json-schema.org/draft/2020-12/vocab/format-annotation", Vocabularies::FORMAT_ANNOTATION),
    ("https://json-schema.org/draft/2020-12/vocab/format-assertion", Vocabularies::FORMAT_ASSERTION),
    ("https://json-schema.org/draft/2020-12/vocab/content", Vocabularies::CONTENT),
];

impl Vocabularies {
    pub(crate) const CORE: Vocabularies = Vocabularies(1);
    pub(crate) const APPLICATOR: Vocabularies = Vocabularies(1 << 1);
    pub(crate) const UNEVALUATED: Vocabularies = Vocabularies(1 << 2);
    pub(crate) const VALIDATION: Vocabularies = Vocabularies(1 << 3);
    pub(crate) const METADATA: Vocabularies = Vocabularies(1 << 4);
    const FORMAT_ANNOTATION: Vocabularies = Vocabularies(1 << 5);
    pub(crate) const CONTENT: Vocabularies = Vocabularies(1 << 6);
    pub(crate) const FORMAT_ASSERTION: Vocabularies = Vocabularies(1 << 7);
    /// Either of the two that know `format`.
    pub(crate) const FORMAT: Vocabularies = Vocabularies(1 << 5 | 1 << 7);
    /// Those of the dialect itself: formats are annotations.
    pub(crate) const STANDARD: Vocabularies = Vocabularies(0b0111_1111);

    pub(crate) const fn has(self, other: Vocabularies) -> bool {
        self.0 & other.0 != 0
    }

    /// The vocabularies that a metaschema names; `Err` with the first required one that is not known here.
    ///
    /// Without `$vocabulary` they are those of the dialect (2020-12 core, section 8.1.2).
    pub(crate) fn of(metaschema: Node<'_>) -> Result<Vocabularies, String> {
        let Some(named) = metaschema.member("$vocabulary") else { return Ok(Vocabularies::STANDARD) };
        let mut found = Vocabularies::CORE;
        for member in named.members() {
            match VOCABULARIES.iter().find(|(uri, _)| member.name_is(uri)) {
                Some((_, vocabulary)) => found.0 |= vocabulary.0,
                None if member.value().as_bool() == Some(false) => {}
                None => return Err(member.name().into_owned()),
            }
        }
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Options, Program, Resource, Verdict};

    #[test]
    fn every_metaschema_is_read_and_describes_itself() {
        for (uri, text) in METASCHEMAS {
            assert!(find(uri).is_some(), "{uri}");
            let schema = format!("{{\"$ref\": \"{uri}\"}}");
            let program = Program::compile(schema.as_bytes(), &Options::value()).unwrap();
            let document = Document::read(text.as_bytes(), &Limits::default().schema_text()).unwrap();
            assert_eq!(program.check(document.root()), Verdict::Valid, "{uri}");
        }
    }

    #[test]
    fn a_vocabulary_that_is_required_and_unknown_is_refused() {
        let metaschema = |required: bool| Resource {
            uri: "https://example.test/meta".into(),
            text: format!(
                "{{\"$schema\": \"https://json-schema.org/draft/2020-12/schema\", \
                 \"$vocabulary\": {{\"https://example.test/vocab\": {required}}}}}"
            )
            .into_bytes()
            .into(),
        };
        let compile = |required| {
            let options = Options { resources: vec![metaschema(required)], ..Options::value() };
            Program::compile(br#"{"$schema": "https://example.test/meta"}"#, &options).map(|_| ())
        };
        assert!(compile(false).is_ok());
        assert_eq!(compile(true).unwrap_err().findings[0].code, crate::Code::SchemaDialect);
    }
}
