//! The signals: what makes a session stop, besides the end of the client's stream, and what has a gate read its
//! configuration again.

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

/// What SIGHUP means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HangUpMeans {
    /// The terminal is gone: the process ends, as by the other signals.
    Stop,
    /// The configuration is to be read again; [`Reloads`] tells of it.
    Reload,
}

/// Follows the signals that ask a process to end: the first one drains, the second one ends the waiting.
///
/// # Errors
///
/// If the operating system does not let signals be followed.
pub fn on_signals(hang_up: HangUpMeans) -> std::io::Result<watch::Receiver<Stop>> {
    let (sender, receiver) = watch::channel(Stop::No);
    let mut terminations = Terminations::new(hang_up)?;
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
    hangup: Option<tokio::signal::unix::Signal>,
}

#[cfg(unix)]
impl Terminations {
    fn new(hang_up: HangUpMeans) -> std::io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        Ok(Terminations {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
            hangup: (hang_up == HangUpMeans::Stop).then(|| signal(SignalKind::hangup())).transpose()?,
        })
    }

    async fn next(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
            () = received(self.hangup.as_mut()) => {}
        }
    }
}

#[cfg(not(unix))]
struct Terminations;

#[cfg(not(unix))]
impl Terminations {
    #[expect(clippy::unnecessary_wraps, reason = "the same form as on Unix")]
    fn new(_: HangUpMeans) -> std::io::Result<Self> {
        Ok(Terminations)
    }

    async fn next(&mut self) {
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}

/// The next time that this signal comes; never for none.
#[cfg(unix)]
async fn received(signal: Option<&mut tokio::signal::unix::Signal>) {
    match signal {
        Some(signal) => {
            signal.recv().await;
        }
        None => std::future::pending().await,
    }
}

/// The requests that the configuration be read again: SIGHUP. Where there is no such signal, none ever comes.
pub struct Reloads {
    #[cfg(unix)]
    hangup: tokio::signal::unix::Signal,
}

impl Reloads {
    /// Follows them, from now on.
    ///
    /// # Errors
    ///
    /// If the operating system does not let signals be followed.
    pub fn follow() -> std::io::Result<Reloads> {
        Ok(Reloads {
            #[cfg(unix)]
            hangup: tokio::signal::unix::signal(tokio::signal::unix::SignalKind::hangup())?,
        })
    }

    /// Waits for the next one. Several that come while nobody waits are one.
    pub async fn next(&mut self) {
        #[cfg(unix)]
        self.hangup.recv().await;
        #[cfg(not(unix))]
        std::future::pending::<()>().await;
    }
}
