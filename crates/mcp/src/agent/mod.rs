//! Results of handlers as answers of the protocol, and answers of the protocol as results.
//!
//! | file | holds |
//! |---|---|
//! | `tool` | `tools/call` |
//! | `resource` | `resources/read` |
//! | `block` | one block of content, and the artifact that it is |
//!
//! Everything is there in two [forms](Form): one loses on the way what the other keeps.

mod block;
mod resource;
mod tool;

pub use resource::{ResourceError, read_resource, resource_contents, result_of_resource};
pub use tool::{result_of_tool, tool_result};

/// The key in `_meta` under which a success's own message travels.
pub const META_MESSAGE: &str = "dev.callgate.wire/message";
/// The key in a text block's `_meta` under which a media type other than plain text travels.
pub const META_MEDIA_TYPE: &str = "dev.callgate.wire/media-type";

/// How much is kept on the way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Form {
    /// Exactly the blocks that the contract names: messages of successes and media types of texts are lost, pictures
    /// given as text pass unseen, and what comes in as base64 stays a text.
    Plain,
    /// What can be kept is kept: messages and media types in `_meta`, base64 as bytes, structured content, the code of a
    /// failure. A picture given as text that is not base64 goes as an embedded text, since a client that looks would
    /// refuse the whole result.
    #[default]
    Faithful,
}

#[cfg(test)]
mod tests;
