//! Server-sent events out of pieces as they come, each of bounded length.

/// Takes pieces and gives the data of events. Fields other than `data` are passed over, as are comments.
#[derive(Debug)]
pub(super) struct EventStream {
    line: Vec<u8>,
    data: Option<Vec<u8>>,
    /// The last piece ended with a CR: an LF that begins the next one ends no line of its own.
    after_cr: bool,
    bytes_max: usize,
}

/// An event or a line is longer than the maximum.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct TooLong;

impl EventStream {
    /// A stream whose events have at most so many bytes.
    pub(super) fn new(bytes_max: usize) -> EventStream {
        EventStream { line: Vec::new(), data: None, after_cr: false, bytes_max }
    }

    /// Takes a piece, and gives the events that it completes. A line ends at CR LF, at LF, and at CR.
    pub(super) fn feed(&mut self, mut piece: &[u8]) -> Result<Vec<Vec<u8>>, TooLong> {
        let mut events = Vec::new();
        if self.after_cr && !piece.is_empty() {
            piece = piece.strip_prefix(b"\n").unwrap_or(piece);
            self.after_cr = false;
        }
        while let Some(end) = memchr::memchr2(b'\n', b'\r', piece) {
            let (head, rest) = piece.split_at(end);
            self.push(head)?;
            events.extend(self.take_line());
            self.after_cr = rest == b"\r";
            piece = rest.strip_prefix(b"\r\n").or(rest.get(1..)).unwrap_or_default();
        }
        self.push(piece)?;
        Ok(events)
    }

    fn push(&mut self, piece: &[u8]) -> Result<(), TooLong> {
        let held = self.line.len() + self.data.as_ref().map_or(0, Vec::len);
        if held + piece.len() > self.bytes_max {
            return Err(TooLong);
        }
        self.line.extend_from_slice(piece);
        Ok(())
    }

    fn take_line(&mut self) -> Option<Vec<u8>> {
        let line = std::mem::take(&mut self.line);
        if line.is_empty() {
            return self.data.take();
        }
        let value = match line.strip_prefix(b"data") {
            Some(b"") => b"",
            Some([b':', b' ', value @ ..] | [b':', value @ ..]) => value,
            _ => return None,
        };
        match &mut self.data {
            None => self.data = Some(value.to_vec()),
            Some(data) => {
                data.push(b'\n');
                data.extend_from_slice(value);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_come_out_whole_however_the_pieces_fall() {
        let text =
            b": hello\r\nevent: message\r\ndata: {\"a\":\r\ndata: 1}\r\n\r\nid: 7\ndata:x\n\ndata: cut";
        for size in 1..text.len() {
            let mut stream = EventStream::new(1_000);
            let events: Vec<Vec<u8>> =
                text.chunks(size).flat_map(|piece| stream.feed(piece).unwrap()).collect();
            assert_eq!(events, [b"{\"a\":\n1}".to_vec(), b"x".to_vec()], "{size}");
        }
    }

    #[test]
    fn a_carriage_return_alone_ends_a_line_and_one_before_a_line_feed_ends_no_second_one() {
        let text = b"data: 1\rdata: 2\r\rdata: 3\r\ndata: 4\r\n\r\ndata: 5\n\rdata: cut";
        for size in 1..text.len() {
            let mut stream = EventStream::new(1_000);
            let events: Vec<Vec<u8>> =
                text.chunks(size).flat_map(|piece| stream.feed(piece).unwrap()).collect();
            assert_eq!(events, [b"1\n2".to_vec(), b"3\n4".to_vec(), b"5".to_vec()], "{size}");
        }
    }

    #[test]
    fn an_event_over_the_maximum_ends_the_stream() {
        let mut stream = EventStream::new(10);
        assert_eq!(stream.feed(b"data: 0123456789\n"), Err(TooLong));
        let mut stream = EventStream::new(14);
        assert_eq!(stream.feed(b"data:1234\ndata:567"), Ok(vec![]));
        assert_eq!(stream.feed(b"890"), Err(TooLong));
    }
}
