//! What makes a session stop, besides the end of the client's stream.

use tokio::sync::watch;

/// How urgently a session should stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stop {
    /// Not at all.
    No,
    /// Take no new calls and wait a while for those that are out.
    Drain,
    /// Wait no longer.
    Now,
}

/// Follows the signals that ask a process to end: the first one drains, the second one ends the waiting.
///
/// # Errors
///
/// If the operating system does not let signals be followed.
pub fn on_signals() -> std::io::Result<watch::Receiver<Stop>> {
    let (sender, receiver) = watch::channel(Stop::No);
    let mut terminations = Terminations::new()?;
    tokio::spawn(async move {
        for stop in [Stop::Drain, Stop::Now] {
            terminations.next().await;
            tracing::info!(?stop, "asked to stop");
            if sender.send(stop).is_err() {
                return;
            }
        }
        // The sender stays, so that the receiver goes on waiting for a change that does not come.
        sender.closed().await;
    });
    Ok(receiver)
}

#[cfg(unix)]
struct Terminations {
    interrupt: tokio::signal::unix::Signal,
    terminate: tokio::signal::unix::Signal,
    hangup: tokio::signal::unix::Signal,
}

#[cfg(unix)]
impl Terminations {
    fn new() -> std::io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        Ok(Terminations {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
            hangup: signal(SignalKind::hangup())?,
        })
    }

    async fn next(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
            _ = self.hangup.recv() => {}
        }
    }
}

#[cfg(not(unix))]
struct Terminations;

#[cfg(not(unix))]
impl Terminations {
    #[expect(clippy::unnecessary_wraps, reason = "the same form as on Unix")]
    fn new() -> std::io::Result<Self> {
        Ok(Terminations)
    }

    async fn next(&mut self) {
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}
