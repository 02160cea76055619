//! The tasks that read and write the streams, and the bounds on what waits between them.
//!
//! The session's task never waits for a stream: it takes a frame only while there is room for what may come of it, and
//! everything that it sends is queued. So two peers that both block on writing cannot make it block, and neither can
//! make it grow: what was read and is not written yet is bounded in bytes, each way for itself.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use callgate_mcp::FrameLimits;
use callgate_mcp::frame::{ClientFrame, ClientReader, Scan, UpstreamFrame, UpstreamReader, one_line};
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt as _, BufWriter};
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore, mpsc};
use tokio::task::JoinHandle;

use crate::line::{LineReader, NextLine};

/// What a frame costs besides its bytes, so that many small ones are bounded too.
const FRAME_COST_BYTES: usize = 512;
/// Frames between a reading task and the session.
const FRAMES_WAITING_MAX: usize = 64;
/// Bytes in an outbox from which on nothing is taken in that could add to it.
const OUTBOX_BYTES_FULL: usize = 1 << 20;

/// One line, with its share of the bound on what is held.
#[derive(Debug)]
pub(crate) struct Line {
    bytes: Box<[u8]>,
    /// Given back when the line is dropped.
    _held: Option<OwnedSemaphorePermit>,
}

impl Line {
    /// A line that the gate wrote itself.
    pub(crate) fn own(bytes: Vec<u8>) -> Line {
        Line { bytes: bytes.into(), _held: None }
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The bytes, counted by the caller from here on.
    pub(crate) fn into_bytes(self) -> Box<[u8]> {
        self.bytes
    }

    /// Other bytes in the same share.
    pub(crate) fn replace(mut self, bytes: Vec<u8>) -> Line {
        self.bytes = bytes.into();
        self
    }
}

/// What a reading task gives.
#[derive(Debug)]
pub(crate) enum Incoming<F> {
    /// A frame.
    Frame(F, Line),
    /// A line over the maximum; only what a scan found of it is left.
    Oversize(Scan),
    /// The end of the stream.
    End(Option<io::Error>),
}

/// Reads a peer's lines.
pub(crate) trait FrameSource: Send + 'static {
    /// What a line becomes.
    type Frame: Send + 'static;

    /// Judges one line.
    fn read(&mut self, line: &[u8]) -> Self::Frame;

    /// Whether the strict reader took the line whole.
    fn is_whole(frame: &Self::Frame) -> bool;
}

impl FrameSource for ClientReader {
    type Frame = ClientFrame;

    fn read(&mut self, line: &[u8]) -> ClientFrame {
        ClientReader::read(self, line)
    }

    fn is_whole(frame: &ClientFrame) -> bool {
        !matches!(frame, ClientFrame::Faulty(_))
    }
}

impl FrameSource for UpstreamReader {
    type Frame = UpstreamFrame;

    fn read(&mut self, line: &[u8]) -> UpstreamFrame {
        UpstreamReader::read(self, line)
    }

    fn is_whole(frame: &UpstreamFrame) -> bool {
        !matches!(frame, UpstreamFrame::Unreadable { .. })
    }
}

/// Starts the task that reads a stream. At most `held_bytes_max` of what it reads is held at once, but for one frame
/// that is larger by itself.
pub(crate) fn read_frames<S: FrameSource>(
    stream: impl AsyncRead + Send + Unpin + 'static,
    mut source: S,
    limits: &FrameLimits,
    held_bytes_max: u32,
) -> mpsc::Receiver<Incoming<S::Frame>> {
    let (sender, receiver) = mpsc::channel(FRAMES_WAITING_MAX);
    let share = Arc::new(Semaphore::new(held_bytes_max as usize));
    let mut lines = LineReader::new(stream, limits);
    tokio::spawn(async move {
        loop {
            let incoming = match lines.next().await {
                Ok(NextLine::Line(mut line)) => {
                    let cost =
                        u32::try_from(line.len() + FRAME_COST_BYTES).unwrap_or(u32::MAX).min(held_bytes_max);
                    let held = Arc::clone(&share).acquire_many_owned(cost).await.ok();
                    let frame = source.read(&line);
                    if S::is_whole(&frame) {
                        one_line(&mut line);
                    }
                    Incoming::Frame(frame, Line { bytes: line.into(), _held: held })
                }
                Ok(NextLine::Oversize(scan)) => Incoming::Oversize(scan),
                Ok(NextLine::End) => Incoming::End(None),
                Err(error) => Incoming::End(Some(error)),
            };
            let end = matches!(incoming, Incoming::End(_));
            if sender.send(incoming).await.is_err() || end {
                return;
            }
        }
    });
    receiver
}

/// What waits to be written to one peer. Queueing never waits.
#[derive(Debug)]
pub(crate) struct Outbox {
    lines: mpsc::UnboundedSender<Line>,
    level: Arc<Level>,
}

#[derive(Debug, Default)]
struct Level {
    bytes: AtomicUsize,
    sunk: Notify,
}

impl Outbox {
    /// Starts the task that writes to a stream. It ends when the outbox is dropped and everything is written, or when
    /// the stream takes no more.
    pub(crate) fn start(
        stream: impl AsyncWrite + Send + Unpin + 'static,
    ) -> (Outbox, JoinHandle<io::Result<()>>) {
        let (lines, waiting) = mpsc::unbounded_channel();
        let level = Arc::new(Level::default());
        let task = tokio::spawn(write_lines(waiting, stream, Arc::clone(&level)));
        (Outbox { lines, level }, task)
    }

    /// An outbox for a peer that reads no more: everything is lost.
    pub(crate) fn nowhere() -> Outbox {
        Outbox { lines: mpsc::unbounded_channel().0, level: Arc::default() }
    }

    /// Queues a line. It is lost if the stream takes no more, which the writing task tells.
    pub(crate) fn push(&self, line: Line) {
        debug_assert!(!line.bytes.contains(&b'\n'), "a message is one line");
        let cost = line.bytes.len() + FRAME_COST_BYTES;
        self.level.bytes.fetch_add(cost, Ordering::Relaxed);
        if self.lines.send(line).is_err() {
            // The task that would take it has ended: its result says why.
            self.level.bytes.fetch_sub(cost, Ordering::Relaxed);
        }
    }

    /// Whether there is room for more.
    pub(crate) fn has_room(&self) -> bool {
        self.level.bytes.load(Ordering::Relaxed) < OUTBOX_BYTES_FULL
    }

    /// Waits until there is room.
    pub(crate) async fn room(&self) {
        while !self.has_room() {
            self.level.sunk.notified().await;
        }
    }
}

async fn write_lines(
    mut waiting: mpsc::UnboundedReceiver<Line>,
    stream: impl AsyncWrite + Unpin,
    level: Arc<Level>,
) -> io::Result<()> {
    let mut stream = BufWriter::with_capacity(64 << 10, stream);
    while let Some(line) = waiting.recv().await {
        stream.write_all(&line.bytes).await?;
        stream.write_all(b"\n").await?;
        level.bytes.fetch_sub(line.bytes.len() + FRAME_COST_BYTES, Ordering::Relaxed);
        // One permit is kept, so a notice between the session's look and its wait is not lost.
        level.sunk.notify_one();
        drop(line);
        if waiting.is_empty() {
            stream.flush().await?;
        }
    }
    stream.shutdown().await
}
