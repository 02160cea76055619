//! What a client's frame leads to.

use callgate_gateway::Refusal;
use callgate_gateway::registry::CoercionMode;
use callgate_schema::json::{Node, Tape};
use callgate_wire::{Json, Object};

use super::publish::{Published, Target};
use super::work::{Purpose, Work};
use super::{McpAdapter, Reply};
use crate::frame::{Call, ClientFrame, Faulty, Recipient};
use crate::{RequestId, answer, revision, rpc};

impl McpAdapter {
    /// Takes one line of the client's. What has changed in the registry is taken in first.
    pub fn take(&mut self, line: &[u8]) -> Reply {
        use callgate_gateway::registry::Adapter as _;
        self.turn();
        let frame = self.reader.read(line);
        match &frame {
            ClientFrame::Notification { method } if method == "notifications/initialized" => {
                self.is_ready = true;
            }
            ClientFrame::Request { method, .. } if method == "initialize" => self.is_ready = false,
            _ => {}
        }
        self.reply(frame, line)
    }

    /// Answers a line that was too long to be kept.
    pub fn refuse_oversize(&self) -> Vec<u8> {
        let maximum = self.limits.frame_bytes_max;
        let message = format!("expected a line of at most {maximum} bytes, found a longer one");
        answer::error(None, rpc::INVALID_REQUEST, callgate_wire::Code::FrameTooLarge, &message, &[])
    }

    pub(super) fn reply(&self, frame: ClientFrame, line: &[u8]) -> Reply {
        match frame {
            ClientFrame::Blank
            | ClientFrame::Cancelled { .. }
            | ClientFrame::Notification { .. }
            | ClientFrame::Response { .. } => Reply::Silent,
            ClientFrame::Faulty(faulty) => refused(faulty),
            ClientFrame::List { id, cursor: true } => {
                let message = "expected no cursor, since all tools are on one page, found one";
                Reply::Answer(answer::plain_error(&id, rpc::INVALID_PARAMS, message))
            }
            ClientFrame::List { id, cursor: false } => Reply::Answer(self.list(&id)),
            ClientFrame::Call(call) => self.call_of(call, line),
            ClientFrame::Request { id, method } => self.request(&id, &method, line),
        }
    }

    fn published(&self) -> impl Iterator<Item = &Published> {
        self.attached.iter().flat_map(|attached| &attached.published)
    }

    fn list(&self, id: &RequestId) -> Vec<u8> {
        let mut result = b"{\"tools\":[".to_vec();
        let mut first = true;
        for published in self.published() {
            if let Target::Tool { definition, .. } = &published.target {
                if !std::mem::replace(&mut first, false) {
                    result.push(b',');
                }
                result.extend_from_slice(definition);
            }
        }
        result.extend_from_slice(b"]}");
        answer::result(id, &result)
    }

    fn call_of(&self, call: Call, line: &[u8]) -> Reply {
        let Call { id, tool, arguments } = call;
        let published = self.published().find(|one| one.key == tool);
        let (Some(attached), Some(Target::Tool { has_output_schema, .. })) =
            (&self.attached, published.map(|one| &one.target))
        else {
            let message = "expected the name of a tool that is listed, found another";
            return Reply::Answer(answer::plain_error(&id, rpc::INVALID_PARAMS, message));
        };
        Reply::Work(Box::new(Work {
            id,
            registry: attached.registry.clone(),
            key: tool,
            arguments: arguments.and_then(|span| line.get(span)).unwrap_or(b"{}").to_vec(),
            coercion: self.coercion,
            purpose: Purpose::Call { has_output_schema: *has_output_schema },
        }))
    }

    fn request(&self, id: &RequestId, method: &str, line: &[u8]) -> Reply {
        let mut tape = Tape::new();
        let params = tape.read(line, &self.limits.frame_text()).ok().and_then(|root| root.member("params"));
        let text = |name: &str| params.and_then(|params| params.member(name)).and_then(Node::as_str);
        Reply::Answer(match method {
            "initialize" => self.initialize(id, text("protocolVersion").as_deref()),
            "ping" => answer::result(id, b"{}"),
            _ if !self.resources => unknown_method(id),
            "resources/list" => self.resources(id, false),
            "resources/templates/list" => self.resources(id, true),
            "resources/read" => match text("uri") {
                Some(uri) => return self.read(id, &uri),
                None => answer::plain_error(id, rpc::INVALID_PARAMS, "expected a `uri`, found none"),
            },
            _ => unknown_method(id),
        })
    }

    /// The client's revision where it is spoken here, else the newest.
    fn initialize(&self, id: &RequestId, asked: Option<&str>) -> Vec<u8> {
        let newest = revision::ALL.first().map_or("", |revision| revision.date);
        let agreed = asked.and_then(revision::find).map_or(newest, |revision| revision.date);
        let (name, version) = &self.server;
        let changes = || Object::new().with("listChanged", true);
        let mut capabilities = Object::new().with("tools", changes());
        if self.resources {
            capabilities.set("resources", changes());
        }
        let server = Object::new().with("name", name.as_str()).with("version", version.as_str());
        let result = Object::new()
            .with("protocolVersion", agreed)
            .with("capabilities", capabilities)
            .with("serverInfo", server);
        answer::result(id, result.as_str().as_bytes())
    }

    fn resources(&self, id: &RequestId, templates: bool) -> Vec<u8> {
        let (list, uri_name) =
            if templates { ("resourceTemplates", "uriTemplate") } else { ("resources", "uri") };
        let listed = self.published().filter_map(|published| match &published.target {
            Target::Resource { uri, is_template, media_type } if *is_template == templates => {
                Some(Json::from(
                    Object::new()
                        .with(uri_name, uri.as_str())
                        .with("name", published.key.as_str())
                        .with("description", published.description.as_str())
                        .with("mimeType", media_type.as_str()),
                ))
            }
            _ => None,
        });
        let result = Object::new().with(list, listed.collect::<Json>());
        answer::result(id, result.as_str().as_bytes())
    }

    /// A resource that has this URI exactly, else the first that matches it: a query, which no template looks at, does
    /// not hide a resource.
    fn read(&self, id: &RequestId, asked: &str) -> Reply {
        let is_exact =
            |one: &Published| matches!(&one.target, Target::Resource { uri, .. } if uri.as_str() == asked);
        let candidates = self.published().filter(|one| is_exact(one)).chain(self.published());
        for published in candidates {
            let Target::Resource { uri, media_type, .. } = &published.target else { continue };
            let Some(captures) = uri.captures(asked) else { continue };
            let Some(attached) = &self.attached else { break };
            let arguments = captures
                .into_iter()
                .fold(Object::new().with("uri", asked), |all, (name, value)| all.with(&name, value));
            let (media_type, not_found) = (media_type.clone(), self.not_found);
            return Reply::Work(Box::new(Work {
                id: id.clone(),
                registry: attached.registry.clone(),
                key: published.key.clone(),
                arguments: arguments.into_string().into_bytes(),
                // What a template captures is text.
                coercion: CoercionMode::Wire,
                purpose: Purpose::Read { uri: asked.to_owned(), media_type, not_found },
            }));
        }
        let error = Object::new()
            .with("code", self.not_found)
            .with("message", "expected the URI of a resource that is listed, found another")
            .with("data", Object::new().with("uri", asked));
        Reply::Answer(answer::relayed_error(id, error.as_str()))
    }
}

fn unknown_method(id: &RequestId) -> Vec<u8> {
    answer::plain_error(id, rpc::METHOD_NOT_FOUND, "the method is not known here")
}

fn refused(faulty: Faulty) -> Reply {
    let Faulty { recipient, code, rpc, message, findings } = faulty;
    match recipient {
        Recipient::Client(id) => Reply::Answer(answer::error(id.as_ref(), rpc, code, &message, &findings)),
        Recipient::Caller(id) => {
            let refusal = Refusal::new(code, "the arguments could not be read")
                .with_help("mend the arguments and call again")
                .with_findings(findings, false);
            Reply::Answer(answer::refusal(&id, &refusal))
        }
        Recipient::Upstream(_) | Recipient::Log => Reply::Silent,
    }
}
