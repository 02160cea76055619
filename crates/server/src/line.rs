//! Lines of bounded length out of a stream. A longer one is thrown away while a scan notes what is needed to answer it.

use std::io;

use callgate_mcp::FrameLimits;
use callgate_mcp::frame::{Scan, Scanner};
use tokio::io::{AsyncRead, AsyncReadExt as _};

/// Bytes that are read at once: what a pipe holds.
const CHUNK_BYTES: usize = 64 << 10;

/// What came next.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum NextLine {
    /// A line without its end; also the rest before the end of the stream.
    Line(Vec<u8>),
    /// A line over the maximum, and what a scan of it found.
    Oversize(Scan),
    /// The end of the stream.
    End,
}

/// Reads lines.
#[derive(Debug)]
pub(crate) struct LineReader<R> {
    stream: R,
    chunk: Box<[u8]>,
    from: usize,
    to: usize,
    line_bytes_max: usize,
    id_bytes_max: usize,
}

impl<R: AsyncRead + Unpin> LineReader<R> {
    pub(crate) fn new(stream: R, limits: &FrameLimits) -> Self {
        LineReader {
            stream,
            chunk: vec![0; CHUNK_BYTES].into_boxed_slice(),
            from: 0,
            to: 0,
            line_bytes_max: limits.frame_bytes_max,
            id_bytes_max: limits.id_bytes_max,
        }
    }

    /// The next line. Not to be dropped before it is done: what it has read of the line would be lost.
    pub(crate) async fn next(&mut self) -> io::Result<NextLine> {
        let mut line = Vec::new();
        let mut scanner: Option<Scanner> = None;
        loop {
            if self.from == self.to {
                self.from = 0;
                self.to = self.stream.read(&mut self.chunk).await?;
                if self.to == 0 {
                    return Ok(match scanner {
                        Some(scanner) => NextLine::Oversize(scanner.finish()),
                        None if line.is_empty() => NextLine::End,
                        None => NextLine::Line(line),
                    });
                }
            }
            let rest = self.chunk.get(self.from..self.to).unwrap_or_default();
            let end = rest.iter().position(|&byte| byte == b'\n');
            let piece = rest.get(..end.unwrap_or(rest.len())).unwrap_or_default();
            match &mut scanner {
                Some(scanner) => scanner.feed(piece),
                None if line.len() + piece.len() > self.line_bytes_max => {
                    let mut started = Scanner::new(self.id_bytes_max);
                    started.feed(&line);
                    started.feed(piece);
                    line = Vec::new();
                    scanner = Some(started);
                }
                None => line.extend_from_slice(piece),
            }
            self.from += piece.len() + usize::from(end.is_some());
            if end.is_some() {
                return Ok(match scanner {
                    Some(scanner) => NextLine::Oversize(scanner.finish()),
                    None => NextLine::Line(line),
                });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn lines(text: &[u8], line_bytes_max: usize) -> Vec<NextLine> {
        let limits = FrameLimits { frame_bytes_max: line_bytes_max, ..FrameLimits::default() };
        let mut reader = LineReader::new(text, &limits);
        let mut found = Vec::new();
        loop {
            let next = reader.next().await.unwrap();
            let end = next == NextLine::End;
            found.push(next);
            if end {
                return found;
            }
        }
    }

    #[tokio::test]
    async fn lines_end_at_line_feeds_and_at_the_end_of_the_stream() {
        let found = lines(b"a\r\n\nbc", 10).await;
        let line = |text: &str| NextLine::Line(text.as_bytes().to_vec());
        assert_eq!(found, [line("a\r"), line(""), line("bc"), NextLine::End]);
    }

    #[tokio::test]
    async fn a_line_over_the_maximum_is_scanned_and_the_next_one_is_read() {
        let long = format!(
            "{{\"id\":7,\"method\":\"tools/call\",\"params\":{{\"x\":\"{}\"}}}}\nnext",
            "y".repeat(200_000)
        );
        let found = lines(long.as_bytes(), 100).await;
        let NextLine::Oversize(scan) = &found[0] else { panic!("{found:?}") };
        assert_eq!((scan.id.as_ref().unwrap().raw(), scan.method.as_deref()), ("7", Some("tools/call")));
        assert_eq!(scan.bytes, long.len() - "\nnext".len());
        assert_eq!(found[1..], [NextLine::Line(b"next".to_vec()), NextLine::End]);
    }
}
