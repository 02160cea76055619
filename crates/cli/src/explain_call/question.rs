//! The file of a call, read strictly: what the gate would refuse to read is refused here.

use callgate_gateway::policy::Claims;
use callgate_schema::Limits;
use callgate_schema::json::{Document, Kind, Node, ReadLimits};
use callgate_wire::{Principal, Timestamp};

use crate::policy::members;

/// What the file may have.
const MEMBERS: &[&str] =
    &["upstream", "tools", "definition", "principal", "claims", "run", "tool", "arguments", "now"];

/// A call, with what is needed to judge it.
pub(super) struct CallFile {
    pub(super) upstream: String,
    pub(super) definitions: Vec<Vec<u8>>,
    pub(super) principal: Principal,
    pub(super) claims: Option<Claims>,
    pub(super) run: Option<String>,
    pub(super) tool: String,
    pub(super) arguments: Vec<u8>,
    pub(super) now: Timestamp,
}

impl CallFile {
    pub(super) fn read(content: &[u8]) -> Result<CallFile, String> {
        let limits = ReadLimits {
            subject: "file",
            bytes_max: super::FILE_BYTES_MAX,
            depth_max: 300,
            nodes_max: 8_000_000,
            ..Limits::default().arguments_text()
        };
        let document = Document::read(content, &limits).map_err(|fault| fault.finding().message)?;
        let root = document.root();
        members(root, MEMBERS, "the call")?;
        let text = |name: &str| text(root, name);
        let definitions = match (root.member("tools"), root.member("definition")) {
            (Some(tools), None) if tools.kind() == Kind::Array => {
                tools.items().map(|tool| tool.raw().to_vec()).collect()
            }
            (None, Some(definition)) => vec![definition.raw().to_vec()],
            (Some(_), None) => return Err("expected `tools` to be an array".to_owned()),
            (Some(_), Some(_)) => {
                return Err("expected one of `tools` and `definition`, found both".to_owned());
            }
            (None, None) => return Err("expected `tools` or `definition`, found neither".to_owned()),
        };
        let now = match text("now")? {
            None => callgate_server::now(),
            Some(text) => {
                let time: jiff::Timestamp = text.parse().map_err(|_| {
                    "expected `now` to be a time by RFC 3339, such as 2026-03-01T12:00:00Z".to_owned()
                })?;
                Timestamp(time.as_millisecond())
            }
        };
        let claims = root.member("claims").map(|claims| Claims::read(claims.raw())).transpose();
        Ok(CallFile {
            upstream: text("upstream")?.unwrap_or_else(|| "upstream".to_owned()),
            definitions,
            principal: Principal::from_stored(text("principal")?.unwrap_or_else(|| "local:user".to_owned())),
            claims: claims.map_err(|finding| finding.message)?,
            run: text("run")?,
            tool: text("tool")?.ok_or("expected `tool`, found none")?,
            arguments: root.member("arguments").map_or(&b"{}"[..], Node::raw).to_vec(),
            now,
        })
    }
}

fn text(object: Node<'_>, name: &str) -> Result<Option<String>, String> {
    match object.member(name) {
        None => Ok(None),
        Some(node) => match node.as_str() {
            Some(text) => Ok(Some(text.into_owned())),
            None => Err(format!("expected `{name}` to be a string, found {}", node.kind().name())),
        },
    }
}
