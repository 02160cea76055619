//! Artifacts: text or bytes with a media type.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

/// The media type of a text that names none.
pub const TEXT_PLAIN: &str = "text/plain";

/// What a success brings beside its data: a text or bytes, with their media type. Bytes always have one.
///
/// ```
/// use callgate_wire::Artifact;
/// assert_eq!(Artifact::text("hi").media_type(), "text/plain");
/// let image = Artifact::bytes("image/png", [0x89, b'P']);
/// assert_eq!((image.as_text(), image.to_base64().as_deref()), (None, Some("iVA=")));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Artifact {
    media_type: String,
    content: Content,
}

/// What an artifact holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Content {
    /// A text.
    Text(String),
    /// Bytes, which JSON carries in base64.
    Bytes(Vec<u8>),
}

impl Artifact {
    /// A plain text.
    pub fn text(text: impl Into<String>) -> Artifact {
        Artifact::text_as(TEXT_PLAIN, text)
    }

    /// A text of a media type.
    pub fn text_as(media_type: impl Into<String>, text: impl Into<String>) -> Artifact {
        Artifact { media_type: media_type.into(), content: Content::Text(text.into()) }
    }

    /// Bytes of a media type.
    pub fn bytes(media_type: impl Into<String>, bytes: impl Into<Vec<u8>>) -> Artifact {
        Artifact { media_type: media_type.into(), content: Content::Bytes(bytes.into()) }
    }

    /// Bytes in base64 (RFC 4648, section 4, with padding); `None` if the text is not that.
    pub fn base64(media_type: impl Into<String>, text: &str) -> Option<Artifact> {
        Some(Artifact::bytes(media_type, STANDARD.decode(text).ok()?))
    }

    /// The media type as it was given.
    pub fn media_type(&self) -> &str {
        &self.media_type
    }

    /// Text or bytes.
    pub const fn content(&self) -> &Content {
        &self.content
    }

    /// The text, if it is one.
    pub fn as_text(&self) -> Option<&str> {
        match &self.content {
            Content::Text(text) => Some(text),
            Content::Bytes(_) => None,
        }
    }

    /// The bytes, if it is bytes.
    pub fn as_bytes(&self) -> Option<&[u8]> {
        match &self.content {
            Content::Text(_) => None,
            Content::Bytes(bytes) => Some(bytes),
        }
    }

    /// The bytes in base64, if it is bytes.
    pub fn to_base64(&self) -> Option<String> {
        self.as_bytes().map(|bytes| STANDARD.encode(bytes))
    }

    /// Whether the media type begins so, letter case aside: `image/` of `IMAGE/png`.
    pub fn is_a(&self, prefix: &str) -> bool {
        self.media_type
            .as_bytes()
            .get(..prefix.len())
            .is_some_and(|head| head.eq_ignore_ascii_case(prefix.as_bytes()))
    }
}
