//! A registry on standard input and output, or any other pair of streams: a server of the app's own tools, with the gate
//! before them.

use std::io::{self, BufRead, Read as _, Write};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use callgate_gateway::Journal;
use callgate_gateway::registry::{Adapter as _, Ports, Unpublished};
use callgate_mcp::adapter::{McpAdapter, Reply, Work};

use crate::clock::{fresh_intent_id, now};

/// Calls and reads under way at once; a further line waits.
const WORK_MAX: usize = 64;

/// The ports of a registry that lives here: this journal, the clock of the machine, fresh ids, and the log.
pub fn local_ports(journal: Arc<dyn Journal>) -> Ports {
    Ports {
        journal,
        now: Arc::new(now),
        fresh_id: Arc::new(fresh_intent_id),
        on_fault: Arc::new(|fault| {
            let text = fault.text.to_string();
            tracing::error!(
                key = fault.key,
                correlation = fault.correlation_id,
                error = text,
                "a call failed"
            );
        }),
    }
}

/// Serves an adapter that is attached, one frame a line, until the input ends; returns when every call has been
/// answered. Calls run at the same time, each on a thread of its own, and what changes in the registry is announced when
/// it happens.
///
/// # Errors
/// Whatever keeps the input from being read; an output that nobody reads any more ends it without an error.
pub fn serve_local(
    adapter: McpAdapter,
    mut input: impl BufRead,
    output: impl Write + Send,
) -> io::Result<()> {
    let bytes_max = adapter.limits().frame_bytes_max;
    let canceller = adapter.registry().map(|registry| {
        let events = registry.subscribe();
        (events.canceller(), events)
    });
    let shared = Shared {
        adapter: Mutex::new(adapter),
        output: Mutex::new(output),
        working: Mutex::new(0),
        done: Condvar::new(),
    };
    std::thread::scope(|scope| {
        let (canceller, events) = canceller.unzip();
        if let Some(events) = events {
            let shared = &shared;
            scope.spawn(move || {
                while events.wait_on().is_some() {
                    shared.announce();
                }
            });
        }
        let mut line = Vec::new();
        let outcome = loop {
            match read_line(&mut input, &mut line, bytes_max) {
                Ok(Read::End) => break Ok(()),
                Ok(Read::TooLong) => {
                    let frame = locked(&shared.adapter).refuse_oversize();
                    shared.write(&frame);
                }
                Ok(Read::Line) => {
                    let reply = locked(&shared.adapter).take(&line);
                    match reply {
                        Reply::Silent => {}
                        Reply::Answer(frame) => shared.write(&frame),
                        Reply::Work(work) => {
                            shared.start();
                            let shared = &shared;
                            scope.spawn(move || shared.finish(*work));
                        }
                    }
                    shared.announce();
                }
                Err(error) => break Err(error),
            }
        };
        if let Some(canceller) = canceller {
            canceller.cancel();
        }
        outcome
    })
}

/// What the threads share.
struct Shared<W> {
    adapter: Mutex<McpAdapter>,
    output: Mutex<W>,
    /// Calls and reads under way.
    working: Mutex<usize>,
    done: Condvar,
}

impl<W: Write> Shared<W> {
    /// Writes one frame. That nobody reads any more is seen at the input, which then ends, too.
    fn write(&self, frame: &[u8]) {
        let mut output = locked(&self.output);
        let written =
            output.write_all(frame).and_then(|()| output.write_all(b"\n")).and_then(|()| output.flush());
        if let Err(error) = written {
            tracing::warn!(%error, "a frame could not be written");
        }
    }

    /// Takes in what has changed, and tells the client.
    fn announce(&self) {
        let (unpublished, frames) = {
            let mut adapter = locked(&self.adapter);
            (adapter.turn(), adapter.announcements())
        };
        log_unpublished(&unpublished);
        for frame in frames {
            self.write(&frame);
        }
    }

    /// Waits until one more may be under way.
    fn start(&self) {
        let mut working = locked(&self.working);
        while *working >= WORK_MAX {
            working = self.done.wait(working).unwrap_or_else(PoisonError::into_inner);
        }
        *working += 1;
    }

    fn finish(&self, work: Work) {
        self.write(&work.run());
        *locked(&self.working) -= 1;
        self.done.notify_one();
    }
}

fn log_unpublished(unpublished: &[Unpublished]) {
    for Unpublished { key, reason } in unpublished {
        tracing::warn!(key, reason, "an entry is not published");
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

enum Read {
    Line,
    /// It was skipped.
    TooLong,
    End,
}

/// Reads the next line into `line`, which never holds much more than `bytes_max`.
fn read_line(input: &mut impl BufRead, line: &mut Vec<u8>, bytes_max: usize) -> io::Result<Read> {
    line.clear();
    let most = bytes_max as u64 + 1;
    if input.by_ref().take(most).read_until(b'\n', line)? == 0 {
        return Ok(Read::End);
    }
    if line.ends_with(b"\n") || line.len() <= bytes_max {
        return Ok(Read::Line);
    }
    while !line.ends_with(b"\n") {
        line.clear();
        if input.by_ref().take(most).read_until(b'\n', line)? == 0 {
            break;
        }
    }
    Ok(Read::TooLong)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_that_is_too_long_is_skipped_and_the_next_one_is_read() {
        let mut input = io::BufReader::with_capacity(3, &b"abcdefgh\nok\n\nlast"[..]);
        let mut line = Vec::new();
        assert!(matches!(read_line(&mut input, &mut line, 4).unwrap(), Read::TooLong));
        for expected in [&b"ok\n"[..], b"\n", b"last"] {
            assert!(matches!(read_line(&mut input, &mut line, 4).unwrap(), Read::Line));
            assert_eq!(line, expected);
        }
        assert!(matches!(read_line(&mut input, &mut line, 4).unwrap(), Read::End));
    }
}
