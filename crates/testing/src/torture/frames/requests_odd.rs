//! Requests over HTTP that no good client makes.

use std::time::Duration;

use super::super::lot::Lot;
use super::mutate::{self, pick};
use super::wire::{Wire, request};

const POST: &str = "POST /mcp HTTP/1.1";
/// More than the gate takes of a head.
const HEAD_BYTES: usize = 70 << 10;
/// More headers than the gate takes.
const HEADERS: usize = 150;
/// How long a client stays at most that leaves before it has its answer, in milliseconds.
const STAY_MS_MAX: u64 = 20;

const VALUES: &[&str] = &[
    "",
    "x",
    "\u{1}",
    "caf\u{e9}",
    "=?base64?!!!?=",
    "=?base64?bWFyaw==?=",
    "2026-07-28, 2026-07-28",
    "1999-01-01",
    "2025-11-25",
    "application/json",
    "text/plain",
    "application/json; charset=utf-16",
    "evil.example",
    "null",
    "*/*",
    "tools/call",
    "mark",
];
const LINES: &[&str] = &[
    "GET /mcp HTTP/1.1",
    "DELETE /mcp HTTP/1.1",
    "PUT /mcp HTTP/1.1",
    "HEAD /mcp HTTP/1.1",
    "OPTIONS * HTTP/1.1",
    "POST /mcp HTTP/1.0",
    "POST /mcp HTTP/0.9",
    "POST /mcp",
    "POST  /mcp  HTTP/1.1",
    "PRI * HTTP/2.0",
    "post /mcp HTTP/1.1",
    "POST http://127.0.0.1/mcp HTTP/1.1",
    "POST /%6dcp HTTP/1.1",
    "POST /../mcp HTTP/1.1",
    "POST /mcp/ HTTP/1.1",
    "POST /mcp?x=%zz HTTP/1.1",
    "CONNECT 127.0.0.1:80 HTTP/1.1",
    "POST /healthz HTTP/1.1",
    "GET /metrics HTTP/1.1",
    "GET /readyz HTTP/1.1",
];
const LENGTHS: &[&str] =
    &["-1", "+5", "0x10", "1e3", "5, 5", "5 5", "99999999999999999999", "", "9999999", "0"];
const CHUNKS: &[&str] = &[
    "zz\r\n{}\r\n0\r\n\r\n",
    "-1\r\n{}\r\n",
    "ffffffffffffffff\r\n{}\r\n",
    "2\r\n{}",
    "1\r\n{}\r\n0\r\n\r\n",
    "0\r\n\r\n",
    "2;x=\"y\"\r\n{}\r\n0\r\nTrailer: x\r\n\r\n",
    "2\n{}\n0\n\n",
];

/// One request, and whether it may be taken for several.
pub(super) fn odd(mut headers: Vec<(String, String)>, body: &[u8], lot: &mut Lot) -> (Wire, bool) {
    let right = ("Content-Length".to_owned(), body.len().to_string());
    let other = |value: String| ("Content-Length".to_owned(), value);
    let chunked = ("Transfer-Encoding".to_owned(), "chunked".to_owned());
    let (mut line, mut double, mut own) = (POST, false, None);
    match lot.up_to(17) {
        0..=4 => {
            headers.push(right);
            change_headers(&mut headers, lot);
        }
        5 => headers.push(other((body.len() + 1 + at(lot, 500)).to_string())),
        6 => {
            headers.push(other((body.len() / 2).to_string()));
            double = true;
        }
        7 => headers.push(other(pick(LENGTHS, lot).to_owned())),
        8 => {
            headers.extend([right, other(pick(LENGTHS, lot).to_owned())]);
            double = true;
        }
        9 => {
            headers.push(chunked);
            own = Some(chunks(body, lot));
        }
        10 => {
            headers.push(chunked);
            own = Some(pick(CHUNKS, lot).as_bytes().to_vec());
        }
        11 => {
            headers.extend([right, chunked]);
            own = Some(if lot.up_to(1) == 0 { chunks(body, lot) } else { body.to_vec() });
            double = true;
        }
        12 | 13 => {
            headers.push(right);
            line = pick(LINES, lot);
        }
        14 => headers.extend([right, ("Expect".to_owned(), "100-continue".to_owned())]),
        15 => headers.extend([right, ("Content-Encoding".to_owned(), "gzip".to_owned())]),
        _ => headers.push(right),
    }
    let bytes = request(line, &headers, own.as_deref().unwrap_or(body));
    let (wire, doubled) = written(bytes, lot);
    (wire, double || doubled)
}

/// How the bytes are written, or others in their place.
fn written(bytes: Vec<u8>, lot: &mut Lot) -> (Wire, bool) {
    let pause = Duration::from_millis(lot.up_to(10));
    let whole = |bytes: Vec<u8>| Wire { pieces: vec![bytes], pause, half_closed: true, cut: None };
    match lot.up_to(9) {
        0 => {
            let end = at(lot, bytes.len());
            (whole(bytes.into_iter().take(end).collect()), false)
        }
        1 => {
            let end = at(lot, bytes.len());
            let cut = Some(Duration::from_millis(lot.up_to(STAY_MS_MAX)));
            (Wire { cut, ..whole(bytes.into_iter().take(end).collect()) }, false)
        }
        2 => (Wire { cut: Some(Duration::from_millis(lot.up_to(STAY_MS_MAX))), ..whole(bytes) }, false),
        3 => (whole([bytes.clone(), bytes].concat()), true),
        4 => (whole(mutate::mutated(bytes, lot)), true),
        5 => (whole(String::from_utf8_lossy(&bytes).replace("\r\n", "\n").into_bytes()), true),
        6 => (Wire { pieces: parts(&bytes, lot), ..whole(Vec::new()) }, false),
        _ => (whole(bytes), false),
    }
}

fn change_headers(headers: &mut Vec<(String, String)>, lot: &mut Lot) {
    let which = at(lot, headers.len().saturating_sub(1));
    match lot.up_to(7) {
        0 => {
            headers.remove(which.min(headers.len().saturating_sub(1)));
        }
        1 => headers.extend(headers.get(which).cloned()),
        2 | 3 => {
            if let Some((_, value)) = headers.get_mut(which) {
                pick(VALUES, lot).clone_into(value);
            }
        }
        4 => headers.push(("X-Long".to_owned(), "x".repeat(at(lot, HEAD_BYTES)))),
        5 => headers.extend((0..HEADERS).map(|number| (format!("X-{number}"), String::new()))),
        6 => {
            if let Some((name, _)) = headers.get_mut(which) {
                let odd = ["", " X", "Content-Type ", "X\u{0}", "Mcp-Session-Id", "Origin", "Host"];
                pick(&odd, lot).clone_into(name);
            }
        }
        _ => {
            if let Some((_, value)) = headers.get_mut(which) {
                value.push_str("\r\n folded");
            }
        }
    }
}

/// The body in chunks.
fn chunks(body: &[u8], lot: &mut Lot) -> Vec<u8> {
    let size = 1 + at(lot, 200);
    let mut bytes = Vec::new();
    for part in body.chunks(size) {
        bytes.extend(format!("{:x}\r\n", part.len()).bytes());
        bytes.extend(part);
        bytes.extend(b"\r\n");
    }
    bytes.extend(b"0\r\n\r\n");
    bytes
}

/// The bytes in a few pieces.
pub(super) fn parts(bytes: &[u8], lot: &mut Lot) -> Vec<Vec<u8>> {
    let size = 1 + bytes.len() / (1 + at(lot, 5));
    bytes.chunks(size).map(<[u8]>::to_vec).collect()
}

fn at(lot: &mut Lot, max: usize) -> usize {
    usize::try_from(lot.up_to(u64::try_from(max).unwrap_or(0))).unwrap_or(0)
}
