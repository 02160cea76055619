//! Where the walk is: in which text, in which resource, and so in which dialect.

use std::sync::Arc;

use crate::compile::Compiler;
use crate::dialect::Dialect;
use crate::json::{Document, Node};
use crate::program::{Block, BlockId};
use crate::resolve::{DocumentId, Language, Place, ResourceId, Spot, Vocabularies, may_hide_names};

/// Where the walk is.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Scope {
    pub(crate) document: DocumentId,
    pub(crate) resource: ResourceId,
    pub(crate) language: Language,
}

impl Scope {
    pub(crate) const fn of(dialect: Dialect) -> Self {
        let language = Language { dialect, vocabularies: Vocabularies::STANDARD };
        Scope { document: DocumentId(0), resource: ResourceId(0), language }
    }
}

impl<'a> Compiler<'a> {
    pub(crate) const fn dialect(&self) -> Dialect {
        self.scope.language.dialect
    }

    /// A value of the text at hand, as programs name it.
    pub(crate) fn spot(&self, node: Node<'_>) -> Spot {
        Spot { document: self.scope.document, node: node.id() }
    }

    pub(crate) fn node(&self, spot: Spot) -> Option<Node<'a>> {
        self.documents.get(spot.document.0 as usize).map(|document| document.node(spot.node))
    }

    /// Goes to a place.
    pub(crate) fn enter(&mut self, place: &Place) {
        self.scope.document = place.spot.document;
        self.scope.resource = place.resource;
        if let Some(entry) = self.index.entry(place.resource) {
            self.scope.language = entry.language;
        }
    }

    /// Whether some text reached so far may ask what is evaluated. A name in a value counts too, which does no harm.
    pub(crate) const fn has_unevaluated(&self) -> bool {
        self.has_unevaluated
    }

    /// Indexes a text; gives the resource of its root.
    pub(crate) fn add_document(&mut self, document: &'a Arc<Document>, uri: &str) -> ResourceId {
        let id = DocumentId(super::walk::index(self.documents.len()));
        self.documents.push(document);
        self.index_document(id, uri)
    }

    pub(crate) fn index_document(&mut self, id: DocumentId, uri: &str) -> ResourceId {
        let Some(document) = self.documents.get(id.0 as usize).copied() else { return ResourceId(0) };
        self.has_unevaluated |= may_hide_names(document.text())
            || memchr::memmem::find(document.text(), b"unevaluated").is_some();
        let root = document.root();
        let named = root.member("$schema").and_then(Node::as_str);
        let default = Scope::of(self.options.dialect).language;
        let language = named.and_then(|uri| self.language(&uri).ok()).unwrap_or(default);
        // The names of metaschemas are looked up beforehand, since the index is borrowed while it grows.
        let mut index = std::mem::take(&mut self.index);
        let resource =
            index.add(id, root, uri, self.options.profile, language, &mut |uri| self.language(uri).ok());
        self.index = index;
        resource
    }

    /// What a `$schema` says of the keywords; `Err` with what is not known here.
    pub(crate) fn language(&self, uri: &str) -> Result<Language, String> {
        if let Some(dialect) = Dialect::from_uri(uri) {
            return Ok(Scope::of(dialect).language);
        }
        let Some(Ok(metaschema)) = self.sources.find(uri.strip_suffix('#').unwrap_or(uri)) else {
            return Err(uri.to_owned());
        };
        let root = metaschema.root();
        let named = root.member("$schema").and_then(Node::as_str);
        let dialect = named.map_or(Some(self.options.dialect), |uri| Dialect::from_uri(&uri));
        Ok(Language {
            dialect: dialect.ok_or_else(|| uri.to_owned())?,
            vocabularies: Vocabularies::of(root)?,
        })
    }

    /// The block of a subschema, made when it is first asked for.
    pub(crate) fn block_of(&mut self, spot: Spot) -> BlockId {
        let next = BlockId(super::walk::index(self.blocks.len()));
        let id = self.spots.block_or(spot, next);
        if id == next {
            let resource = self.scope.resource;
            self.blocks.push(Block { location: "".into(), resource, first: 0, end: u32::MAX, tracks: false });
        }
        id
    }

    /// Whether the block's instructions are there. A block that is only pointed to has no end yet.
    pub(crate) fn is_compiled(&self, block: BlockId) -> bool {
        self.blocks.get(block.0 as usize).is_some_and(|block| block.end != u32::MAX)
    }
}
