//! What a client's frame leads to.

use callgate_gateway::Refusal;
use callgate_gateway::policy::{Question, Target};
use callgate_mcp::frame::{ClientFrame, Faulty, Recipient, Subject};
use callgate_mcp::{RequestId, answer, rpc};
use callgate_schema::json::Tape;
use callgate_wire::Code;

use super::state::{CallStage, Handshake, Kind, Session, SessionSettings, UpstreamState, Withdrawal};
use crate::lane::Line;

impl Session {
    /// Takes a frame of the client.
    pub(super) fn on_client_frame(&mut self, frame: ClientFrame, line: Line) {
        match frame {
            ClientFrame::Blank => {}
            ClientFrame::Faulty(faulty) => self.on_faulty(faulty),
            ClientFrame::Call(call) => {
                if self.takes(&call.id) && self.has_revision(&call.id, "tools/call") {
                    self.on_call(call, line);
                }
            }
            ClientFrame::List { id, cursor } => {
                if self.takes(&id) && self.has_revision(&id, "tools/list") {
                    self.on_list(id, cursor);
                }
            }
            ClientFrame::Request { id, method } => {
                if self.takes(&id) && self.has_revision(&id, &method) {
                    self.on_request(&id, method, line);
                }
            }
            ClientFrame::Cancelled { request } => self.on_cancelled(&request, line),
            ClientFrame::Notification { method } => {
                tracing::debug!(method, "the client notifies");
                self.pass(line);
            }
            ClientFrame::Response { .. } => self.pass(line),
        }
    }

    /// Whether a request with this id can be told from the others; if not, it is answered.
    fn takes(&mut self, id: &RequestId) -> bool {
        let own = self.listing.as_ref().is_some_and(|listing| listing.id == *id);
        if !own && !self.open.contains_key(id) && !self.late.contains(id) {
            return true;
        }
        self.answer_error(
            id,
            Code::RequestIdInUse,
            "expected an id of its own for each request; this one was not sent, and the first one goes on",
        );
        false
    }

    /// Whether a request may go on after what became of `initialize`; if not, it is answered.
    fn has_revision(&mut self, id: &RequestId, method: &str) -> bool {
        if self.handshake == Handshake::Open || matches!(method, "initialize" | "ping") {
            return true;
        }
        self.answer_error(
            id,
            Code::ProtocolRevisionUnsupported,
            "expected a revision that the peers agree on, found that the answer to `initialize` was refused; this \
             request was not sent; send `initialize` again first",
        );
        false
    }

    /// A request that the gate passes on as it is.
    fn on_request(&mut self, id: &RequestId, method: String, line: Line) {
        if self.upstream != UpstreamState::Up {
            self.answer_error(id, Code::UpstreamGone, "the upstream has ended; the request was not sent");
            return;
        }
        if self.open.len() - self.calls >= self.settings.requests_in_flight_max {
            let message = "more requests are open than are taken at once; the request was not sent";
            self.answer_error(id, Code::CallsInFlight, message);
            return;
        }
        if let Some((code, message)) = self.forbids(&method, &line) {
            tracing::info!(method, %code, "refused");
            self.answer_error(id, code, &message);
            return;
        }
        tracing::debug!(method, "the client asks");
        self.keep(id.clone(), Kind::Passed { method });
        self.start_clock(id);
        self.pass(line);
    }

    /// Why the rules do not permit a request; `None` if they do. Without rules nothing is looked at, and what the protocol
    /// itself lives by needs none.
    fn forbids(&self, method: &str, line: &Line) -> Option<(Code, String)> {
        let SessionSettings { rules, claims, principal, upstream, frames, .. } = &*self.settings;
        if rules.is_empty() || matches!(method, "initialize" | "ping") {
            return None;
        }
        let (mut tape, mut empty) = (Tape::new(), Tape::new());
        // It was read before, by the same limits.
        let read = tape.read(line.bytes(), &frames.frame_text());
        let (Ok(frame), Ok(nothing)) = (read, empty.read(b"{}", &frames.frame_text())) else {
            return Some((Code::FrameInvalid, "the request could not be read a second time".to_owned()));
        };
        let subject = match Subject::of(frame, method) {
            Ok(subject) => subject,
            Err(message) => return Some((Code::FrameDuplicateMember, message)),
        };
        let question = Question {
            principal,
            claims,
            target: Target { kind: subject.kind, upstream, name: &subject.name },
            arguments: subject.arguments.unwrap_or(nothing),
        };
        let refusal = rules.permit(&question).err()?;
        let help = refusal.help.as_deref().map(|help| format!("; {help}")).unwrap_or_default();
        Some((refusal.code, format!("{}{help}", refusal.message)))
    }

    /// Sends what is no tool call to the upstream, as it is.
    fn pass(&mut self, line: Line) {
        if self.upstream == UpstreamState::Up {
            self.to_upstream.push(line);
        }
    }

    /// The client withdraws a request, and waits for no answer to it.
    fn on_cancelled(&mut self, request: &RequestId, line: Line) {
        let Some(open) = self.open.get_mut(request) else {
            tracing::debug!(id = %request, "a request is withdrawn that is not open");
            return;
        };
        match &mut open.kind {
            Kind::Passed { method } => {
                tracing::debug!(method, "withdrawn");
                self.forget(request);
                self.late.push(request.clone(), None);
                self.pass(line);
            }
            Kind::List => {
                self.forget(request);
            }
            Kind::Call(call) => match &mut call.stage {
                CallStage::Waiting { .. } => {
                    tracing::info!(tool = call.tool, "withdrawn before it was sent");
                    self.forget(request);
                }
                CallStage::Opening { withdrawn } => *withdrawn = Some(Withdrawal::Caller),
                CallStage::Sent(_) => {
                    self.withdraw_sent(request);
                    self.pass(line);
                }
                // The answer is on its way.
                CallStage::Settling => {}
            },
        }
    }

    /// Tells whoever waits that a frame was not forwarded.
    fn on_faulty(&mut self, faulty: Faulty) {
        let Faulty { recipient, code, rpc, message, findings } = faulty;
        if matches!(recipient, Recipient::Caller(_)) {
            // The message could name members of the arguments, which are not for the log.
            tracing::warn!(%code, "a call is not forwarded");
        } else {
            tracing::warn!(%code, message, "a frame of the client is not forwarded");
        }
        match recipient {
            Recipient::Client(id) => {
                let frame = answer::error(id.as_ref(), rpc, code, &message, &findings);
                self.to_client.push(Line::own(frame));
            }
            Recipient::Caller(id) => {
                if self.takes(&id) {
                    let refusal = Refusal::new(code, "the arguments could not be read")
                        .with_help("mend the arguments and call again")
                        .with_findings(findings, false);
                    self.to_client.push(Line::own(answer::refusal(&id, &refusal)));
                }
            }
            Recipient::Upstream(id) => {
                let text = "the client's answer could not be read";
                self.tell_upstream(Line::own(answer::plain_error(&id, rpc::INTERNAL_ERROR, text)));
            }
            Recipient::Log => {}
        }
    }

    /// Sends a frame of the gate's own to the upstream.
    pub(super) fn tell_upstream(&mut self, line: Line) {
        self.pass(line);
    }
}
