//! How a connection begins: `server/discover` in the newer era, `initialize` in the older one; what the gate asks servers,
//! and what it answers clients.

use callgate_schema::json::{Kind, Node, Tape, write_string};

use super::era::{Era, ModernClient};
use crate::revision::{self, Revision};
use crate::{FrameLimits, rpc};

/// What a server says of itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hello {
    /// How it speaks.
    pub era: Era,
    /// What it can do, as received.
    pub capabilities: Box<str>,
    /// What it tells a model about its use.
    pub instructions: Option<String>,
}

/// Why a connection does not begin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HelloFault {
    /// The server answered with an error: its code and message.
    Refused(String),
    /// The server answered with an error that only the newer era has: it speaks that one, and this request did not fit.
    RefusedAsModern(String),
    /// The server speaks a revision that is not spoken here.
    Revision(String),
    /// The answer is another thing; says what was expected.
    Malformed(&'static str),
}

impl std::fmt::Display for HelloFault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            HelloFault::Refused(error) | HelloFault::RefusedAsModern(error) => {
                write!(f, "it refused: {error}")
            }
            HelloFault::Revision(date) => {
                write!(f, "it speaks the revision `{date}`, which is not spoken here")
            }
            HelloFault::Malformed(expected) => write!(f, "expected {expected} of it, found something else"),
        }
    }
}

impl Hello {
    /// Reads the answer to `server/discover`.
    ///
    /// # Errors
    /// [`HelloFault`]: then it may still be a server of the older era.
    pub fn discovered(frame: &[u8], limits: &FrameLimits) -> Result<Hello, HelloFault> {
        read(frame, limits, |result| {
            let versions = result
                .member("supportedVersions")
                .filter(|versions| versions.kind() == Kind::Array)
                .ok_or(HelloFault::Malformed("`supportedVersions` as an array"))?;
            let modern =
                versions.items().any(|version| version.as_str().as_deref() == Some(revision::MODERN));
            if modern { Ok(Era::Modern) } else { Err(HelloFault::Revision(versions.raw_str().to_owned())) }
        })
    }

    /// Reads the answer to `initialize`.
    ///
    /// # Errors
    /// [`HelloFault`].
    pub fn initialized(frame: &[u8], limits: &FrameLimits) -> Result<Hello, HelloFault> {
        read(frame, limits, |result| {
            let version = result
                .member("protocolVersion")
                .and_then(Node::as_str)
                .ok_or(HelloFault::Malformed("`protocolVersion` as a string"))?;
            revision::find(&version)
                .map(Era::Legacy)
                .ok_or_else(|| HelloFault::Revision(version.into_owned()))
        })
    }

    /// Whether it has this capability.
    pub fn has(&self, capability: &str) -> bool {
        let mut tape = Tape::new();
        let root = tape.read(self.capabilities.as_bytes(), &FrameLimits::default().frame_text());
        root.is_ok_and(|root| root.member(capability).is_some())
    }

    /// Whether it has this capability and tells when the list of it changes.
    pub fn tells_changes(&self, capability: &str) -> bool {
        self.tells(capability, "listChanged")
    }

    /// Whether it has this capability with this member: `listChanged`, or `subscribe`.
    pub fn tells(&self, capability: &str, member: &str) -> bool {
        let mut tape = Tape::new();
        let root = tape.read(self.capabilities.as_bytes(), &FrameLimits::default().frame_text());
        let told = root.ok().and_then(|root| root.member(capability)?.member(member)?.as_bool());
        told == Some(true)
    }
}

fn read(
    frame: &[u8],
    limits: &FrameLimits,
    era: impl Fn(Node<'_>) -> Result<Era, HelloFault>,
) -> Result<Hello, HelloFault> {
    let mut tape = Tape::new();
    let root = tape
        .read(frame, &limits.frame_text())
        .map_err(|_| HelloFault::Malformed("an answer that can be read"))?;
    if let Some(error) = root.member("error") {
        let text = error.raw_str().chars().take(200).collect();
        let fault = if is_of_modern(error) { HelloFault::RefusedAsModern } else { HelloFault::Refused };
        return Err(fault(text));
    }
    let result = root
        .member("result")
        .filter(|result| result.kind() == Kind::Object)
        .ok_or(HelloFault::Malformed("a result, which is an object,"))?;
    let era = era(result)?;
    let capabilities = result.member("capabilities").filter(|node| node.kind() == Kind::Object);
    Ok(Hello {
        era,
        capabilities: capabilities.map_or("{}", Node::raw_str).into(),
        instructions: result.member("instructions").and_then(Node::as_str).map(std::borrow::Cow::into_owned),
    })
}

/// Whether an error shows that its server speaks the newer era.
///
/// SPEC: 2026-07-28, basic/versioning: an error of another revision does, if this one is among those that it names.
fn is_of_modern(error: Node<'_>) -> bool {
    match error.member("code").and_then(|code| code.raw_str().parse().ok()) {
        Some(rpc::HEADER_MISMATCH | rpc::MISSING_CAPABILITY) => true,
        Some(rpc::UNSUPPORTED_VERSION) => error
            .pointer("/data/supported")
            .filter(|supported| supported.kind() == Kind::Array)
            .is_some_and(|supported| {
                supported.items().any(|version| version.as_str().as_deref() == Some(revision::MODERN))
            }),
        _ => false,
    }
}

/// A request of the gate's own to a server of this era. `members` are further members of `params`, without braces; `id` is
/// JSON text.
pub fn own_request(id: &str, method: &str, era: Era, client: &ModernClient, members: &str) -> Vec<u8> {
    let mut out = format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"{method}\"").into_bytes();
    let meta = match era {
        Era::Modern => [b"\"_meta\":{".as_slice(), &client.members(), b"}"].concat(),
        Era::Legacy(_) => Vec::new(),
    };
    if !meta.is_empty() || !members.is_empty() {
        out.extend_from_slice(b",\"params\":{");
        out.extend_from_slice(&meta);
        if !meta.is_empty() && !members.is_empty() {
            out.push(b',');
        }
        out.extend_from_slice(members.as_bytes());
        out.push(b'}');
    }
    out.push(b'}');
    out
}

/// `server/discover`.
pub fn discover_request(id: &str, client: &ModernClient) -> Vec<u8> {
    own_request(id, "server/discover", Era::Modern, client, "")
}

/// `initialize`, by the newest revision that has it.
pub fn initialize_request(id: &str, client: &ModernClient) -> Vec<u8> {
    let newest = revision::ALL.first().map_or("", |revision| revision.date);
    let info = client.info.as_deref().unwrap_or("{}");
    let members = format!(
        "\"protocolVersion\":\"{newest}\",\"capabilities\":{},\"clientInfo\":{info}",
        client.capabilities
    );
    // Any revision with a session will do: none of them has anything in `_meta` here.
    own_request(
        id,
        "initialize",
        revision::ALL.first().map_or(Era::Modern, |r| Era::Legacy(r)),
        client,
        &members,
    )
}

/// What the gate says of itself to its clients.
#[derive(Debug, Clone, Copy)]
pub struct Welcome<'a> {
    /// The version of the program.
    pub version: &'a str,
    /// What it can do, as JSON text.
    pub capabilities: &'a str,
    /// What a model is told about the use of the servers behind it.
    pub instructions: Option<&'a str>,
}

impl Welcome<'_> {
    /// The result of `server/discover` over standard input and output.
    pub fn discovered(&self) -> Vec<u8> {
        self.discovered_with(|_| true)
    }

    /// The result of `server/discover` over HTTP.
    pub fn discovered_over_http(&self) -> Vec<u8> {
        self.discovered_with(|revision| revision.over_http)
    }

    fn discovered_with(&self, is_spoken: impl Fn(&Revision) -> bool) -> Vec<u8> {
        let spoken = revision::ALL.iter().filter(|revision| is_spoken(revision));
        let dates = spoken.map(|revision| revision.date);
        let versions: Vec<String> =
            std::iter::once(revision::MODERN).chain(dates).map(|date| format!("\"{date}\"")).collect();
        let versions = versions.join(",");
        let mut out = format!(
            "{{\"resultType\":\"complete\",\"supportedVersions\":[{versions}],\"capabilities\":{},\"ttlMs\":0,\
             \"cacheScope\":\"private\",\"_meta\":{{\"io.modelcontextprotocol/serverInfo\":{}}}",
            self.capabilities,
            self.info()
        )
        .into_bytes();
        self.instruct(&mut out);
        out.push(b'}');
        out
    }

    /// The result of `initialize` in a session of this revision.
    pub fn initialized(&self, revision: &str) -> Vec<u8> {
        let mut out = format!(
            "{{\"protocolVersion\":\"{revision}\",\"capabilities\":{},\"serverInfo\":{}",
            self.capabilities,
            self.info()
        )
        .into_bytes();
        self.instruct(&mut out);
        out.push(b'}');
        out
    }

    fn info(&self) -> String {
        format!("{{\"name\":\"callgate\",\"title\":\"Callgate\",\"version\":\"{}\"}}", self.version)
    }

    fn instruct(&self, out: &mut Vec<u8>) {
        if let Some(instructions) = self.instructions {
            out.extend_from_slice(b",\"instructions\":");
            write_string(out, instructions);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_says_how_it_speaks() {
        let limits = FrameLimits::default();
        let hello = |frame: &str| Hello::discovered(frame.as_bytes(), &limits);
        let modern =
            hello(r#"{"id":1,"result":{"supportedVersions":["2026-07-28"],"capabilities":{"tools":{}}}}"#);
        let modern = modern.unwrap();
        assert_eq!((modern.era, modern.has("tools"), modern.has("prompts")), (Era::Modern, true, false));
        let tells = hello(
            r#"{"id":1,"result":{"supportedVersions":["2026-07-28"],"capabilities":{"tools":{"listChanged":true},"prompts":{}}}}"#,
        );
        let tells = tells.unwrap();
        assert_eq!((tells.tells_changes("tools"), tells.tells_changes("prompts")), (true, false));
        assert!(matches!(hello(r#"{"id":1,"error":{"code":-32601}}"#), Err(HelloFault::Refused(_))));
        let refused = |data: &str| hello(&format!(r#"{{"id":1,"error":{{"code":-32022,"data":{data}}}}}"#));
        assert!(matches!(refused(r#"{"supported":["2026-07-28"]}"#), Err(HelloFault::RefusedAsModern(_))));
        assert!(matches!(refused(r#"{"supported":["2025-11-25"]}"#), Err(HelloFault::Refused(_))));
        assert!(matches!(refused("7"), Err(HelloFault::Refused(_))));
        assert!(matches!(
            hello(r#"{"id":1,"result":{"supportedVersions":["1"]}}"#),
            Err(HelloFault::Revision(_))
        ));
        for other in ["", "[]", r#"{"id":1,"result":{}}"#, r#"{"id":1,"result":[]}"#] {
            assert!(matches!(hello(other), Err(HelloFault::Malformed(_))), "{other}");
        }
        let legacy =
            Hello::initialized(br#"{"id":1,"result":{"protocolVersion":"2025-06-18"}}"#, &limits).unwrap();
        assert_eq!(legacy.era.revision(), "2025-06-18");
    }

    #[test]
    fn what_the_gate_says_first_can_be_read() {
        let client =
            ModernClient::of_session("{\"elicitation\":{}}", Some("{\"name\":\"c\",\"version\":\"1\"}"));
        let welcome = Welcome { version: "1", capabilities: "{}", instructions: Some("a\"b") };
        for frame in [
            discover_request("1", &client),
            initialize_request("1", &client),
            own_request("1", "tools/list", Era::Modern, &client, "\"cursor\":\"a\""),
            welcome.discovered(),
            welcome.discovered_over_http(),
            welcome.initialized("2025-06-18"),
        ] {
            let mut tape = Tape::new();
            assert!(tape.read(&frame, &FrameLimits::default().frame_text()).is_ok(), "{frame:?}");
        }
    }

    #[test]
    fn over_http_the_revision_with_another_transport_is_not_named() {
        let welcome = Welcome { version: "1", capabilities: "{}", instructions: None };
        let over_http = String::from_utf8(welcome.discovered_over_http()).unwrap();
        let over_lines = String::from_utf8(welcome.discovered()).unwrap();
        let all = r#"["2026-07-28","2025-11-25","2025-06-18","2025-03-26","2024-11-05"]"#;
        assert!(over_lines.contains(all), "{over_lines}");
        assert!(over_http.contains(&all.replace(",\"2024-11-05\"", "")), "{over_http}");
    }
}
