//! What an upstream's frame answers or asks.

use std::ops::Range;

use callgate_schema::json::{Kind, Node, ReadLimits, Tape};

use super::envelope::{self, Envelope};
use super::{Scan, Scanner};
use crate::reserved::Meta;
use crate::{FrameLimits, RequestId};

/// An upstream's frame.
#[derive(Debug)]
pub enum UpstreamFrame {
    /// White space only: no frame.
    Blank,
    /// An answer to a request.
    Answer(Answer),
    /// A request of the upstream's own: passed on as it is.
    Request {
        /// Its id.
        id: RequestId,
        /// Its method.
        method: String,
    },
    /// A notification: passed on as it is.
    Notification {
        /// Its method.
        method: String,
    },
    /// A line that is no frame, or one that the strict reader does not take whole: not forwarded.
    Unreadable {
        /// What is wrong with it.
        fault: String,
        /// What can be said of it all the same.
        scan: Scan,
    },
}

/// An answer to a request.
#[derive(Debug)]
pub struct Answer {
    /// The request's id, in the upstream's spelling.
    pub id: RequestId,
    /// Where in the frame the id is.
    pub id_span: Range<usize>,
    /// What it says.
    pub content: AnswerContent,
}

impl Answer {
    /// Whether the upstream spoke in the gate's name: members of the result's `_meta` that are the gate's alone.
    pub fn is_forged(&self) -> bool {
        match &self.content {
            AnswerContent::Result(ResultFacts { meta: Some(meta), .. }) => !meta.cuts.is_empty(),
            AnswerContent::Result(_) | AnswerContent::Error(_) => false,
        }
    }
}

/// What an answer says.
#[derive(Debug)]
pub enum AnswerContent {
    /// A result.
    Result(ResultFacts),
    /// An error, and where in the frame it is.
    Error(Range<usize>),
}

/// What the gate needs to know of a result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResultFacts {
    /// Where in the frame it is.
    pub span: Range<usize>,
    /// Whether it is an object, as every result of the protocol is.
    pub object: bool,
    /// Whether it is the whole result: one of the newer era may be a question instead.
    pub complete: bool,
    /// Whether the tool says that it failed: only `isError` with the value `true` does.
    pub is_error: bool,
    /// Where in the frame the value of `structuredContent` is.
    pub structured: Option<Range<usize>>,
    /// Its `_meta`; the places are those in the frame.
    pub meta: Option<Meta>,
    /// The revision, where the result is that of `initialize`.
    pub protocol_version: Option<String>,
}

/// Reads an upstream's frames; the scratch is kept from one to the next.
#[derive(Debug)]
pub struct UpstreamReader {
    tape: Tape,
    text: ReadLimits,
    id_bytes_max: usize,
}

impl UpstreamReader {
    /// A reader with these limits.
    pub fn new(limits: &FrameLimits) -> UpstreamReader {
        UpstreamReader { tape: Tape::new(), text: limits.frame_text(), id_bytes_max: limits.id_bytes_max }
    }

    /// Reads one line. White space around the message, the line's end included, is no fault.
    pub fn read(&mut self, line: &[u8]) -> UpstreamFrame {
        if line.iter().all(u8::is_ascii_whitespace) {
            return UpstreamFrame::Blank;
        }
        let root = match self.tape.read(line, &self.text) {
            Ok(root) => root,
            Err(fault) => return unreadable(line, fault.finding().message, self.id_bytes_max),
        };
        match envelope::read(root, self.id_bytes_max) {
            Ok(Envelope::Request { id, method, .. }) => UpstreamFrame::Request { id, method },
            Ok(Envelope::Notification { method, .. }) => UpstreamFrame::Notification { method },
            Ok(Envelope::Result { id, id_node, result }) => UpstreamFrame::Answer(Answer {
                id,
                id_span: id_node.span(),
                content: AnswerContent::Result(facts(result)),
            }),
            Ok(Envelope::Error { id: Some(id), id_node: Some(id_node), error }) => {
                UpstreamFrame::Answer(Answer {
                    id,
                    id_span: id_node.span(),
                    content: AnswerContent::Error(error.span()),
                })
            }
            Ok(Envelope::Error { .. }) => {
                let fault = "expected an error to name the request that it answers".to_owned();
                unreadable(line, fault, self.id_bytes_max)
            }
            Err(fault) => unreadable(line, fault.message, self.id_bytes_max),
        }
    }
}

fn unreadable(line: &[u8], fault: String, id_bytes_max: usize) -> UpstreamFrame {
    UpstreamFrame::Unreadable { fault, scan: Scanner::scan(line, id_bytes_max) }
}

fn facts(result: Node<'_>) -> ResultFacts {
    ResultFacts {
        span: result.span(),
        object: result.kind() == Kind::Object,
        complete: result.member("resultType").is_none_or(|kind| kind.as_str().as_deref() == Some("complete")),
        is_error: result.member("isError").and_then(Node::as_bool) == Some(true),
        structured: result.member("structuredContent").map(Node::span),
        meta: result.member("_meta").map(Meta::of),
        protocol_version: result
            .member("protocolVersion")
            .and_then(Node::as_str)
            .map(std::borrow::Cow::into_owned),
    }
}
