//! Server-sent events: the data of each, out of a stream of bounded length.

use std::io::{self, BufRead};

/// Reads events. Fields other than `data` are passed over, as are comments.
#[derive(Debug)]
pub(super) struct Events<R> {
    stream: R,
    bytes_left: usize,
}

/// What came next.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum NextEvent {
    /// The data of an event; its lines are joined by line feeds.
    Data(Vec<u8>),
    /// The end of the stream. An event that no blank line ends is none.
    End,
    /// The maximum of the whole stream was exceeded.
    Full,
}

impl<R: BufRead> Events<R> {
    pub(super) fn new(stream: R, bytes_max: usize) -> Events<R> {
        Events { stream, bytes_left: bytes_max }
    }

    pub(super) fn next(&mut self) -> io::Result<NextEvent> {
        let mut data: Option<Vec<u8>> = None;
        loop {
            let Some(line) = self.line()? else {
                return Ok(if self.bytes_left == 0 { NextEvent::Full } else { NextEvent::End });
            };
            if line.is_empty() {
                match data.take() {
                    Some(data) => return Ok(NextEvent::Data(data)),
                    None => continue,
                }
            }
            let value = match line.strip_prefix(b"data") {
                Some(b"") => b"",
                Some([b':', b' ', value @ ..] | [b':', value @ ..]) => value,
                _ => continue,
            };
            match &mut data {
                None => data = Some(value.to_vec()),
                Some(data) => {
                    data.push(b'\n');
                    data.extend_from_slice(value);
                }
            }
        }
    }

    /// The next line without its end; `None` at the end, or where the maximum is reached.
    fn line(&mut self) -> io::Result<Option<Vec<u8>>> {
        let mut line = Vec::new();
        let maximum = self.bytes_left as u64;
        let count = io::Read::take(&mut self.stream, maximum).read_until(b'\n', &mut line)?;
        self.bytes_left -= count.min(self.bytes_left);
        if line.pop_if(|last| *last == b'\n').is_none() {
            return Ok(None);
        }
        line.pop_if(|last| *last == b'\r');
        Ok(Some(line))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn events(text: &str, bytes_max: usize) -> Vec<NextEvent> {
        let mut events = Events::new(text.as_bytes(), bytes_max);
        let mut found = Vec::new();
        loop {
            let next = events.next().unwrap();
            let end = !matches!(next, NextEvent::Data(_));
            found.push(next);
            if end {
                return found;
            }
        }
    }

    #[test]
    fn the_data_of_each_event_is_found_whatever_stands_beside_it() {
        let data = |text: &str| NextEvent::Data(text.as_bytes().to_vec());
        let text = ": hello\nevent: message\nid: 1\ndata: {\"a\":\ndata:1}\n\n\r\ndata\r\ndata: x\r\n\r\ndatax: no\n\ndata: cut";
        assert_eq!(events(text, 1_000), [data("{\"a\":\n1}"), data("\nx"), NextEvent::End]);
        assert_eq!(events("data: a\n\ndata: b\n\n", 12), [data("a"), NextEvent::Full]);
    }
}
