//! The strict rules of the envelope: which members a message has, and that none of them stands there nearly twice.

use callgate_schema::json::{Kind, Node};
use callgate_wire::Code;

use crate::RequestId;

/// The members of an envelope that have a meaning.
const ENVELOPE_NAMES: &[&str] = &["jsonrpc", "id", "method", "params", "result", "error"];

/// What is wrong with an envelope.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct EnvelopeFault {
    pub(super) code: Code,
    pub(super) message: String,
    pub(super) id: Option<RequestId>,
}

impl EnvelopeFault {
    pub(super) fn invalid(message: impl Into<String>, id: Option<&RequestId>) -> EnvelopeFault {
        EnvelopeFault { code: Code::FrameInvalid, message: message.into(), id: id.cloned() }
    }
}

/// A message, by its form.
#[derive(Debug)]
pub(super) enum Envelope<'a> {
    Request { id: RequestId, method: String, params: Option<Node<'a>> },
    Notification { method: String, params: Option<Node<'a>> },
    Result { id: RequestId, id_node: Node<'a>, result: Node<'a> },
    Error { id: Option<RequestId>, id_node: Option<Node<'a>>, error: Node<'a> },
}

/// Reads the envelope of a message that the strict reader took whole.
pub(super) fn read(root: Node<'_>, id_bytes_max: usize) -> Result<Envelope<'_>, EnvelopeFault> {
    if root.kind() == Kind::Array {
        return Err(EnvelopeFault {
            code: Code::FrameBatch,
            message: "expected one message, found an array of them".to_owned(),
            id: None,
        });
    }
    if root.kind() != Kind::Object {
        let message = format!("expected a message, which is an object, found {}", root.kind().name());
        return Err(EnvelopeFault::invalid(message, None));
    }
    let id_node = root.member("id");
    let id = id_node.and_then(|node| RequestId::from_node(node, id_bytes_max));
    near_names(root, ENVELOPE_NAMES, "the message", id.as_ref())?;
    if root.member("jsonrpc").and_then(Node::as_str).as_deref() != Some("2.0") {
        return Err(EnvelopeFault::invalid("expected `jsonrpc` to be `\"2.0\"`", id.as_ref()));
    }
    let (method, result, error) = (root.member("method"), root.member("result"), root.member("error"));
    match (method, result, error) {
        (Some(method), None, None) => {
            let Some(method) = method.as_str() else {
                return Err(EnvelopeFault::invalid("expected `method` to be a string", id.as_ref()));
            };
            let (method, params) = (method.into_owned(), root.member("params"));
            match (id_node, id) {
                (None, _) => Ok(Envelope::Notification { method, params }),
                (Some(_), Some(id)) => Ok(Envelope::Request { id, method, params }),
                (Some(_), None) => Err(bad_id(id_bytes_max)),
            }
        }
        (None, Some(result), None) => match (id_node, id) {
            (Some(id_node), Some(id)) => Ok(Envelope::Result { id, id_node, result }),
            _ => Err(bad_id(id_bytes_max)),
        },
        (None, None, Some(error)) => match (id_node, id) {
            (Some(node), None) if !node.is_null() => Err(bad_id(id_bytes_max)),
            (id_node, id) => Ok(Envelope::Error { id, id_node, error }),
        },
        _ => {
            Err(EnvelopeFault::invalid("expected exactly one of `method`, `result` and `error`", id.as_ref()))
        }
    }
}

/// Refuses a member whose name differs only by case from one that has a meaning: two readers could see two messages.
pub(super) fn near_names(
    object: Node<'_>,
    known: &[&str],
    place: &str,
    id: Option<&RequestId>,
) -> Result<(), EnvelopeFault> {
    for member in object.members() {
        let name = member.name();
        if let Some(meant) =
            known.iter().find(|known| name.eq_ignore_ascii_case(known) && name.as_ref() != **known)
        {
            return Err(EnvelopeFault {
                code: Code::FrameDuplicateMember,
                message: format!("expected `{meant}` in {place}, found it in another case"),
                id: id.cloned(),
            });
        }
    }
    Ok(())
}

fn bad_id(id_bytes_max: usize) -> EnvelopeFault {
    EnvelopeFault::invalid(
        format!("expected `id` to be a string or a whole number of at most {id_bytes_max} bytes"),
        None,
    )
}
