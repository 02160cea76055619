//! What references can reach: resources, their anchors, and the texts that they stand in.
//!
//! A text is indexed when a reference first reaches it; what is never reached is not judged. Nothing is ever fetched.

mod index;
mod metaschema;
mod sources;
mod uri;

pub(crate) use index::{Index, Language, Place, ResourceId, may_hide_names};
pub(crate) use metaschema::Vocabularies;
pub use sources::Resource;
pub(crate) use sources::{DocumentId, Sources, Spot};
pub(crate) use uri::{BASE, Reference, is_reference, percent_decoded};
