//! Lines of bounded length.

use std::io::{self, BufRead};

/// What was read.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Line {
    /// A line, without its end.
    Whole,
    /// A line of that many bytes, which were skipped.
    TooLong(usize),
    /// Nothing is left.
    End,
}

/// Reads the next line into `line`, which never holds more than `bytes_max`.
pub(super) fn read(input: &mut impl BufRead, line: &mut Vec<u8>, bytes_max: usize) -> io::Result<Line> {
    line.clear();
    let mut length = 0;
    loop {
        let chunk = input.fill_buf()?;
        if chunk.is_empty() {
            return Ok(if length == 0 { Line::End } else { ended(line, length, bytes_max) });
        }
        let end = chunk.iter().position(|&byte| byte == b'\n');
        let part = chunk.get(..end.unwrap_or(chunk.len())).unwrap_or_default();
        length += part.len();
        if length <= bytes_max {
            line.extend_from_slice(part);
        }
        let used = part.len() + usize::from(end.is_some());
        input.consume(used);
        if end.is_some() {
            return Ok(ended(line, length, bytes_max));
        }
    }
}

fn ended(line: &mut Vec<u8>, length: usize, bytes_max: usize) -> Line {
    if length > bytes_max {
        line.clear();
        return Line::TooLong(length);
    }
    Line::Whole
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_line_is_skipped_and_the_next_one_is_read() {
        let mut input = io::BufReader::with_capacity(3, &b"abcdefgh\nok\n\nlast"[..]);
        let mut line = Vec::new();
        assert_eq!(read(&mut input, &mut line, 4).unwrap(), Line::TooLong(8));
        assert_eq!((read(&mut input, &mut line, 4).unwrap(), line.as_slice()), (Line::Whole, &b"ok"[..]));
        assert_eq!((read(&mut input, &mut line, 4).unwrap(), line.as_slice()), (Line::Whole, &b""[..]));
        assert_eq!((read(&mut input, &mut line, 4).unwrap(), line.as_slice()), (Line::Whole, &b"last"[..]));
        assert_eq!(read(&mut input, &mut line, 4).unwrap(), Line::End);
    }
}
