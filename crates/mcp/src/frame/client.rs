//! What a client's frame asks of the gate. Every line has exactly one answer here; none is an error of the program.

use std::ops::Range;

use callgate_schema::json::{Kind, Node, ReadFault, ReadFaultKind, ReadLimits, Tape};
use callgate_schema::{Finding, Limits};
use callgate_wire::Code;

use super::envelope::{self, Envelope, EnvelopeFault};
use super::scan::Form;
use super::{Scan, Scanner};
use crate::relay::{CAPABILITIES, CLIENT_INFO, PROTOCOL_VERSION};
use crate::reserved::{KEY, RUN};
use crate::{FrameLimits, RequestId, rpc};

/// The members of `params` that have a meaning in every method.
const PARAMS_NAMES: &[&str] = &["_meta"];
/// The members of the `params` of a `tools/call` that have a meaning.
const CALL_NAMES: &[&str] = &["_meta", "name", "arguments", "task", "inputResponses", "requestState"];
/// The members of `_meta` that have a meaning to the protocol's own machinery or to the gate.
const META_NAMES: &[&str] = &["progressToken", PROTOCOL_VERSION, CAPABILITIES, CLIENT_INFO, KEY, RUN];

/// A client's frame.
#[derive(Debug)]
pub enum ClientFrame {
    /// White space only: no frame.
    Blank,
    /// `tools/call`.
    Call(Call),
    /// `tools/list`; `cursor` if it asks for a further page.
    List {
        /// Its id.
        id: RequestId,
        /// Whether it names a page.
        cursor: bool,
    },
    /// Another request: passed on as it is.
    Request {
        /// Its id.
        id: RequestId,
        /// Its method.
        method: String,
    },
    /// `notifications/cancelled` for one of the client's requests.
    Cancelled {
        /// The id of the request that is withdrawn.
        request: RequestId,
    },
    /// Another notification: passed on as it is.
    Notification {
        /// Its method.
        method: String,
    },
    /// The client's answer to a request of the upstream: passed on as it is.
    Response {
        /// The id of that request.
        id: RequestId,
    },
    /// Not forwarded.
    Faulty(Faulty),
}

/// A `tools/call`, whose arguments nobody has judged yet.
#[derive(Debug)]
pub struct Call {
    /// Its id.
    pub id: RequestId,
    /// The tool's name, unescaped.
    pub tool: String,
    /// Where in the frame the arguments are; `None` where the frame has none.
    pub arguments: Option<Range<usize>>,
}

/// A frame that is not forwarded, and who is told.
#[derive(Debug)]
pub struct Faulty {
    /// Who is told.
    pub recipient: Recipient,
    /// The stable code.
    pub code: Code,
    /// The code of a JSON-RPC error.
    pub rpc: i64,
    /// What was expected and what was found.
    pub message: String,
    /// The fault with its place, where it is one of reading.
    pub findings: Vec<Finding>,
}

/// Who is told that a frame was not forwarded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Recipient {
    /// The client, as a JSON-RPC error; without an id where none can be trusted.
    Client(Option<RequestId>),
    /// The client, as the result of the call whose arguments are at fault.
    Caller(RequestId),
    /// The upstream, whose request with this id the client meant to answer.
    Upstream(RequestId),
    /// Nobody: it has no id, so nobody waits. It is logged.
    Log,
}

/// Reads a client's frames; the scratch is kept from one to the next.
#[derive(Debug)]
pub struct ClientReader {
    tape: Tape,
    limits: FrameLimits,
    text: ReadLimits,
    stateless: bool,
}

impl ClientReader {
    /// A reader with these limits, of a client that begins with `initialize`.
    pub fn new(limits: FrameLimits) -> ClientReader {
        ClientReader { tape: Tape::new(), text: limits.frame_text(), limits, stateless: false }
    }

    /// The same for a client that may belong to the newer era, whose discovery is a request as any other.
    #[must_use]
    pub fn of_both_eras(limits: FrameLimits) -> ClientReader {
        ClientReader { stateless: true, ..ClientReader::new(limits) }
    }

    /// Reads one line. White space around the message, the line's end included, is no fault.
    pub fn read(&mut self, line: &[u8]) -> ClientFrame {
        if line.iter().all(u8::is_ascii_whitespace) {
            return ClientFrame::Blank;
        }
        let root = match self.tape.read(line, &self.text) {
            Ok(root) => root,
            Err(fault) => return ClientFrame::Faulty(unreadable(line, &fault, self.limits.id_bytes_max)),
        };
        let (id_bytes_max, stateless) = (self.limits.id_bytes_max, self.stateless);
        match envelope::read(root, id_bytes_max).and_then(|envelope| judge(envelope, id_bytes_max, stateless))
        {
            Ok(frame) => frame,
            Err(fault) => ClientFrame::Faulty(misshapen(root, fault)),
        }
    }

    /// Judges a line that was too long to keep, by what a scan of it found.
    pub fn oversize(&self, scan: &Scan) -> ClientFrame {
        let fault = ReadFault {
            kind: ReadFaultKind::Limit {
                name: "frame_bytes".to_owned(),
                maximum: self.limits.frame_bytes_max as u64,
            },
            offset: self.limits.frame_bytes_max,
            pointer: String::new(),
        };
        let most = self.limits.frame_bytes_max;
        let to_blame = |span: &Range<usize>| scan.bytes.saturating_sub(span.len()) <= most;
        let in_arguments = scan.arguments.as_ref().is_some_and(to_blame);
        ClientFrame::Faulty(faulty(scan, &fault, in_arguments))
    }
}

fn judge(envelope: Envelope<'_>, id_bytes_max: usize, stateless: bool) -> Result<ClientFrame, EnvelopeFault> {
    match envelope {
        Envelope::Request { id, method, params } => request(id, method, params, stateless),
        Envelope::Notification { method, .. } if is_guarded(&method) => Ok(ClientFrame::Faulty(Faulty {
            recipient: Recipient::Log,
            code: Code::CallWithoutId,
            rpc: rpc::INVALID_REQUEST,
            message: format!("expected `{method}` with an id, found none"),
            findings: Vec::new(),
        })),
        Envelope::Notification { method, params } => {
            if let Some(params) = params {
                envelope::near_names(params, PARAMS_NAMES, "`params`", None)?;
            }
            if method == "notifications/cancelled" {
                let request = params
                    .and_then(|params| params.member("requestId"))
                    .and_then(|node| RequestId::from_node(node, id_bytes_max));
                if let Some(request) = request {
                    return Ok(ClientFrame::Cancelled { request });
                }
            }
            Ok(ClientFrame::Notification { method })
        }
        Envelope::Result { id, .. } | Envelope::Error { id: Some(id), .. } => {
            Ok(ClientFrame::Response { id })
        }
        Envelope::Error { id: None, .. } => {
            Err(EnvelopeFault::invalid("expected `id` to name the request that is answered", None))
        }
    }
}

fn request(
    id: RequestId,
    method: String,
    params: Option<Node<'_>>,
    stateless: bool,
) -> Result<ClientFrame, EnvelopeFault> {
    let known = if method == "tools/call" { CALL_NAMES } else { PARAMS_NAMES };
    if let Some(params) = params {
        envelope::near_names(params, known, "`params`", Some(&id))?;
        if let Some(meta) = params.member("_meta") {
            envelope::near_names(meta, META_NAMES, "`_meta`", Some(&id))?;
        }
    }
    match method.as_str() {
        "tools/call" => Ok(call(id, params)),
        "tools/list" => {
            let cursor = params.is_some_and(|params| params.member("cursor").is_some());
            Ok(ClientFrame::List { id, cursor })
        }
        // This discovery belongs to a revision without `initialize`, which is not spoken here.
        "server/discover" if !stateless => Ok(no_such_method(id, &method)),
        // A lenient upstream could take such a spelling for the method that the gate guards.
        other if is_guarded(other) => Ok(no_such_method(id, &method)),
        _ => Ok(ClientFrame::Request { id, method }),
    }
}

fn is_guarded(method: &str) -> bool {
    let method = method.trim().trim_matches('/');
    method.eq_ignore_ascii_case("tools/call") || method.eq_ignore_ascii_case("tools/list")
}

fn call(id: RequestId, params: Option<Node<'_>>) -> ClientFrame {
    let Some(params) = params.filter(|params| params.kind() == Kind::Object) else {
        return malformed_call(id, "expected `params` to be an object");
    };
    if params.member("task").is_some() {
        return refused(
            id,
            Code::CallTaskUnsupported,
            rpc::INVALID_PARAMS,
            "expected a call without `task`: calls do not run as tasks here",
        );
    }
    let Some(tool) = params.member("name").and_then(Node::as_str) else {
        return malformed_call(id, "expected `params.name` to be the name of a tool");
    };
    let arguments = params.member("arguments");
    if arguments.is_some_and(|arguments| arguments.kind() != Kind::Object) {
        return malformed_call(id, "expected `params.arguments` to be an object");
    }
    ClientFrame::Call(Call { id, tool: tool.into_owned(), arguments: arguments.map(Node::span) })
}

fn malformed_call(id: RequestId, message: &str) -> ClientFrame {
    refused(id, Code::CallMalformed, rpc::INVALID_PARAMS, message)
}

fn no_such_method(id: RequestId, method: &str) -> ClientFrame {
    let message = format!("expected a method of a revision with `initialize`, found `{method}`");
    refused(id, Code::ProtocolRevisionUnsupported, rpc::METHOD_NOT_FOUND, message)
}

fn refused(id: RequestId, code: Code, rpc: i64, message: impl Into<String>) -> ClientFrame {
    ClientFrame::Faulty(Faulty {
        recipient: Recipient::Client(Some(id)),
        code,
        rpc,
        message: message.into(),
        findings: Vec::new(),
    })
}

/// A frame that is JSON and no message.
fn misshapen(root: Node<'_>, fault: EnvelopeFault) -> Faulty {
    let answers = root.member("method").is_none()
        && (root.member("result").is_some() || root.member("error").is_some());
    let recipient = match fault.id {
        Some(id) if answers => Recipient::Upstream(id),
        None if answers => Recipient::Log,
        id => Recipient::Client(id),
    };
    let named = root.member("method").and_then(Node::as_str);
    let silent = root.kind() == Kind::Object && root.member("id").is_none();
    let recipient = match named.as_deref() {
        Some("tools/call") if silent => Recipient::Log,
        _ => recipient,
    };
    Faulty {
        recipient,
        code: fault.code,
        rpc: rpc::INVALID_REQUEST,
        message: fault.message,
        findings: Vec::new(),
    }
}

/// A frame that the strict reader did not take.
fn unreadable(line: &[u8], fault: &ReadFault, id_bytes_max: usize) -> Faulty {
    let scan = Scanner::scan(line, id_bytes_max);
    if scan.form == Form::Array {
        return Faulty {
            recipient: Recipient::Client(None),
            code: Code::FrameBatch,
            rpc: rpc::INVALID_REQUEST,
            message: "expected one message, found an array".to_owned(),
            findings: Vec::new(),
        };
    }
    let span = scan.arguments.clone().filter(|span| span.contains(&fault.offset));
    // The arguments alone say more exactly what is wrong with them, under the limits of their own.
    let own = span
        .clone()
        .and_then(|span| line.get(span))
        .and_then(|arguments| Tape::new().read(arguments, &Limits::default().arguments_text()).err());
    faulty(&scan, own.as_ref().unwrap_or(fault), span.is_some())
}

fn faulty(scan: &Scan, fault: &ReadFault, in_arguments: bool) -> Faulty {
    let finding = fault.finding();
    let (code, rpc) = match &fault.kind {
        ReadFaultKind::Syntax(_) | ReadFaultKind::Utf8 => (Code::FrameInvalid, rpc::PARSE_ERROR),
        ReadFaultKind::DuplicateName { .. } => (Code::FrameDuplicateMember, rpc::INVALID_REQUEST),
        ReadFaultKind::Limit { .. } => (Code::FrameTooLarge, rpc::INVALID_REQUEST),
        _ => (Code::FrameInvalid, rpc::INVALID_REQUEST),
    };
    let call = scan.method.as_deref() == Some("tools/call");
    let answers = scan.method.is_none() && (scan.result || scan.error);
    let (recipient, code) = match &scan.id {
        Some(id) if call && in_arguments && scan.closed => {
            let code = if code == Code::FrameTooLarge {
                Code::CallArgumentsUndecided
            } else {
                Code::CallArgumentsInvalid
            };
            (Recipient::Caller(id.clone()), code)
        }
        Some(id) if answers => (Recipient::Upstream(id.clone()), code),
        None if call && scan.ids == 0 && scan.closed => (Recipient::Log, Code::CallWithoutId),
        id => (Recipient::Client(id.clone()), code),
    };
    Faulty { recipient, code, rpc, message: finding.message.clone(), findings: vec![finding] }
}
