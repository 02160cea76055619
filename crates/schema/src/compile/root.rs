//! The rules of the root: its dialect and, for a tool, its type.

use crate::compile::{Compiler, Root};
use crate::dialect::Profile;
use crate::json::{Kind, Node};
use crate::resolve::{BASE, DocumentId};
use crate::{Code, Finding};

impl Compiler<'_> {
    /// Compiles the root and everything below it; `false` if nothing more can be said of the schema.
    pub(crate) fn root(&mut self) -> bool {
        let root = self.sources.main.root();
        if self.options.root == Root::Tool && root.kind() != Kind::Object {
            self.fault(
                Finding::new(
                    Code::SchemaShape,
                    format!("expected an object as a tool's schema, found {}", crate::types::found(root)),
                )
                .at_schema("", "")
                .at_offset(root.span().start),
            );
            return false;
        }
        if !self.root_dialect(root) {
            return false;
        }
        let resource = self.index_document(DocumentId(0), BASE);
        self.scope.resource = resource;
        if let Some(entry) = self.index.entry(resource) {
            self.scope.language = entry.language;
        }
        if self.options.root == Root::Tool {
            self.root_type(root);
        }
        self.subschema_at(root, String::new(), "");
        true
    }

    /// Whether the dialect is one that is enforced.
    fn root_dialect(&mut self, root: Node<'_>) -> bool {
        if self.options.profile == Profile::Portable {
            return true;
        }
        let Some(uri) = root.member("$schema").and_then(Node::as_str) else { return true };
        if let Err(unknown) = self.language(&uri) {
            self.other_dialect(root, "", &unknown);
        }
        self.findings.is_empty()
    }

    /// A `$schema` that names a dialect which is not enforced.
    pub(crate) fn other_dialect(&mut self, schema: Node<'_>, location: &str, uri: &str) {
        let finding = Finding::new(
            Code::SchemaDialect,
            format!("expected a schema of 2020-12 or draft-07, found `{uri}`"),
        )
        .with_help("rewrite the schema for `https://json-schema.org/draft/2020-12/schema`")
        .at_schema("$schema", format!("{location}/$schema"));
        let offset = schema.member("$schema").map_or(0, |value| value.span().start);
        self.fault(finding.at_offset(offset));
    }

    /// A tool's arguments are an object, so its root says so or says nothing.
    fn root_type(&mut self, root: Node<'_>) {
        let Some(written) = root.member("type") else { return };
        let object = |node: Node<'_>| node.as_str().as_deref() == Some("object");
        let fine = match written.kind() {
            Kind::String => object(written),
            Kind::Array => written.len() == 1 && written.items().all(object),
            _ => false,
        };
        // A malformed `type` is left to the keyword itself, which says what is wrong with it.
        if fine || !crate::keywords::type_::is_well_formed(written) {
            return;
        }
        self.fault(
            Finding::new(
                Code::SchemaRoot,
                "expected `\"type\": \"object\"` at the root of a tool's schema, found another",
            )
            .with_help("a tool's arguments are an object: describe other values as a property of it")
            .at_schema("type", "/type")
            .at_offset(written.span().start),
        );
    }
}
