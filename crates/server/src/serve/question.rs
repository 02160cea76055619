//! What a server of the older era asks while it works on a call.

use tokio::sync::mpsc;

use super::client::Client;
use super::link::{Asked, Link};

/// The questions about one call.
pub(super) struct Questions<'l> {
    link: &'l Link,
    asked: mpsc::Receiver<Asked>,
}

impl<'l> Questions<'l> {
    /// Questions that wait.
    pub(super) const WAITING_MAX: usize = 16;

    pub(super) fn new(link: &'l Link, asked: mpsc::Receiver<Asked>) -> Questions<'l> {
        Questions { link, asked }
    }

    /// Waits for the next question and answers it. A client that cannot be asked is not: the server learns so.
    pub(super) async fn answer(&mut self, client: &Client) {
        match self.asked.recv().await {
            Some(Asked { id, frame }) => {
                tracing::debug!(bytes = frame.len(), era = client.era.revision(), "a server asks its client");
                self.link.refuse(&id);
            }
            None => std::future::pending().await,
        }
    }
}
