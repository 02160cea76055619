//! What changed, to whom it matters.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Weak};
use std::time::Duration;

use callgate_wire::Timestamp;

use super::state::Inner;

/// Events that wait for one listener. One that is further behind loses events, can tell by their numbers, and is told so
/// by [`Subscription::missed`].
pub const EVENTS_WAITING_MAX: usize = 1_024;

/// A change that has happened: it is visible before anybody hears of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    /// One more than that of the event before.
    pub sequence: u64,
    /// When.
    pub at: Timestamp,
    /// What.
    pub change: Change,
}

/// What changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// An entry was registered under this key.
    IntentRegistered {
        /// The key.
        key: String,
    },
    /// The entry under this key was taken back.
    IntentUnregistered {
        /// The key.
        key: String,
    },
    /// A type of entities was registered.
    EntityTypeRegistered {
        /// Its qualified name.
        key: String,
    },
    /// A type of entities was taken back.
    EntityTypeUnregistered {
        /// Its qualified name.
        key: String,
    },
}

impl Change {
    /// The key or name that it is about.
    pub fn key(&self) -> &str {
        match self {
            Change::IntentRegistered { key }
            | Change::IntentUnregistered { key }
            | Change::EntityTypeRegistered { key }
            | Change::EntityTypeUnregistered { key } => key,
        }
    }
}

/// A listener: the events from the moment on at which it began, in the order of the changes. Dropped, it hears nothing
/// more.
#[derive(Debug)]
pub struct Subscription {
    events: Receiver<Event>,
    missed: Arc<AtomicBool>,
    canceller: Canceller,
}

/// Ends a [`Subscription`] from elsewhere.
#[derive(Debug, Clone)]
pub struct Canceller {
    registry: Weak<Inner>,
    id: u64,
}

impl Canceller {
    /// The subscription hears nothing more.
    pub fn cancel(&self) {
        if let Some(inner) = self.registry.upgrade() {
            inner.locked().listeners.retain(|listener| listener.id != self.id);
        }
    }
}

impl Subscription {
    /// The next event that has happened, if there is one.
    pub fn next_event(&self) -> Option<Event> {
        self.events.try_recv().ok()
    }

    /// The next event, waited for; `None` once it is cancelled or the registry is gone, or after that time.
    pub fn wait(&self, patience: Duration) -> Option<Event> {
        self.events.recv_timeout(patience).ok()
    }

    /// The next event, waited for without end; `None` once it is cancelled or the registry is gone.
    pub fn wait_on(&self) -> Option<Event> {
        self.events.recv().ok()
    }

    /// Whether events were lost since this was last asked, since too many waited. Whoever keeps a copy of the entries then
    /// takes them anew from [`Registry::entries`](super::Registry::entries), after the events that wait: what changes
    /// later is told again.
    pub fn missed(&self) -> bool {
        self.missed.swap(false, Ordering::AcqRel)
    }

    /// What ends it from elsewhere.
    pub fn canceller(&self) -> Canceller {
        self.canceller.clone()
    }
}

impl Drop for Subscription {
    fn drop(&mut self) {
        self.canceller.cancel();
    }
}

/// The registry's end of a subscription.
#[derive(Debug)]
pub(super) struct Listener {
    id: u64,
    events: SyncSender<Event>,
    missed: Arc<AtomicBool>,
}

impl Listener {
    pub(super) fn pair(registry: &Arc<Inner>, id: u64) -> (Listener, Subscription) {
        let (sender, events) = sync_channel(EVENTS_WAITING_MAX);
        let canceller = Canceller { registry: Arc::downgrade(registry), id };
        let missed = Arc::new(AtomicBool::new(false));
        let listener = Listener { id, events: sender, missed: Arc::clone(&missed) };
        (listener, Subscription { events, missed, canceller })
    }

    /// Never waits; `false` if nobody listens any more.
    pub(super) fn tell(&self, event: &Event) -> bool {
        match self.events.try_send(event.clone()) {
            Ok(()) => true,
            Err(TrySendError::Full(_)) => {
                self.missed.store(true, Ordering::Release);
                true
            }
            Err(TrySendError::Disconnected(_)) => false,
        }
    }
}
