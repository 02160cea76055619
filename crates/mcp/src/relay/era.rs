//! The two eras of the protocol. The older revisions begin with `initialize` and keep a session; the newer one says with
//! every request what is needed to answer it.

use callgate_schema::json::{Kind, Node, Tape};

use crate::FrameLimits;
use crate::revision::{self, Revision};

/// What the names of the protocol's own members of `_meta` begin with.
pub const META_PREFIX: &str = "io.modelcontextprotocol/";
/// The member of `_meta` that names the revision.
pub const PROTOCOL_VERSION: &str = "io.modelcontextprotocol/protocolVersion";
/// The member of `_meta` that says what the client can do.
pub const CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
/// The member of `_meta` that says what the client is.
pub const CLIENT_INFO: &str = "io.modelcontextprotocol/clientInfo";

/// How a peer speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Era {
    /// Each request for itself.
    Modern,
    /// In a session of this revision.
    Legacy(&'static Revision),
}

impl Era {
    /// The revision on the wire.
    pub fn revision(self) -> &'static str {
        match self {
            Era::Modern => revision::MODERN,
            Era::Legacy(revision) => revision.date,
        }
    }
}

/// What a request of the newer era says of its client; JSON texts, as received.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModernClient {
    /// What the client can do.
    pub capabilities: Box<str>,
    /// What it is; self-reported, and decides nothing.
    pub info: Option<Box<str>>,
}

/// Why a request of the newer era is not served.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ModernFault {
    /// A member of `_meta` is not there or of another kind; says what was expected.
    Malformed(&'static str),
    /// Its revision is not spoken here.
    Version(String),
}

impl ModernClient {
    /// Reads a request's `params`; `None` if it is none of the newer era: it names no revision.
    ///
    /// # Errors
    /// [`ModernFault`].
    pub fn read(params: Option<Node<'_>>) -> Result<Option<ModernClient>, ModernFault> {
        let meta = params.and_then(|params| params.member("_meta"));
        let Some(version) = meta.and_then(|meta| meta.member(PROTOCOL_VERSION)) else { return Ok(None) };
        let Some(version) = version.as_str() else {
            return Err(ModernFault::Malformed("the revision in `_meta` as a string"));
        };
        if version != revision::MODERN {
            return Err(ModernFault::Version(version.into_owned()));
        }
        let object =
            |name| meta.and_then(|meta| meta.member(name)).filter(|node| node.kind() == Kind::Object);
        let Some(capabilities) = object(CAPABILITIES) else {
            return Err(ModernFault::Malformed("the client's capabilities in `_meta` as an object"));
        };
        let info = object(CLIENT_INFO).map(|info| info.raw_str().into());
        Ok(Some(ModernClient { capabilities: capabilities.raw_str().into(), info }))
    }

    /// A client of the older era, as a server of the newer one gets to know it.
    pub fn of_session(capabilities: &str, info: Option<&str>) -> ModernClient {
        ModernClient { capabilities: capabilities.into(), info: info.map(Into::into) }
    }

    /// Whether it can do this.
    pub fn has(&self, capability: &str) -> bool {
        let mut tape = Tape::new();
        let root = tape.read(self.capabilities.as_bytes(), &FrameLimits::default().frame_text());
        root.is_ok_and(|root| root.member(capability).is_some_and(|node| node.kind() == Kind::Object))
    }

    /// The members of `_meta`, without braces.
    pub(super) fn members(&self) -> Vec<u8> {
        let info = self.info.as_ref().map(|info| format!(",\"{CLIENT_INFO}\":{info}")).unwrap_or_default();
        format!(
            "\"{PROTOCOL_VERSION}\":\"{}\",\"{CAPABILITIES}\":{}{info}",
            revision::MODERN,
            self.capabilities
        )
        .into_bytes()
    }
}
