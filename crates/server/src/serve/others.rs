//! Resources, prompts and completions: lists of all servers together, and requests that go to the server whose they are.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use callgate_gateway::policy::{Question, Target, TargetKind};
use callgate_mcp::frame::Subject;
use callgate_mcp::relay::{
    Era, Inward, Items, ListKind, Outward, ResultKind, inward, merged, named, outward, own_request,
};
use callgate_mcp::{RequestId, answer, rpc};
use callgate_schema::json::{Kind, Tape};
use callgate_wire::Code;
use tokio::time::Instant;

use super::client::{Client, Talk, Wants};
use super::connect::own_client;
use super::front::Response;
use super::gate::Gate;
use super::link::{Link, Next, Outgoing, Reply, Ticket};
use super::upstream::Upstream;

/// How long one server may take to list what it has; one that takes longer is left out.
const LIST: Duration = Duration::from_secs(10);
/// How long such a list may be kept by a client, in milliseconds.
const LIST_TTL_MS: u64 = 60_000;
/// Resources whose servers are remembered.
const OWNERS_MAX: usize = 100_000;

/// Which server listed a resource or a template.
#[derive(Debug, Default)]
pub(crate) struct Owners(Mutex<HashMap<String, String>>);

impl Owners {
    fn note(&self, key: &str, upstream: &str) {
        let mut owners = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if owners.len() < OWNERS_MAX || owners.contains_key(key) {
            owners.insert(key.to_owned(), upstream.to_owned());
        }
    }

    fn of(&self, key: &str) -> Option<String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(key).cloned()
    }
}

impl Gate {
    /// A list of something other than tools.
    pub(super) async fn list_others(
        self: &Arc<Gate>,
        client: &Client,
        id: &RequestId,
        kind: ListKind,
        bytes: &[u8],
    ) -> Response {
        if has_cursor(bytes, &self.config.gate.frames) {
            return Response::error(
                id,
                rpc::INVALID_PARAMS,
                "expected no cursor: everything is on the first page",
            );
        }
        self.first_servers().await;
        // What the rules do not permit to ask of a server is left out; a client that may ask none of them is told.
        let current = self.current();
        let refused: Vec<_> = current
            .upstreams
            .iter()
            .map(|upstream| self.forbids(client, id, kind.method(), (upstream, None), bytes))
            .collect();
        let may_ask: Vec<bool> = refused.iter().map(Option::is_none).collect();
        if !may_ask.contains(&true)
            && let Some(response) = refused.into_iter().flatten().next()
        {
            return response;
        }
        let tasks: Vec<_> = current
            .upstreams
            .iter()
            .zip(&may_ask)
            .filter(|(_, may_ask)| **may_ask)
            .filter_map(|(upstream, _)| {
                let link = upstream.view().link?;
                let has = link.hello().is_some_and(|hello| hello.has(kind.capability()));
                let limits = self.config.gate.frames.clone();
                has.then(|| {
                    (
                        upstream,
                        tokio::spawn(
                            async move { tokio::time::timeout(LIST, pages(&link, kind, &limits)).await },
                        ),
                    )
                })
            })
            .collect();
        let (mut items, mut keys) = (Vec::new(), std::collections::HashSet::new());
        for (upstream, task) in tasks {
            let Ok(Ok(Ok(page))) = task.await else {
                tracing::warn!(
                    upstream = upstream.config.name,
                    method = kind.method(),
                    "it is left out of a list"
                );
                continue;
            };
            for (key, text) in page {
                let shown =
                    if kind == ListKind::Prompts { format!("{}{key}", upstream.prefix) } else { key.clone() };
                if !self.may_see(client, kind, upstream, &key) || !keys.insert(shown.clone()) {
                    continue;
                }
                if kind == ListKind::Prompts && shown != key {
                    items.extend(named(&text, &self.config.gate.frames, &shown));
                } else {
                    self.owners.note(&key, &upstream.config.name);
                    items.push(text.into_vec());
                }
            }
        }
        let items = items.iter().map(Vec::as_slice);
        Response::Frame(answer::result(id, &merged(kind.member(), items, client.era, LIST_TTL_MS)))
    }

    fn may_see(&self, client: &Client, kind: ListKind, upstream: &Upstream, key: &str) -> bool {
        let kind = match kind {
            ListKind::Resources => TargetKind::Resource,
            ListKind::Prompts => TargetKind::Prompt,
            // A template is none of the resources that it stands for.
            ListKind::Templates => return true,
        };
        let target = Target { kind, upstream: &upstream.config.name, name: key };
        self.current().config.rules.may_permit(&client.principal, &target)
    }

    /// A request that goes to one server.
    pub(super) async fn pass(
        self: &Arc<Gate>,
        client: &Client,
        id: &RequestId,
        method: &str,
        bytes: &[u8],
        talk: Talk,
    ) -> Response {
        let Some((upstream, name)) = self.owner(method, bytes) else {
            return nobodys(client.era, id, method);
        };
        if let Some(response) = self.forbids(client, id, method, (&upstream, name.as_deref()), bytes) {
            return response;
        }
        let Some(link) = upstream.view().link else {
            let message = "the server cannot be asked now; the request was not sent";
            return Response::coded(id, Code::UpstreamGone, message);
        };
        let limits = &self.config.gate.frames;
        let own = link.fresh_id();
        let number = own.to_string();
        let wants = Wants::of(client, bytes, limits);
        let change = Outward {
            id: &number,
            name: name.as_deref().filter(|_| method == "prompts/get"),
            progress: wants.progress.as_ref().map(|_| number.as_str()),
            client: client.introduction(link.hello().map(|hello| hello.era)),
        };
        let outgoing = Outgoing {
            frame: outward(bytes, limits, &change),
            method: method.to_owned(),
            name: name.filter(|_| matches!(method, "prompts/get" | "resources/read")),
            headers: Vec::new(),
            by: Some(client.principal.clone()),
        };
        let ticket = link.request(own, outgoing, None);
        match self.wait_for_other(id, ticket, talk, &wants).await {
            Ok(reply) => self.passed(client, id, method, &reply),
            Err(response) => response,
        }
    }

    /// Waits for a server's answer; `Err` is what the client gets without one.
    async fn wait_for_other(
        &self,
        id: &RequestId,
        mut ticket: Ticket,
        mut talk: Talk,
        wants: &Wants,
    ) -> Result<Reply, Response> {
        let due = Instant::now() + self.config.gate.call_timeout;
        loop {
            tokio::select! {
                biased;
                next = ticket.next() => match next {
                    Next::Told(told) => talk.pass_on(told, wants, &self.config.gate.frames),
                    Next::Reply(reply) => return Ok(reply),
                },
                () = talk.is_withdrawn() => {
                    ticket.cancel("the client has withdrawn it");
                    return Err(Response::Nothing);
                }
                () = tokio::time::sleep_until(due) => {
                    ticket.cancel("no answer in time");
                    let message = "the server did not answer in time";
                    return Err(Response::coded(id, Code::UpstreamTimeout, message));
                }
                () = self.given_up() => return Err(Response::coded(id, Code::GateStopped, "the gate stops")),
            }
        }
    }

    /// A server's answer for its client.
    fn passed(&self, client: &Client, id: &RequestId, method: &str, reply: &Reply) -> Response {
        match reply {
            Reply::Answer(_, line) => {
                let to = Inward { id: id.raw(), era: client.era, kind: ResultKind::of(method), mark: None };
                let frame = inward(line.bytes(), &self.config.gate.frames, &to);
                Response::Frame(frame.unwrap_or_else(|| line.bytes().to_vec()))
            }
            Reply::Unreadable(fault, _) => {
                let message = format!("the server's answer cannot be read: {fault}");
                Response::coded(id, Code::UpstreamAnswerUnreadable, &message)
            }
            Reply::Oversize(_) => {
                Response::coded(id, Code::ResultTooLarge, "the server's answer is too large")
            }
            Reply::Gone(_) => Response::coded(id, Code::UpstreamGone, "the server ended before it answered"),
            Reply::NotSent(_) => {
                let message = "the server cannot be reached; the request was not sent";
                Response::coded(id, Code::UpstreamGone, message)
            }
        }
    }

    /// The server that a request is for, and the name under which that server knows what it is about.
    fn owner(&self, method: &str, bytes: &[u8]) -> Option<(Arc<Upstream>, Option<String>)> {
        let mut tape = Tape::new();
        let root = tape.read(bytes, &self.config.gate.frames.frame_text()).ok()?;
        let params = root.member("params").filter(|params| params.kind() == Kind::Object)?;
        let text = |pointer: &str| params.pointer(pointer)?.as_str().map(std::borrow::Cow::into_owned);
        match method {
            "prompts/get" => self.by_prefix(&text("/name")?).map(|(upstream, name)| (upstream, Some(name))),
            "resources/read" => {
                let uri = text("/uri")?;
                Some((self.by_uri(&uri)?, Some(uri)))
            }
            "completion/complete" => match text("/ref/uri") {
                Some(uri) => Some((self.by_uri(&uri)?, None)),
                None => Some((self.by_prefix(&text("/ref/name")?)?.0, None)),
            },
            _ => None,
        }
    }

    fn by_prefix(&self, name: &str) -> Option<(Arc<Upstream>, String)> {
        let current = self.current();
        let matching = current
            .upstreams
            .iter()
            .filter_map(|upstream| Some((upstream, name.strip_prefix(upstream.prefix.as_str())?)));
        let (upstream, name) = matching.max_by_key(|(upstream, _)| upstream.prefix.len())?;
        Some((Arc::clone(upstream), name.to_owned()))
    }

    /// Who listed a resource; else the only server that has resources at all.
    pub(super) fn by_uri(&self, uri: &str) -> Option<Arc<Upstream>> {
        let current = self.current();
        if let Some(name) = self.owners.of(uri) {
            return current.upstreams.iter().find(|upstream| upstream.config.name == name).cloned();
        }
        let has = |upstream: &&Arc<Upstream>| {
            let link = upstream.view().link;
            link.is_some_and(|link| link.hello().is_some_and(|hello| hello.has("resources")))
        };
        let mut having = current.upstreams.iter().filter(has);
        match (having.next(), having.next()) {
            (Some(only), None) => Some(Arc::clone(only)),
            _ => None,
        }
    }

    /// The answer to a request that the rules do not permit.
    fn forbids(
        &self,
        client: &Client,
        id: &RequestId,
        method: &str,
        (upstream, name): (&Upstream, Option<&str>),
        bytes: &[u8],
    ) -> Option<Response> {
        let current = self.current();
        let rules = &current.config.rules;
        if rules.is_empty() {
            return None;
        }
        let limits = self.config.gate.frames.frame_text();
        let (mut tape, mut empty) = (Tape::new(), Tape::new());
        let (Ok(frame), Ok(nothing)) = (tape.read(bytes, &limits), empty.read(b"{}", &limits)) else {
            return Some(Response::coded(
                id,
                Code::FrameInvalid,
                "the request could not be read a second time",
            ));
        };
        let subject = match Subject::of(frame, method) {
            Ok(subject) => subject,
            Err(message) => return Some(Response::coded(id, Code::FrameDuplicateMember, &message)),
        };
        let (upstream, name) = (upstream.config.name.as_str(), name.unwrap_or(&subject.name));
        let question = Question {
            principal: &client.principal,
            claims: &client.claims,
            target: Target { kind: subject.kind, upstream, name },
            arguments: subject.arguments.unwrap_or(nothing),
        };
        let refusal = rules.permit(&question).err()?;
        tracing::info!(method, code = %refusal.code, principal = %client.principal, "refused");
        let help = refusal.help.as_deref().map(|help| format!("; {help}")).unwrap_or_default();
        Some(Response::coded(id, refusal.code, &format!("{}{help}", refusal.message)))
    }
}

/// The answer to a request that is for no server.
fn nobodys(era: Era, id: &RequestId, method: &str) -> Response {
    match method {
        "resources/read" => {
            let code = match era {
                Era::Modern => rpc::INVALID_PARAMS,
                Era::Legacy(_) => rpc::RESOURCE_NOT_FOUND,
            };
            Response::error(id, code, "expected the URI of a resource that a server lists")
        }
        "prompts/get" | "completion/complete" => {
            let message = "expected the name of a prompt or a resource that a server lists";
            Response::error(id, rpc::INVALID_PARAMS, message)
        }
        _ => Response::error(id, rpc::METHOD_NOT_FOUND, "there is no such method here"),
    }
}

fn has_cursor(bytes: &[u8], limits: &callgate_mcp::FrameLimits) -> bool {
    let mut tape = Tape::new();
    let root = tape.read(bytes, &limits.frame_text());
    root.is_ok_and(|root| root.pointer("/params/cursor").is_some_and(|cursor| !cursor.is_null()))
}

/// Everything that one server has of a kind.
async fn pages(
    link: &Arc<Link>,
    kind: ListKind,
    limits: &callgate_mcp::FrameLimits,
) -> Result<Vec<(String, Box<[u8]>)>, ()> {
    let Some(hello) = link.hello() else { return Err(()) };
    let (mut items, mut cursor) = (Vec::new(), None::<Box<str>>);
    for _ in 0..limits.list_pages_max {
        let id = link.fresh_id();
        let members = cursor.as_ref().map(|cursor| format!("\"cursor\":{cursor}")).unwrap_or_default();
        let frame = own_request(&id.to_string(), kind.method(), hello.era, &own_client(), &members);
        let outgoing = Outgoing { frame, method: kind.method().to_owned(), ..Outgoing::default() };
        let mut ticket = link.request(id, outgoing, None);
        let Reply::Answer(_, line) = ticket.reply().await else { return Err(()) };
        let page = Items::read(line.bytes(), kind, limits).ok_or(())?;
        items.extend(page.items);
        cursor = page.next;
        if cursor.is_none() || items.len() > limits.list_tools_max {
            return Ok(items);
        }
    }
    Ok(items)
}
