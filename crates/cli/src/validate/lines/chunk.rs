//! A file in pieces of whole lines.

use std::io::{self, ErrorKind, Read};

use super::LINE_BYTES_MAX;

/// Bytes of a chunk after which no line is added. It is read in pieces of this size, too.
const CHUNK_BYTES: usize = 256 << 10;
/// Lines of a chunk, so that what is told of very short ones stays small.
const CHUNK_LINES_MAX: usize = 2_048;

/// Some whole lines.
#[derive(Debug)]
pub(super) struct Chunk {
    /// From 0, without gaps.
    pub(super) sequence: u64,
    /// The lines, each but perhaps the last with its end.
    pub(super) bytes: Vec<u8>,
    /// Bytes of the file that it stands for.
    pub(super) read: usize,
    /// Of the first line only its end is here: it was too long.
    pub(super) first_is_overlong: bool,
}

/// Reads a file in chunks.
pub(super) struct Chunks {
    input: Box<dyn Read + Send>,
    sequence: u64,
    /// What was read after the last whole line.
    rest: Vec<u8>,
    ended: bool,
}

impl Chunks {
    pub(super) fn of(input: Box<dyn Read + Send>) -> Chunks {
        Chunks { input, sequence: 0, rest: Vec::new(), ended: false }
    }

    /// The next chunk, in this buffer; nothing at the end.
    pub(super) fn next(&mut self, mut bytes: Vec<u8>) -> io::Result<Option<Chunk>> {
        bytes.clear();
        bytes.append(&mut self.rest);
        // A buffer that held a long line once gives its memory back.
        bytes.shrink_to(2 * CHUNK_BYTES);
        let (mut skipped, mut first_is_overlong) = (0, false);
        while !self.ended && !is_full(&bytes) {
            if bytes.len() > LINE_BYTES_MAX {
                // There is no end of a line in it.
                first_is_overlong = true;
                skipped += bytes.len();
                bytes.clear();
                bytes.shrink_to(CHUNK_BYTES);
            }
            let start = bytes.len();
            self.read_into(&mut bytes)?;
            if first_is_overlong && start == 0 && skipped > 0 && !bytes.is_empty() {
                // On the way to the end of the long line.
                let end = memchr::memchr(b'\n', &bytes);
                skipped += end.unwrap_or(bytes.len());
                match end {
                    Some(end) => _ = bytes.drain(..end),
                    None => bytes.clear(),
                }
            }
        }
        if bytes.is_empty() && !first_is_overlong {
            return Ok(None);
        }
        if !self.ended || is_full(&bytes) {
            let end = end_of_lines(&bytes);
            self.rest.extend_from_slice(bytes.get(end..).unwrap_or_default());
            bytes.truncate(end);
        }
        let chunk = Chunk { sequence: self.sequence, read: bytes.len() + skipped, bytes, first_is_overlong };
        self.sequence += 1;
        Ok(Some(chunk))
    }

    fn read_into(&mut self, bytes: &mut Vec<u8>) -> io::Result<()> {
        let start = bytes.len();
        bytes.resize(start + CHUNK_BYTES, 0);
        let read = loop {
            match self.input.read(bytes.get_mut(start..).unwrap_or_default()) {
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                other => break other,
            }
        };
        let read = read.inspect_err(|_| bytes.truncate(start))?;
        bytes.truncate(start + read);
        self.ended = read == 0;
        Ok(())
    }
}

/// Whether there is a whole line and enough of them.
fn is_full(bytes: &[u8]) -> bool {
    let is_large = bytes.len() >= CHUNK_BYTES && memchr::memchr(b'\n', bytes).is_some();
    is_large || memchr::memchr_iter(b'\n', bytes).nth(CHUNK_LINES_MAX - 1).is_some()
}

/// Where the last line ends that belongs into this chunk.
fn end_of_lines(bytes: &[u8]) -> usize {
    let most = memchr::memchr_iter(b'\n', bytes).nth(CHUNK_LINES_MAX - 1);
    most.or_else(|| memchr::memrchr(b'\n', bytes)).map_or(bytes.len(), |end| end + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Gives its bytes in pieces of a size.
    struct Pieces(Vec<u8>, usize, usize);

    impl Read for Pieces {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let piece = self.0[self.1..].iter().take(self.2.min(buffer.len()));
            let read = piece.zip(buffer).map(|(from, to)| *to = *from).count();
            self.1 += read;
            Ok(read)
        }
    }

    fn chunks(text: &[u8], piece: usize) -> Vec<Chunk> {
        let mut chunks = Chunks::of(Box::new(Pieces(text.to_vec(), 0, piece)));
        std::iter::from_fn(|| chunks.next(Vec::new()).unwrap()).collect()
    }

    #[test]
    fn chunks_are_whole_lines_and_together_the_file() {
        let mut text = Vec::new();
        for at in 0..9_000 {
            text.extend_from_slice(format!("{at:>width$}\n", width = at % 90).as_bytes());
        }
        text.extend_from_slice(b"no end");
        for piece in [1_000, 4_096, usize::MAX] {
            let chunks = chunks(&text, piece);
            assert!(chunks.len() > 3);
            for (at, chunk) in chunks.iter().enumerate() {
                assert_eq!(chunk.sequence, at as u64);
                assert!(chunk.bytes.ends_with(b"\n") || at + 1 == chunks.len());
                assert!(chunk.bytes.split(|byte| *byte == b'\n').count() <= CHUNK_LINES_MAX + 1);
            }
            assert_eq!(chunks.iter().flat_map(|chunk| chunk.bytes.clone()).collect::<Vec<u8>>(), text);
        }
    }

    #[test]
    fn a_line_that_is_too_long_takes_no_memory_and_is_one_line() {
        let long = vec![b'x'; LINE_BYTES_MAX + 3 * CHUNK_BYTES];
        let text = [&b"a\n"[..], &long, b"\nb\n"].concat();
        let chunks = chunks(&text, usize::MAX);
        assert!(chunks.iter().all(|chunk| chunk.bytes.len() <= 2 * CHUNK_BYTES));
        assert_eq!(chunks.iter().map(|chunk| chunk.read).sum::<usize>(), text.len());
        let lines: Vec<u8> = chunks.iter().flat_map(|chunk| chunk.bytes.clone()).collect();
        assert_eq!(lines, b"a\n\nb\n");
        assert_eq!(chunks.iter().filter(|chunk| chunk.first_is_overlong).count(), 1);
        let unended = super::tests::chunks(&long, usize::MAX);
        assert_eq!((unended.len(), unended[0].first_is_overlong), (1, true));
    }
}
