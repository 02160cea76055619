//! What changes and concerns clients that listen.

use std::sync::Arc;

use tokio::sync::broadcast;

use super::link::News;

/// Changes that wait for a client; a slow one loses the oldest, and is told that the lists are others.
const CHANGES_WAITING_MAX: usize = 256;

/// Something that a client may want to know.
#[derive(Debug, Clone)]
pub(crate) enum Change {
    /// The tools are others.
    Tools,
    /// A server's notification other than one about its tools.
    Told {
        /// Its method.
        method: Arc<str>,
    },
    /// A single resource is another.
    Resource {
        /// Whose it is.
        upstream: Arc<str>,
        /// Which one.
        uri: Arc<str>,
    },
}

impl Change {
    /// A server's notification.
    pub(crate) fn told(upstream: &str, news: News) -> Change {
        tracing::debug!(upstream, method = news.method, "the server tells");
        match news.uri {
            Some(uri) => Change::Resource { upstream: upstream.into(), uri: uri.into() },
            None => Change::Told { method: news.method.into() },
        }
    }
}

/// Where changes are told and listened to.
#[derive(Debug, Clone)]
pub(crate) struct Changes(broadcast::Sender<Change>);

impl Changes {
    pub(crate) fn new() -> Changes {
        Changes(broadcast::Sender::new(CHANGES_WAITING_MAX))
    }

    pub(crate) fn tell(&self, change: Change) {
        // Nobody may listen.
        let _ = self.0.send(change);
    }

    pub(crate) fn listen(&self) -> Listener {
        Listener(self.0.subscribe())
    }
}

/// A client that listens.
pub(crate) struct Listener(broadcast::Receiver<Change>);

impl Listener {
    /// The next change; `None` when there will be none.
    pub(crate) async fn next(&mut self) -> Option<Change> {
        match self.0.recv().await {
            Ok(change) => Some(change),
            Err(broadcast::error::RecvError::Lagged(_)) => Some(Change::Tools),
            Err(broadcast::error::RecvError::Closed) => None,
        }
    }
}
