//! What a client of a tool server says and hears that wants its list of tools and nothing else.

use callgate_schema::json::{Kind, Tape, write_string};

use crate::list::PageFault;
use crate::{FrameLimits, reserved, revision};

/// The notification after a session has begun.
pub const INITIALIZED: &[u8] = b"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}";

/// The request that begins a session; `version` is that of this program.
pub fn initialize(id: &str, version: &str) -> Vec<u8> {
    let newest = revision::ALL.first().map_or("", |revision| revision.date);
    let mut out = b"{\"jsonrpc\":\"2.0\",\"id\":".to_vec();
    write_string(&mut out, id);
    out.extend_from_slice(b",\"method\":\"initialize\",\"params\":{\"protocolVersion\":");
    write_string(&mut out, newest);
    out.extend_from_slice(b",\"capabilities\":{},\"clientInfo\":{\"name\":\"callgate\",\"version\":");
    write_string(&mut out, version);
    out.extend_from_slice(b"}}}");
    out
}

/// A call of a tool, with the key by which a gate knows it again. `arguments` is JSON text.
pub fn call(id: &str, tool: &str, arguments: &[u8], key: Option<&str>) -> Vec<u8> {
    let mut out = b"{\"jsonrpc\":\"2.0\",\"id\":".to_vec();
    write_string(&mut out, id);
    out.extend_from_slice(b",\"method\":\"tools/call\",\"params\":{\"name\":");
    write_string(&mut out, tool);
    out.extend_from_slice(b",\"arguments\":");
    out.extend_from_slice(arguments);
    if let Some(key) = key {
        out.extend_from_slice(b",\"_meta\":{");
        write_string(&mut out, reserved::KEY);
        out.push(b':');
        write_string(&mut out, key);
        out.push(b'}');
    }
    out.extend_from_slice(b"}}");
    out
}

/// What a tool server answers to `initialize`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Welcome {
    /// The revision of the session.
    pub revision: &'static str,
    /// What the server says of itself: JSON text, as received.
    pub server: Option<Box<str>>,
}

/// Why a session did not begin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WelcomeFault {
    /// As of a page: the server refused, or answered something else.
    Answer(PageFault),
    /// The server speaks a revision that is not spoken here.
    Revision(String),
}

impl Welcome {
    /// Reads the answer to `initialize`.
    ///
    /// # Errors
    /// [`WelcomeFault`].
    pub fn read(frame: &[u8], limits: &FrameLimits) -> Result<Welcome, WelcomeFault> {
        let malformed = |expected| WelcomeFault::Answer(PageFault::Malformed(expected));
        let mut tape = Tape::new();
        let root =
            tape.read(frame, &limits.frame_text()).map_err(|_| malformed("an answer that can be read"))?;
        if let Some(error) = root.member("error") {
            return Err(WelcomeFault::Answer(PageFault::Refused(error.raw_str().into())));
        }
        let result = root.member("result").ok_or(malformed("a member `result`"))?;
        let version = result.member("protocolVersion").and_then(callgate_schema::json::Node::as_str);
        let version = version.ok_or(malformed("a `protocolVersion` in `result`"))?;
        let server = result.member("serverInfo").filter(|server| server.kind() == Kind::Object);
        match revision::find(&version) {
            None => Err(WelcomeFault::Revision(version.into_owned())),
            Some(revision) => {
                Ok(Welcome { revision: revision.date, server: server.map(|server| server.raw_str().into()) })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_begins_with_a_revision_that_is_spoken_here() {
        let read = |frame: &str| Welcome::read(frame.as_bytes(), &FrameLimits::default());
        let welcome =
            read(r#"{"id":1,"result":{"protocolVersion":"2025-06-18","serverInfo":{"name": "x"}}}"#).unwrap();
        assert_eq!((welcome.revision, welcome.server.as_deref()), ("2025-06-18", Some(r#"{"name": "x"}"#)));
        assert_eq!(
            read(r#"{"id":1,"result":{"protocolVersion":"1999-01-01"}}"#),
            Err(WelcomeFault::Revision("1999-01-01".into()))
        );
        let refused = Err(WelcomeFault::Answer(PageFault::Refused(r#"{"code":-1}"#.into())));
        assert_eq!(read(r#"{"id":1,"error":{"code":-1}}"#), refused);
        for other in ["", "[]", "{}", r#"{"result":{}}"#] {
            assert!(matches!(read(other), Err(WelcomeFault::Answer(PageFault::Malformed(_)))), "{other}");
        }
    }

    #[test]
    fn what_is_said_first_is_json() {
        let mut tape = Tape::new();
        let frame = initialize("a\"b", "1");
        let root = tape.read(&frame, &FrameLimits::default().frame_text()).unwrap();
        let version = root.pointer("/params/protocolVersion").unwrap();
        assert_eq!(version.as_str().as_deref(), Some("2025-11-25"));
    }
}
