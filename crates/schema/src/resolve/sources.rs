//! The texts of one compilation: the schema, the resources that came with it, the metaschemas.

use std::collections::HashMap;
use std::sync::Arc;

use crate::Limits;
use crate::json::{Document, NodeId, ReadFault};
use crate::resolve::metaschema;
use crate::resolve::uri::without_fragment;

/// A schema that the caller gives for references to reach, by its URI.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resource {
    /// An absolute URI; an empty fragment is taken off.
    pub uri: String,
    /// JSON text. It is read when a reference reaches it.
    pub text: Box<[u8]>,
}

/// Which text of a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct DocumentId(pub(crate) u32);

/// A value in one of the texts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Spot {
    pub(crate) document: DocumentId,
    pub(crate) node: NodeId,
}

/// The texts, read beforehand so that all of a compilation can borrow from them.
pub(crate) struct Sources {
    pub(crate) main: Arc<Document>,
    given: HashMap<String, Result<Arc<Document>, ReadFault>>,
}

impl Sources {
    pub(crate) fn new(main: Document, resources: &[Resource], limits: &Limits) -> Self {
        let read =
            |resource: &Resource| Document::read(resource.text.clone(), &limits.schema_text()).map(Arc::new);
        let given = resources
            .iter()
            .map(|resource| (without_fragment(&resource.uri).to_owned(), read(resource)))
            .collect();
        Sources { main: Arc::new(main), given }
    }

    /// The text that a URI names, or why it cannot be read.
    pub(crate) fn find(&self, uri: &str) -> Option<Result<&Arc<Document>, &ReadFault>> {
        match self.given.get(uri) {
            Some(found) => Some(found.as_ref()),
            None => metaschema::find(uri).map(Ok),
        }
    }
}
