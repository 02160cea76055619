//! Server-sent events out of pieces as they come, each of bounded length.

use std::time::Duration;

/// The longest id of an event that is kept; one that is longer cannot be sent back in a header.
const ID_BYTES_MAX: usize = 1_024;

/// Takes pieces and gives the data of events. Their names are passed over, as are comments.
#[derive(Debug)]
pub(super) struct EventStream {
    line: Vec<u8>,
    data: Option<Vec<u8>>,
    /// The last piece ended with a CR: an LF that begins the next one ends no line of its own.
    after_cr: bool,
    /// The id that events have from here on; it counts once such an event is whole.
    id: Option<Vec<u8>>,
    last_id: Option<Vec<u8>>,
    retry: Option<Duration>,
    bytes_max: usize,
}

/// An event or a line is longer than the maximum.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct TooLong;

impl EventStream {
    /// A stream whose events have at most so many bytes.
    pub(super) fn new(bytes_max: usize) -> EventStream {
        EventStream {
            bytes_max,
            line: Vec::new(),
            data: None,
            after_cr: false,
            id: None,
            last_id: None,
            retry: None,
        }
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

    /// The id of the last event that was whole: from there a stream that was cut can be taken up.
    pub(super) fn last_id(&self) -> Option<&[u8]> {
        self.last_id.as_deref()
    }

    /// How long to wait before that, if the stream has said so.
    pub(super) fn retry(&self) -> Option<Duration> {
        self.retry
    }

    /// Forgets what has come of an event that is not whole: the stream was cut.
    pub(super) fn cut(&mut self) {
        (self.line, self.data, self.after_cr) = (Vec::new(), None, false);
        self.id.clone_from(&self.last_id);
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
            self.last_id.clone_from(&self.id);
            return self.data.take();
        }
        let at = memchr::memchr(b':', &line).unwrap_or(line.len());
        let (field, value) = line.split_at(at);
        let value = value.strip_prefix(b":").unwrap_or(value);
        let value = value.strip_prefix(b" ").unwrap_or(value);
        match field {
            b"data" => match &mut self.data {
                None => self.data = Some(value.to_vec()),
                Some(data) => {
                    data.push(b'\n');
                    data.extend_from_slice(value);
                }
            },
            b"id" if value.len() <= ID_BYTES_MAX && !value.contains(&0) => {
                self.id = (!value.is_empty()).then(|| value.to_vec());
            }
            b"retry" if !value.is_empty() && value.iter().all(u8::is_ascii_digit) => {
                let digits = std::str::from_utf8(value).ok();
                self.retry = digits.and_then(|digits| digits.parse().ok()).map(Duration::from_millis);
            }
            _ => {}
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
    fn a_stream_that_was_cut_goes_on_after_its_last_id() {
        let mut stream = EventStream::new(1_000);
        stream.feed(b"id: 4\nretry: 500\ndata: 1\n\ndata: 2\n\nretry: soon\nid: \0\nid:5\ndata: ha").unwrap();
        assert_eq!(stream.last_id(), Some(b"4".as_slice()));
        assert_eq!(stream.retry(), Some(Duration::from_millis(500)));
        stream.cut();
        assert_eq!(stream.feed(b"data: 3\n\n").unwrap(), [b"3".to_vec()]);
        assert_eq!(stream.last_id(), Some(b"4".as_slice()));
        stream.feed(b"id: 6\ndata:\n\n").unwrap();
        assert_eq!(stream.last_id(), Some(b"6".as_slice()));
        stream.feed(b"id\n\n").unwrap();
        assert_eq!(stream.last_id(), None);
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
