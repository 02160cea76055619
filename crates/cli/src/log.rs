//! The log on standard error, through a thread of its own: a client that starts the gate with a pipe there and never
//! reads it must not be able to hold up the protocol. What the pipe does not take is lost, and that is said.

use std::io::{self, IsTerminal as _, Write as _};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TrySendError, sync_channel};
use std::time::Duration;

use tracing_subscriber::EnvFilter;
use tracing_subscriber::filter::LevelFilter;
use tracing_subscriber::fmt::MakeWriter;

use crate::render::escape;

/// Lines that wait for the pipe.
const LINES_WAITING_MAX: usize = 1_024;
/// How long the last lines may take.
const FLUSH: Duration = Duration::from_millis(500);

/// Ends the log when it is dropped: the lines that wait are written, if the pipe takes them in time.
pub(crate) struct Log {
    lines: SyncSender<Message>,
    ended: Receiver<()>,
}

enum Message {
    Line(Vec<u8>),
    End,
}

/// The variable that says for whom the log is: `json` for programs.
const FORMAT: &str = "CALLGATE_LOG_FORMAT";

/// Starts the log; `CALLGATE_LOG` says how much of it is wanted, and [`FORMAT`] for whom.
pub(crate) fn start() -> Log {
    let filter = EnvFilter::builder()
        .with_default_directive(LevelFilter::INFO.into())
        .with_env_var("CALLGATE_LOG")
        .from_env_lossy();
    let (lines, waiting) = sync_channel(LINES_WAITING_MAX);
    let (end, ended) = sync_channel(1);
    let lost = Arc::new(AtomicU64::new(0));
    let format = std::env::var(FORMAT).unwrap_or_default();
    let is_json = format == "json";
    let ansi = io::stderr().is_terminal() && !is_json;
    let writer = Writer { lines: lines.clone(), lost: Arc::clone(&lost), ansi };
    std::thread::spawn(move || {
        write_lines(&waiting, &lost);
        let _ = end.send(());
    });
    // Only a second log in one process could fail, and that one would find the first one's.
    let log = tracing_subscriber::fmt().with_env_filter(filter).with_writer(writer).with_target(false);
    let _ = if is_json { log.json().flatten_event(true).try_init() } else { log.with_ansi(ansi).try_init() };
    if !matches!(format.as_str(), "" | "text" | "json") {
        tracing::warn!("expected `text` or `json` in {FORMAT}, found another word; the log is text");
    }
    Log { lines, ended }
}

impl Drop for Log {
    fn drop(&mut self) {
        // A full channel means a pipe that takes nothing: there is nothing to wait for.
        if self.lines.try_send(Message::End).is_ok() {
            let _: Result<(), RecvTimeoutError> = self.ended.recv_timeout(FLUSH);
        }
    }
}

fn write_lines(waiting: &Receiver<Message>, lost: &AtomicU64) {
    let mut stream = io::stderr();
    while let Ok(Message::Line(line)) = waiting.recv() {
        let count = lost.swap(0, Ordering::Relaxed);
        // Nobody is left to tell of a standard error that is closed.
        if count > 0 {
            let _ = writeln!(stream, "{count} lines of this log are lost, since they were not read in time");
        }
        let _ = stream.write_all(&line);
    }
}

/// Hands each event's line over without waiting.
struct Writer {
    lines: SyncSender<Message>,
    lost: Arc<AtomicU64>,
    /// The formatter's own colours pass; it escapes those in texts from elsewhere itself.
    ansi: bool,
}

impl<'a> MakeWriter<'a> for Writer {
    type Writer = &'a Writer;

    fn make_writer(&'a self) -> &'a Writer {
        self
    }
}

impl io::Write for &Writer {
    /// One event is one write, and becomes one line: names and messages in it come from the peers, and must not forge a
    /// line of ours.
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        match self.lines.try_send(Message::Line(one_line(line, self.ansi))) {
            Ok(()) | Err(TrySendError::Disconnected(_)) => {}
            Err(TrySendError::Full(_)) => {
                self.lost.fetch_add(1, Ordering::Relaxed);
            }
        }
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn one_line(line: &[u8], ansi: bool) -> Vec<u8> {
    let text = String::from_utf8_lossy(line.strip_suffix(b"\n").unwrap_or(line));
    let mut out = if ansi {
        text.split('\u{1b}').map(escape::one_line).collect::<Vec<_>>().join("\u{1b}")
    } else {
        escape::one_line(&text)
    };
    out.push('\n');
    out.into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_is_one_line_whatever_is_in_it() {
        let line = "WARN a name\nINFO \u{1b}[2Jforged\r\u{202e}\n".as_bytes();
        let text = |ansi| String::from_utf8(one_line(line, ansi)).unwrap();
        assert_eq!(text(false), "WARN a name\\u000aINFO \\u001b[2Jforged\\u000d\\u202e\n");
        assert_eq!(text(true), "WARN a name\\u000aINFO \u{1b}[2Jforged\\u000d\\u202e\n");
    }
}
