//! Millions of calls, one on each line: all processors, constant memory, the same output whatever the threads do.
//!
//! ```text
//! reader ── chunk of lines ──▶ workers ── outcome ──▶ collector (in the order of the file) ──▶ output
//!    ▲                                                    │
//!    └────────────── buffer, to be used again ────────────┘
//! ```
//!
//! There are as many buffers as chunks may be under way, so a slow reader of the output holds up everything and nothing
//! grows.

mod chunk;
mod judge;
mod print;
mod tally;

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, IsTerminal as _, Read, Write as _};
use std::num::NonZero;
use std::path::Path;
use std::sync::Mutex;
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::thread;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use self::chunk::{Chunk, Chunks};
use self::judge::{Judge, Outcome};
use self::tally::Tally;
use super::contract::{Contract, exit};
use super::{Args, Format};
use crate::exit_code::{ExitCode, Failure};
use crate::render::escape::one_line;
use crate::render::output::{self, Reader};

/// Bytes of a line: the arguments' maximum of 8 MiB, a schema of 1 MiB, and what is around them. A longer one is stepped
/// over and told as a finding.
pub(super) const LINE_BYTES_MAX: usize = 10 << 20;

/// Threads that check lines. More than this have to wait for the one that reads.
const WORKERS_MAX: usize = 16;

pub(super) fn run(args: &Args, file: &Path, contract: &Contract) -> anyhow::Result<ExitCode> {
    let name = one_line(&file.display().to_string());
    let unreadable = |error: io::Error| Failure::usage(format!("failed to read `{name}`: {error}"));
    let (input, bytes): (Box<dyn Read + Send>, Option<u64>) = if file == Path::new("-") {
        (Box::new(io::stdin()), None)
    } else {
        let opened = File::open(file).map_err(unreadable)?;
        let bytes = opened.metadata().ok().filter(std::fs::Metadata::is_file).map(|known| known.len());
        (Box::new(opened), bytes)
    };
    let mut collector = Collector {
        format: args.format,
        show: args.show,
        tally: Tally::default(),
        bar: bar(bytes),
        reader: Reader::Listening,
    };
    process(input, contract, args, &mut collector)?.map_err(unreadable)?;
    collector.bar.finish_and_clear();
    let Collector { tally, reader, .. } = collector;
    if reader == Reader::Listening {
        match args.format {
            Format::Text => output::print(&print::summary(&tally, &name))?,
            Format::Json => output::print_exact(&print::summary_json(&tally))?,
        }
    }
    Ok(exit(tally.is_good()))
}

/// A bar on a terminal; elsewhere, and where nobody knows how much there is, nothing moves.
fn bar(bytes: Option<u64>) -> ProgressBar {
    let Some(bytes) = bytes.filter(|_| io::stderr().is_terminal()) else { return ProgressBar::hidden() };
    let bar = ProgressBar::with_draw_target(Some(bytes), ProgressDrawTarget::stderr_with_hz(8));
    let style = ProgressStyle::with_template("{bar:40} {bytes} of {total_bytes}  {msg}  {eta} left");
    bar.with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}

/// Reads, checks and collects; what keeps the input from being read is inside, what keeps the output from being written
/// outside.
fn process(
    input: Box<dyn Read + Send>,
    contract: &Contract,
    args: &Args,
    collector: &mut Collector,
) -> anyhow::Result<io::Result<()>> {
    let workers = thread::available_parallelism().map_or(1, NonZero::get).min(WORKERS_MAX);
    let buffers = 2 * workers + 2;
    let (free, freed) = channel();
    for _ in 0..buffers {
        let _ = free.send(Vec::new());
    }
    let (chunks, chunk) = sync_channel(workers);
    let chunk = Mutex::new(chunk);
    let (outcomes, outcome) = channel();
    thread::scope(|scope| {
        let reading = scope.spawn(move || read_all(input, &freed, &chunks));
        for _ in 0..workers {
            let outcomes = outcomes.clone();
            let chunk = &chunk;
            scope.spawn(move || work(chunk, &outcomes, contract, args));
        }
        drop(outcomes);
        let collected = collector.collect(&outcome, &free);
        // Whoever waits for a buffer or a place goes on, and ends.
        drop((free, outcome));
        let read = reading.join().unwrap_or_else(|_| Err(io::Error::other("the reading thread ended early")));
        collected.map(|()| read)
    })
}

fn read_all(
    input: Box<dyn Read + Send>,
    freed: &Receiver<Vec<u8>>,
    chunks: &SyncSender<Chunk>,
) -> io::Result<()> {
    let mut reading = Chunks::of(input);
    while let Ok(buffer) = freed.recv() {
        let Some(chunk) = reading.next(buffer)? else { break };
        if chunks.send(chunk).is_err() {
            break;
        }
    }
    Ok(())
}

fn work(chunks: &Mutex<Receiver<Chunk>>, outcomes: &Sender<Outcome>, contract: &Contract, args: &Args) {
    let mut judge = Judge::new(contract, args.format, args.show);
    let mut wanted = true;
    loop {
        let Ok(receiver) = chunks.lock() else { return };
        let Ok(chunk) = receiver.recv() else { return };
        drop(receiver);
        // Where nobody takes the outcome any more, chunks are still taken, so that the reading thread does not wait.
        wanted = wanted && outcomes.send(judge.chunk(chunk)).is_ok();
    }
}

/// Puts the outcomes into the order of the file.
struct Collector {
    format: Format,
    /// Lines that may still be shown.
    show: u64,
    tally: Tally,
    bar: ProgressBar,
    reader: Reader,
}

impl Collector {
    fn collect(&mut self, outcomes: &Receiver<Outcome>, free: &Sender<Vec<u8>>) -> anyhow::Result<()> {
        let mut early: BTreeMap<u64, Outcome> = BTreeMap::new();
        let mut next = 0;
        while let Ok(outcome) = outcomes.recv() {
            early.insert(outcome.sequence, outcome);
            while let Some(outcome) = early.remove(&next) {
                next += 1;
                let _ = free.send(self.take(outcome)?);
                if self.reader == Reader::Gone {
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    /// Counts and shows what came of a chunk, and gives back its buffer.
    fn take(&mut self, outcome: Outcome) -> anyhow::Result<Vec<u8>> {
        let lines_before = self.tally.lines;
        let mut shown = Vec::new();
        for told in &outcome.told {
            let line = lines_before + told.line;
            match self.format {
                Format::Json => print::line_json(&mut shown, line, told),
                Format::Text if self.show > 0 => {
                    self.show -= 1;
                    print::line(&mut shown, line, told);
                }
                Format::Text => {}
            }
        }
        self.tally.add(outcome.tally);
        self.bar.inc(outcome.bytes as u64);
        if !self.bar.is_hidden() {
            self.bar.set_message(format!("{} lines, {} refused", self.tally.lines, self.tally.refused()));
        }
        if shown.is_empty() {
            return Ok(outcome.buffer);
        }
        let format = self.format;
        self.reader = self.bar.suspend(|| match format {
            Format::Json => output::written(io::stdout().lock().write_all(&shown)),
            Format::Text => output::written(anstream::stdout().lock().write_all(&shown)),
        })?;
        Ok(outcome.buffer)
    }
}
