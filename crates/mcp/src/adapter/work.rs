//! A call or a read, carried out where it may block.

use callgate_gateway::registry::{CoercionMode, Registry, Request};
use callgate_wire::{AgentResult, Object};

use crate::agent::{Form, read_resource, tool_result};
use crate::{RequestId, answer};

/// A call or a read that a client asked for.
#[derive(Debug)]
pub struct Work {
    pub(super) id: RequestId,
    pub(super) registry: Registry,
    pub(super) key: String,
    pub(super) arguments: Vec<u8>,
    pub(super) coercion: CoercionMode,
    pub(super) purpose: Purpose,
}

/// What the answer is.
#[derive(Debug)]
pub(super) enum Purpose {
    Call { has_output_schema: bool },
    Read { uri: String, media_type: String, not_found: i64 },
}

impl Work {
    /// Runs the handler and gives the frame that goes back. Never panics: a handler's panic is a failure.
    pub fn run(self) -> Vec<u8> {
        let id = self.id.raw().to_owned();
        let request = Request::new(&self.key, &self.arguments).coerced(self.coercion).correlated(&id);
        let result = self.registry.invoke(&request);
        match self.purpose {
            Purpose::Call { has_output_schema } => {
                let keeps = has_output_schema && result.is_ok();
                answer::result(&self.id, tool_result(&result, Form::Faithful, keeps).as_str().as_bytes())
            }
            Purpose::Read { uri, media_type, not_found } => {
                read(&self.id, &result, &uri, &media_type, not_found)
            }
        }
    }
}

fn read(id: &RequestId, result: &AgentResult, uri: &str, media_type: &str, not_found: i64) -> Vec<u8> {
    match read_resource(result, uri, Some(media_type), not_found) {
        Ok(contents) => answer::result(id, contents.as_str().as_bytes()),
        Err(error) => {
            let body = Object::new()
                .with("code", error.rpc)
                .with("message", error.message.as_str())
                .with("data", error.data);
            answer::relayed_error(id, body.as_str())
        }
    }
}
