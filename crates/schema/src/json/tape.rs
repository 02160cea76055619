//! What holds a text that was read: scratch for one reading after the other, and a document that owns its text.

use std::fmt;

use super::fault::{ReadFault, ReadLimits};
use super::node::{Node, NodeId};
use super::reader::{Scratch, read};
use super::token::Token;

/// Scratch that reading fills; used again and again, it allocates nothing once warm.
///
/// ```
/// use callgate_schema::{Limits, json::Tape};
/// let mut tape = Tape::new();
/// let value = tape.read(br#"{"a": [1, 2]}"#, &Limits::default().arguments_text()).unwrap();
/// assert_eq!(value.member("a").unwrap().len(), 2);
/// ```
#[derive(Debug, Clone, Default)]
pub struct Tape {
    scratch: Scratch,
}

impl Tape {
    /// Scratch that has read nothing yet.
    pub fn new() -> Self {
        Tape::default()
    }

    /// Bytes that the scratch takes.
    pub fn bytes(&self) -> usize {
        self.scratch.bytes()
    }

    /// Reads one text.
    ///
    /// One pass and, but for repeated names that are many and collide, linear. White space may stand around the value,
    /// nothing else; a byte order mark is no white space. Memory: sixteen bytes a value and thirty-two a name, and the
    /// scratch keeps the largest size it had. Whatever the limits say, a text has less than 2^30 bytes and fewer than
    /// 2^24 values.
    ///
    /// # Errors
    /// [`ReadFault`] if it is not JSON, or not JSON that everybody reads alike, or over a limit.
    pub fn read<'t>(&'t mut self, text: &'t [u8], limits: &ReadLimits) -> Result<Node<'t>, ReadFault> {
        let entries = read(&mut self.scratch, text, limits)?;
        Ok(Node::root(self.scratch.tokens.get(..entries).unwrap_or_default(), text))
    }
}

/// A text with its tape, owned.
#[derive(Clone)]
pub struct Document {
    text: Box<[u8]>,
    tokens: Box<[Token]>,
}

impl Document {
    /// Reads one text, as [`Tape::read`] does.
    ///
    /// # Errors
    /// Those of [`Tape::read`].
    pub fn read(text: impl Into<Box<[u8]>>, limits: &ReadLimits) -> Result<Document, ReadFault> {
        let text = text.into();
        let mut scratch = Scratch::default();
        let entries = read(&mut scratch, &text, limits)?;
        scratch.tokens.truncate(entries);
        Ok(Document { text, tokens: scratch.tokens.into_boxed_slice() })
    }

    /// The whole value.
    pub fn root(&self) -> Node<'_> {
        Node::root(&self.tokens, &self.text)
    }

    /// Bytes that it takes.
    pub(crate) fn bytes(&self) -> usize {
        self.text.len() + size_of_val(&*self.tokens)
    }

    /// The value that had this id in this document's tree; of an id from elsewhere, any value.
    pub fn node(&self, id: NodeId) -> Node<'_> {
        self.root().at(id)
    }

    /// The text that was read, without its tape.
    pub fn into_text(self) -> Box<[u8]> {
        self.text
    }

    /// The text that was read.
    pub fn text(&self) -> &[u8] {
        &self.text
    }
}

/// Says how long it is: a text may be large, and secret.
impl fmt::Debug for Document {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Document({} bytes)", self.text.len())
    }
}
