//! What a client's frame leads to, whatever transport it came by.

use std::sync::Arc;

use callgate_gateway::Refusal;
use callgate_mcp::frame::{ClientFrame, Faulty, Recipient};
use callgate_mcp::relay::{Era, Inward, ListKind, ResultKind, Welcome, merged, named, own_answer};
use callgate_mcp::{RequestId, answer, error_map, rpc};
use callgate_schema::json::Tape;
use callgate_wire::Code;

use super::client::{Client, Talk};
use super::followed::NotFollowed;
use super::gate::Gate;
use super::http::param;

/// How long a client may keep a list of tools, in milliseconds. It is told of changes if it listens.
const LIST_TTL_MS: u64 = 60_000;

/// What a transport answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Response {
    /// This frame.
    Frame(Vec<u8>),
    /// An error of the protocol with this code of JSON-RPC, by which a transport may choose its status.
    Error(i64, Vec<u8>),
    /// Nothing: nobody waits.
    Nothing,
}

impl Response {
    /// An answer that may be an error.
    pub(super) fn of(frame: Option<Vec<u8>>) -> Response {
        frame.map_or(Response::Nothing, Response::Frame)
    }

    pub(super) fn error(id: &RequestId, rpc: i64, message: &str) -> Response {
        Response::Error(rpc, answer::plain_error(id, rpc, message))
    }

    pub(super) fn coded(id: &RequestId, code: Code, message: &str) -> Response {
        let rpc = error_map::error_code(code);
        Response::Error(rpc, answer::error(Some(id), rpc, code, message, &[]))
    }
}

/// What the gate says of itself, as its servers are now.
#[derive(Debug)]
pub(crate) struct Introduction {
    capabilities: String,
    instructions: Option<String>,
}

impl Introduction {
    pub(crate) fn welcome(&self) -> Welcome<'_> {
        let (capabilities, instructions) = (self.capabilities.as_str(), self.instructions.as_deref());
        Welcome { version: env!("CARGO_PKG_VERSION"), capabilities, instructions }
    }
}

impl Gate {
    /// Answers one frame of a client. What belongs to a session or a stream, the transport has taken before.
    pub(crate) async fn respond(
        self: &Arc<Gate>,
        client: &Client,
        frame: ClientFrame,
        bytes: Box<[u8]>,
        talk: Talk,
    ) -> Response {
        match frame {
            ClientFrame::Blank | ClientFrame::Response { .. } | ClientFrame::Cancelled { .. } => {
                Response::Nothing
            }
            ClientFrame::Notification { method } => {
                tracing::debug!(method, "the client notifies");
                Response::Nothing
            }
            ClientFrame::Faulty(faulty) => self.faulty(client, faulty),
            ClientFrame::Call(call) => self.call(client, call, bytes, talk).await,
            ClientFrame::List { id, cursor: true } => Response::error(
                &id,
                rpc::INVALID_PARAMS,
                "expected no cursor: all tools are on the first page",
            ),
            ClientFrame::List { id, cursor: false } => self.list(client, &id).await,
            ClientFrame::Request { id, method } => self.request(client, &id, &method, &bytes, talk).await,
        }
    }

    async fn request(
        self: &Arc<Gate>,
        client: &Client,
        id: &RequestId,
        method: &str,
        bytes: &[u8],
        talk: Talk,
    ) -> Response {
        match method {
            "ping" => self.own(client, id, b"{}", ResultKind::Other),
            "server/discover" => {
                Response::Frame(answer::result(id, &self.introduction(Era::Modern).welcome().discovered()))
            }
            "resources/subscribe" | "resources/unsubscribe" => {
                self.follow_or_leave(client, id, method, bytes, &talk).await
            }
            _ => match ListKind::of(method) {
                Some(kind) => self.list_others(client, id, kind, bytes).await,
                None => self.pass(client, id, method, bytes, talk).await,
            },
        }
    }

    /// `resources/subscribe` and its contrary, of a session of the older era.
    async fn follow_or_leave(
        &self,
        client: &Client,
        id: &RequestId,
        method: &str,
        bytes: &[u8],
        talk: &Talk,
    ) -> Response {
        let mut tape = Tape::new();
        let root = tape.read(bytes, &self.config.gate.frames.frame_text()).ok();
        let Some(uri) = root.and_then(|root| param(root.member("params"), "uri")) else {
            return Response::error(id, rpc::INVALID_PARAMS, "expected `params.uri` as a string");
        };
        if method == "resources/unsubscribe" {
            talk.followed.leave(&uri);
        } else if let Err(why) = self.follow(client, &talk.followed, &uri).await {
            let code = match why {
                NotFollowed::Unknown => rpc::RESOURCE_NOT_FOUND,
                NotFollowed::NotTold => rpc::METHOD_NOT_FOUND,
                NotFollowed::TooMany => rpc::INVALID_PARAMS,
            };
            return Response::error(id, code, &why.message());
        }
        self.own(client, id, b"{}", ResultKind::Other)
    }

    /// The gate's own result, in the client's era.
    pub(super) fn own(&self, client: &Client, id: &RequestId, result: &[u8], kind: ResultKind) -> Response {
        let frame = answer::result(id, result);
        let to = Inward { id: id.raw(), era: client.era, kind, mark: None };
        Response::Frame(own_answer(&frame, &self.config.gate.frames, &to).unwrap_or(frame))
    }

    /// What the gate says of itself.
    pub(crate) fn introduction(&self, era: Era) -> Introduction {
        Introduction { capabilities: self.capabilities(era), instructions: self.instructions() }
    }

    /// What clients of an era can expect: tools always, the rest if a server has it. A client of the older era asks for
    /// messages by its session, which the gate does not keep.
    fn capabilities(&self, era: Era) -> String {
        let mut members = vec!["\"tools\":{\"listChanged\":true}".to_owned()];
        let links: Vec<_> =
            self.current().upstreams.iter().filter_map(|upstream| upstream.view().link).collect();
        let has = |name: &str| links.iter().any(|link| link.hello().is_some_and(|hello| hello.has(name)));
        let subscribe = self.tells_of_resources();
        let resources =
            if subscribe { "{\"listChanged\":true,\"subscribe\":true}" } else { "{\"listChanged\":true}" };
        for (name, text) in [
            ("resources", resources),
            ("prompts", "{\"listChanged\":true}"),
            ("completions", "{}"),
            ("logging", "{}"),
        ] {
            if has(name) && (name != "logging" || era == Era::Modern) {
                members.push(format!("\"{name}\":{text}"));
            }
        }
        format!("{{{}}}", members.join(","))
    }

    /// What the servers tell a model about their use, each under its name.
    fn instructions(&self) -> Option<String> {
        let mut paragraphs = Vec::new();
        let current = self.current();
        for upstream in &current.upstreams {
            let link = upstream.view().link;
            let text = link.as_ref().and_then(|link| link.hello()?.instructions.clone());
            if let Some(text) = text {
                paragraphs.push(match current.upstreams.len() {
                    1 => text,
                    _ => format!("{}: {text}", upstream.config.name),
                });
            }
        }
        (!paragraphs.is_empty()).then(|| paragraphs.join("\n\n"))
    }

    /// `tools/list`.
    async fn list(&self, client: &Client, id: &RequestId) -> Response {
        let limits = &self.config.gate.frames;
        let mut definitions: Vec<Vec<u8>> = Vec::new();
        for (name, catalog, index) in self.tools(client).await {
            let Some(tool) = catalog.admitted().get(index) else { continue };
            if tool.name == name {
                definitions.push(tool.definition.to_vec());
            } else {
                definitions.extend(named(&tool.definition, limits, &name));
            }
        }
        let items = definitions.iter().map(Vec::as_slice);
        Response::Frame(answer::result(id, &merged("tools", items, client.era, LIST_TTL_MS)))
    }

    /// Tells whoever waits that a frame was not taken.
    fn faulty(&self, client: &Client, faulty: Faulty) -> Response {
        let Faulty { recipient, code, rpc, message, findings } = faulty;
        match recipient {
            Recipient::Client(id) => {
                tracing::warn!(%code, message, principal = %client.principal, "a frame is not taken");
                Response::Error(rpc, answer::error(id.as_ref(), rpc, code, &message, &findings))
            }
            Recipient::Caller(id) => {
                // The message could name members of the arguments, which are not for the log.
                tracing::warn!(%code, principal = %client.principal, "a call is not taken");
                let refusal = Refusal::new(code, "the arguments could not be read")
                    .with_help("mend the arguments and call again")
                    .with_findings(findings, false);
                let frame = answer::refusal(&id, &refusal);
                Response::Frame(super::call::finish(frame, &id, client.era, &self.config.gate.frames))
            }
            Recipient::Upstream(_) | Recipient::Log => {
                tracing::warn!(%code, message, principal = %client.principal, "a frame is dropped");
                Response::Nothing
            }
        }
    }
}

/// Whether a method is one that only the newer era has.
pub(crate) fn is_modern_only(method: &str) -> bool {
    matches!(method, "server/discover" | "subscriptions/listen")
}

/// Whether a client of this era may use a method; `Err` says why not.
pub(crate) fn fits(era: Era, method: &str) -> Result<(), &'static str> {
    match era {
        Era::Modern if matches!(method, "initialize" | "ping") => Err("this revision has no such method"),
        Era::Modern if matches!(method, "resources/subscribe" | "resources/unsubscribe") => {
            Err("this revision has `subscriptions/listen` instead")
        }
        Era::Legacy(_) if is_modern_only(method) => Err("this revision has no such method"),
        Era::Modern | Era::Legacy(_) => Ok(()),
    }
}
