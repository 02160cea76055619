//! The order in which calls leave: that in which they came, though their intents become durable side by side.
//!
//! A client that writes and then reads what it wrote, without waiting in between, counts on it.

use std::collections::VecDeque;

use callgate_gateway::call::Dispatch;
use callgate_mcp::RequestId;

/// The calls that are being opened, in the order in which they came.
#[derive(Debug, Default)]
pub(super) struct Departures(VecDeque<Departure>);

#[derive(Debug)]
struct Departure {
    id: RequestId,
    ready: Option<Ready>,
}

/// A call whose intent is durable, and the frame to send.
#[derive(Debug)]
pub(super) struct Ready {
    pub(super) dispatch: Box<Dispatch>,
    pub(super) frame: Box<[u8]>,
}

impl Departures {
    /// Takes a place for a call that is about to be opened.
    pub(super) fn expect(&mut self, id: RequestId) {
        self.0.push_back(Departure { id, ready: None });
    }

    /// A call may leave as soon as those before it have.
    pub(super) fn ready(&mut self, id: &RequestId, ready: Ready) {
        if let Some(departure) = self.0.iter_mut().find(|departure| departure.id == *id) {
            departure.ready = Some(ready);
        }
    }

    /// A call will not leave, and keeps nobody waiting.
    pub(super) fn cancel(&mut self, id: &RequestId) {
        self.0.retain(|departure| departure.id != *id);
    }

    /// The next call to leave, if it is ready.
    pub(super) fn next(&mut self) -> Option<(RequestId, Ready)> {
        let departure = self.0.pop_front_if(|departure| departure.ready.is_some())?;
        departure.ready.map(|ready| (departure.id, ready))
    }
}
