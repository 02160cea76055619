//! A registry as an MCP server: what is registered is listed, calls and reads go to the registry, and what changes is
//! announced. Frames in, frames out: whoever has the streams calls [`McpAdapter::take`] with each line.
//!
//! | file | holds |
//! |---|---|
//! | `publish` | which entries can be listed, and under which name or URI |
//! | `request` | what a client's frame leads to |
//! | `work` | a call or a read, carried out where it may block |

mod publish;
mod request;
mod work;

use std::collections::HashSet;

use callgate_gateway::registry::{
    Adapter, AdapterError, Change, CoercionMode, EntryKind, Registry, Subscription, Unpublished,
};
use callgate_schema::json::{Tape, write_string};
use callgate_wire::{AgentResult, FailureCode, Object, Scheme};

use crate::FrameLimits;
use crate::agent::{Form, result_of_tool};
use crate::frame::ClientReader;
use publish::{Published, Target};

pub use work::Work;

/// A registry as an MCP server.
///
/// ```
/// use callgate_gateway::registry::{Adapter, Registry, kit};
/// use callgate_mcp::adapter::{McpAdapter, Reply};
///
/// let registry = Registry::new(kit::MemoryJournal::ports());
/// registry.register(kit::echo()?)?;
/// let mut adapter = McpAdapter::new("demo", "1.0.0");
/// adapter.attach(&registry).expect("it is not attached");
/// let line = br#"{"jsonrpc":"2.0","id":1,"method":"tools/call",
///     "params":{"name":"contract_echo","arguments":{"text":"hi","count":2}}}"#;
/// let Reply::Work(work) = adapter.take(line) else { panic!("a call is work") };
/// let answer = String::from_utf8(work.run()).expect("an answer is text");
/// assert!(answer.starts_with(r#"{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","#));
/// # Ok::<(), callgate_gateway::registry::RegistryError>(())
/// ```
#[derive(Debug)]
pub struct McpAdapter {
    server: (String, String),
    scheme: Option<Scheme>,
    resources: bool,
    coercion: CoercionMode,
    reader: ClientReader,
    limits: FrameLimits,
    attached: Option<Attached>,
    /// The client has said that it is ready, so that it can be told of changes.
    is_ready: bool,
    /// The revision that was agreed on knows the codes of its time.
    not_found: i64,
}

#[derive(Debug)]
struct Attached {
    registry: Registry,
    subscription: Subscription,
    published: Vec<Published>,
    tools_changed: bool,
    resources_changed: bool,
}

/// What a line leads to.
#[derive(Debug)]
pub enum Reply {
    /// Nothing.
    Silent,
    /// This frame goes back.
    Answer(Vec<u8>),
    /// What this gives goes back; it runs a handler, so it may take its time.
    Work(Box<Work>),
}

impl McpAdapter {
    /// A server of that name and version, with no scheme for resources, and no coercion: clients of this protocol can
    /// send what a schema asks for.
    pub fn new(name: impl Into<String>, version: impl Into<String>) -> McpAdapter {
        let limits = FrameLimits::default();
        McpAdapter {
            server: (name.into(), version.into()),
            scheme: None,
            resources: true,
            coercion: CoercionMode::Off,
            reader: ClientReader::new(limits.clone()),
            limits,
            attached: None,
            is_ready: false,
            not_found: crate::rpc::RESOURCE_NOT_FOUND,
        }
    }

    /// The same with the app's scheme, for resources that say no URI of their own.
    #[must_use]
    pub fn with_scheme(mut self, scheme: Scheme) -> McpAdapter {
        self.scheme = Some(scheme);
        self
    }

    /// The same with the tools alone: resources are neither listed nor read, and clients are not told that there are any.
    #[must_use]
    pub const fn without_resources(mut self) -> McpAdapter {
        self.resources = false;
        self
    }

    /// The same with the texts among the arguments of calls coerced.
    #[must_use]
    pub fn with_coercion(mut self, mode: CoercionMode) -> McpAdapter {
        self.coercion = mode;
        self
    }

    /// The maxima of frames.
    pub const fn limits(&self) -> &FrameLimits {
        &self.limits
    }

    /// The registry, while it is attached.
    pub fn registry(&self) -> Option<&Registry> {
        self.attached.as_ref().map(|attached| &attached.registry)
    }

    /// The frames that tell the client what has changed since they were last asked for: none before it is ready.
    pub fn announcements(&mut self) -> Vec<Vec<u8>> {
        let is_ready = self.is_ready;
        let Some(attached) = self.attached.as_mut().filter(|_| is_ready) else { return Vec::new() };
        let mut frames = Vec::new();
        for (changed, what) in
            [(&mut attached.tools_changed, "tools"), (&mut attached.resources_changed, "resources")]
        {
            if std::mem::replace(changed, false) {
                let frame = format!(r#"{{"jsonrpc":"2.0","method":"notifications/{what}/list_changed"}}"#);
                frames.push(frame.into_bytes());
            }
        }
        frames
    }

    fn publish(&mut self, key: &str, unpublished: &mut Vec<Unpublished>) {
        let Some(attached) = &mut self.attached else { return };
        // It may be gone again by the time the event is taken in.
        let Some(entry) = attached.registry.get(key) else { return };
        if entry.descriptor().kind() == EntryKind::Resource && !self.resources {
            return;
        }
        match Published::of(&entry, self.scheme.as_ref(), &attached.published) {
            Ok(published) => {
                match published.target {
                    Target::Tool { .. } => attached.tools_changed = true,
                    Target::Resource { .. } => attached.resources_changed = true,
                }
                attached.published.retain(|known| known.key != key);
                attached.published.push(published);
            }
            Err(reason) => unpublished.push(Unpublished { key: key.to_owned(), reason }),
        }
    }

    /// Compares what is published with what is registered, where events were lost.
    fn catch_up(&mut self, unpublished: &mut Vec<Unpublished>) {
        let Some(attached) = self.attached.as_ref().filter(|attached| attached.subscription.missed()) else {
            return;
        };
        let entries = attached.registry.entries();
        let there: HashSet<&str> = entries.iter().map(|entry| entry.key()).collect();
        let gone = attached.published.iter().map(|one| one.key.clone());
        let gone: Vec<_> = gone.filter(|key| !there.contains(key.as_str())).collect();
        for key in gone {
            self.take_back(&key);
        }
        // Also those that are known: under their keys there may be others by now.
        for entry in &entries {
            self.publish(entry.key(), unpublished);
        }
    }

    fn take_back(&mut self, key: &str) {
        let Some(attached) = &mut self.attached else { return };
        for gone in attached.published.extract_if(.., |known| known.key == key) {
            match gone.target {
                Target::Tool { .. } => attached.tools_changed = true,
                Target::Resource { .. } => attached.resources_changed = true,
            }
        }
    }
}

impl Adapter for McpAdapter {
    fn name(&self) -> &'static str {
        "mcp"
    }

    fn attach(&mut self, registry: &Registry) -> Result<Vec<Unpublished>, AdapterError> {
        if self.attached.is_some() {
            return Err(AdapterError::attached());
        }
        let (entries, subscription) = registry.entries_and_subscribe();
        self.attached = Some(Attached {
            registry: registry.clone(),
            subscription,
            published: Vec::new(),
            tools_changed: false,
            resources_changed: false,
        });
        let mut unpublished = Vec::new();
        for entry in entries {
            self.publish(entry.key(), &mut unpublished);
        }
        Ok(unpublished)
    }

    fn detach(&mut self) -> Result<(), AdapterError> {
        self.attached = None;
        Ok(())
    }

    fn watches(&self) -> bool {
        true
    }

    fn turn(&mut self) -> Vec<Unpublished> {
        let mut unpublished = Vec::new();
        while let Some(event) = self.attached.as_ref().and_then(|attached| attached.subscription.next_event())
        {
            match event.change {
                Change::IntentRegistered { key } => self.publish(&key, &mut unpublished),
                Change::IntentUnregistered { key } => self.take_back(&key),
                Change::EntityTypeRegistered { .. } | Change::EntityTypeUnregistered { .. } => {}
            }
        }
        self.catch_up(&mut unpublished);
        unpublished
    }

    fn published(&self) -> Vec<String> {
        let published = self.attached.iter().flat_map(|attached| &attached.published);
        published.map(|one| one.key.clone()).collect()
    }

    /// Through a frame of `tools/call` and its answer; a success whose one text is the JSON of an object is that object.
    fn call(&self, key: &str, arguments: &[u8]) -> AgentResult {
        let mut line = br#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"#.to_vec();
        write_string(&mut line, key);
        line.extend_from_slice(b",\"arguments\":");
        line.extend_from_slice(arguments);
        line.extend_from_slice(b"}}");
        // A reader of its own: to call changes nothing of the adapter's.
        let frame = ClientReader::new(self.limits.clone()).read(&line);
        let answer = match self.reply(frame, &line) {
            Reply::Work(work) => work.run(),
            Reply::Answer(answer) => answer,
            Reply::Silent => Vec::new(),
        };
        of_answer(&answer, &self.limits)
    }
}

/// The result in an answer to a call.
fn of_answer(answer: &[u8], limits: &FrameLimits) -> AgentResult {
    let mut tape = Tape::new();
    let adapter_error = |message: String| AgentResult::failure(FailureCode::ADAPTER_ERROR, message);
    let Ok(root) = tape.read(answer, &limits.frame_text()) else {
        return adapter_error("the answer is no frame".to_owned());
    };
    let Some(result) = root.member("result") else {
        let message = root.pointer("/error/message").and_then(callgate_schema::json::Node::as_str);
        return adapter_error(message.unwrap_or_default().into_owned());
    };
    match result_of_tool(result, Form::Faithful) {
        Ok(AgentResult::Success(mut success)) => {
            let own = success.data.get_text("text").and_then(|text| Object::parse(text).ok());
            if let Some(own) = own {
                success.data = own;
            }
            success.into()
        }
        Ok(failure) => failure,
        Err(error) => adapter_error(error.to_string()),
    }
}

#[cfg(test)]
mod tests;
