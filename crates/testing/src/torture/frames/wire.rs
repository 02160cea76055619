//! One request over HTTP: its bytes, which need not be those of a good client, and what comes back.

use std::io::{Read as _, Write as _};
use std::net::{Shutdown, TcpStream};
use std::time::{Duration, Instant};

use anyhow::Context as _;
use serde_json::Value;

use super::good::{Era, MODERN};

/// How long a stream of events may be silent before it is left.
const SILENCE: Duration = Duration::from_millis(100);

/// A request, ready to be written.
#[derive(Debug, Clone, Default)]
pub(super) struct Wire {
    /// What is written, piece by piece, with a pause before each further one.
    pub(super) pieces: Vec<Vec<u8>>,
    pub(super) pause: Duration,
    /// The writing side is closed after the last piece.
    pub(super) half_closed: bool,
    /// The connection is cut after so long, whatever came.
    pub(super) cut: Option<Duration>,
}

/// What came back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Came {
    /// A status, the media type and a body.
    Answer(u16, String, Vec<u8>),
    /// A stream of events that is still open.
    Stream,
    /// The connection was closed without a whole answer.
    Closed,
    /// Neither.
    Nothing,
    /// The client has left before.
    Left,
}

/// The headers of a good request.
pub(super) fn headers(frame: &Value, era: Era, session: &str) -> Vec<(String, String)> {
    let mut headers = vec![
        ("Host".to_owned(), "127.0.0.1".to_owned()),
        ("Content-Type".to_owned(), "application/json".to_owned()),
        ("Accept".to_owned(), "application/json, text/event-stream".to_owned()),
        ("Connection".to_owned(), "close".to_owned()),
    ];
    let mut add = |name: &str, value: &str| headers.push((name.to_owned(), value.to_owned()));
    match era {
        Era::Modern => {
            add("MCP-Protocol-Version", MODERN);
            add("Mcp-Method", frame.get("method").and_then(Value::as_str).unwrap_or_default());
            if let Some(name) = frame.pointer("/params/name").and_then(Value::as_str) {
                add("Mcp-Name", name);
            }
        }
        Era::Legacy => add("Mcp-Session-Id", session),
    }
    headers
}

/// The bytes of a request.
pub(super) fn request(line: &str, headers: &[(String, String)], body: &[u8]) -> Vec<u8> {
    let mut bytes = format!("{line}\r\n").into_bytes();
    for (name, value) in headers {
        bytes.extend(format!("{name}: {value}\r\n").bytes());
    }
    bytes.extend(b"\r\n");
    bytes.extend(body);
    bytes
}

/// A good request of the newer era; gives the body of the answer.
pub(super) fn ask(address: &str, frame: &Value, patience: Duration) -> anyhow::Result<Vec<u8>> {
    let body = frame.to_string().into_bytes();
    let mut headers = headers(frame, Era::Modern, "");
    headers.push(("Content-Length".to_owned(), body.len().to_string()));
    let wire = Wire { pieces: vec![request("POST /mcp HTTP/1.1", &headers, &body)], ..Wire::default() };
    match send(address, &wire, patience)? {
        Came::Answer(200, _, body) => Ok(body),
        other => anyhow::bail!("no answer: {other:?}"),
    }
}

/// A good call of the newer era, whose answer may come as a stream of events; gives the last message.
pub(super) fn ask_any(address: &str, frame: &Value, patience: Duration) -> anyhow::Result<Vec<u8>> {
    let body = frame.to_string().into_bytes();
    let mut headers = headers(frame, Era::Modern, "");
    headers.push(("Content-Length".to_owned(), body.len().to_string()));
    let wire = Wire { pieces: vec![request("POST /mcp HTTP/1.1", &headers, &body)], ..Wire::default() };
    let (head, body) = exchange(address, &wire, patience)?;
    if !head.contains("text/event-stream") {
        return Ok(body);
    }
    let text = String::from_utf8(body).context("the stream is no text")?;
    let last = text.lines().filter_map(|line| line.strip_prefix("data: ")).next_back();
    Ok(last.context("a stream without an event")?.as_bytes().to_vec())
}

/// A request on a connection that the gate closes after its answer; gives the head in small letters, and the body.
pub(super) fn exchange(address: &str, wire: &Wire, patience: Duration) -> anyhow::Result<(String, Vec<u8>)> {
    let mut stream = TcpStream::connect(address).context("the gate takes no connection")?;
    stream.set_read_timeout(Some(patience))?;
    stream.write_all(&wire.pieces.concat())?;
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes).context("the answer does not end")?;
    let (head, body) = head(&bytes).context("no answer")?;
    Ok((head, body.to_vec()))
}

/// Writes a request on a connection of its own and reads what comes.
///
/// # Errors
/// When the gate does not take the connection.
pub(super) fn send(address: &str, wire: &Wire, patience: Duration) -> anyhow::Result<Came> {
    let mut stream = TcpStream::connect(address).context("the gate takes no connection")?;
    stream.set_nodelay(true)?;
    for (number, piece) in wire.pieces.iter().enumerate() {
        if number > 0 {
            std::thread::sleep(wire.pause);
        }
        // The gate may have answered and closed already; then what it said is read.
        if stream.write_all(piece).is_err() {
            break;
        }
    }
    if let Some(after) = wire.cut {
        std::thread::sleep(after);
        return Ok(Came::Left);
    }
    if wire.half_closed {
        let _ = stream.shutdown(Shutdown::Write);
    }
    Ok(read(&mut stream, patience))
}

fn read(stream: &mut TcpStream, patience: Duration) -> Came {
    let deadline = Instant::now() + patience;
    let (mut bytes, mut part) = (Vec::new(), vec![0; 16 << 10]);
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Came::Nothing;
        }
        let events = is_stream(&bytes);
        let _ = stream.set_read_timeout(Some(if events { left.min(SILENCE) } else { left }));
        match stream.read(&mut part) {
            Ok(0) => return answer(&bytes, true).unwrap_or(Came::Closed),
            Ok(count) => bytes.extend_from_slice(part.get(..count).unwrap_or_default()),
            Err(error)
                if matches!(error.kind(), std::io::ErrorKind::WouldBlock | std::io::ErrorKind::TimedOut) =>
            {
                return if events { Came::Stream } else { Came::Nothing };
            }
            // A connection that is reset is closed, too; what came before it counts.
            Err(_) => return answer(&bytes, true).unwrap_or(Came::Closed),
        }
        if let Some(whole) = answer(&bytes, false) {
            return whole;
        }
    }
}

fn is_stream(bytes: &[u8]) -> bool {
    head(bytes).is_some_and(|(head, _)| head.contains("text/event-stream"))
}

/// The head of the answer and what comes after it. That the body may come now (100) is no answer yet.
fn head(bytes: &[u8]) -> Option<(String, &[u8])> {
    let at = bytes.windows(4).position(|window| window == b"\r\n\r\n")?;
    let text = String::from_utf8_lossy(bytes.get(..at)?).to_ascii_lowercase();
    let rest = bytes.get(at + 4..)?;
    if text.split(' ').nth(1) == Some("100") { head(rest) } else { Some((text, rest)) }
}

/// The answer, if it is whole: by its length, or by the end of the connection.
fn answer(bytes: &[u8], ended: bool) -> Option<Came> {
    let (head, body) = head(bytes)?;
    let status = head.split(' ').nth(1)?.parse().ok()?;
    let named = |name: &str| head.lines().find_map(|line| line.strip_prefix(name)).map(str::trim);
    let length: Option<usize> = named("content-length:").and_then(|length| length.parse().ok());
    let body = match length {
        Some(length) => body.get(..length)?,
        None if ended => body,
        None => return None,
    };
    Some(Came::Answer(status, named("content-type:").unwrap_or_default().to_owned(), body.to_vec()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_whole_by_its_length_or_by_the_end_and_comes_after_the_permission_to_send_the_body() {
        let go_on = "HTTP/1.1 100 Continue\r\n\r\n";
        let text =
            format!("{go_on}HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 2\r\n\r\nok");
        let whole = Some(Came::Answer(200, "text/plain".to_owned(), b"ok".to_vec()));
        assert_eq!(answer(text.as_bytes(), false), whole);
        for end in [go_on.len(), text.len() - 1] {
            assert_eq!(answer(text.as_bytes().get(..end).unwrap_or_default(), true), None);
        }
        let unbounded = "HTTP/1.1 202 Accepted\r\n\r\nx";
        assert_eq!(answer(unbounded.as_bytes(), false), None);
        assert!(answer(unbounded.as_bytes(), true).is_some());
        let events = format!("{go_on}HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n");
        assert!(is_stream(events.as_bytes()) && !is_stream(go_on.as_bytes()));
    }
}
