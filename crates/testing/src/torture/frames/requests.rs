//! Lots of requests to a gate over HTTP: broken messages in good requests, and good ones in broken requests.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::super::Ground;
use super::super::lot::Lot;
use super::gate::{FRAME_BYTES_MAX, Gate, IN_TIME, Way};
use super::good::{Era, Good};
use super::judge::{self, Findings, Promise, shown};
use super::wire::{self, Came, Wire};
use super::{good, mutate, requests_odd};

/// Requests of a lot, and how many are out at once.
const LOT: usize = 32;
const AT_ONCE: usize = 8;

/// A request, and what may come of it.
struct Sent {
    wire: Wire,
    marker: String,
    /// The request is that of a good client, whatever its body says.
    is_plain: bool,
    /// It may be taken for more than one request, so that what comes back first does not speak of all of it.
    is_double: bool,
}

/// One gate, lot after lot until the time is over.
pub(super) fn stretch(
    ground: &Ground,
    until: Instant,
    lot: &mut Lot,
    findings: &mut Findings,
) -> anyhow::Result<()> {
    let mut gate = Gate::start(ground, Way::Http, "")?;
    let mut refused = BTreeMap::new();
    let mut number = 1;
    while Instant::now() < until {
        let session = begin(&gate.address, findings);
        let sent: Vec<Sent> = (0..LOT)
            .map(|_| {
                number += 1;
                findings.sent += 1;
                compose(number, &session, lot)
            })
            .collect();
        for (sent, came) in sent.iter().zip(all(&gate.address, &sent)) {
            judge(sent, came, &mut refused, findings);
        }
        gate.after_lot(findings);
    }
    for marker in gate.end(findings)? {
        if let Some(answer) = refused.get(&marker) {
            findings.broke(Promise::Refused, format!("{marker} arrived, after {answer}"));
        }
    }
    Ok(())
}

/// Begins a session of the older era; gives its name.
fn begin(address: &str, findings: &mut Findings) -> String {
    let frame = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": good::initialize()});
    let body = frame.to_string().into_bytes();
    let mut headers = wire::headers(&frame, Era::Legacy, "");
    headers.retain(|(name, _)| name != "Mcp-Session-Id");
    headers.push(("Content-Length".to_owned(), body.len().to_string()));
    let wire = Wire { pieces: vec![wire::request("POST /mcp HTTP/1.1", &headers, &body)], ..Wire::default() };
    match wire::exchange(address, &wire, IN_TIME) {
        Ok((head, _)) => {
            let named = head.lines().find_map(|line| line.strip_prefix("mcp-session-id:"));
            named.unwrap_or_default().trim().to_owned()
        }
        Err(fault) => {
            findings.broke(Promise::Alive, format!("no session begins: {fault:#}"));
            String::new()
        }
    }
}

fn compose(number: u64, session: &str, lot: &mut Lot) -> Sent {
    let Good { frame, era, marker } = good::message(number, lot);
    let mut body = frame.to_string().into_bytes();
    if lot.up_to(1) == 0 {
        body = mutate::mutated(body, lot);
    }
    let headers = wire::headers(&frame, era, session);
    if lot.up_to(1) == 0 {
        let (wire, is_double) = requests_odd::odd(headers, &body, lot);
        return Sent { wire, marker, is_plain: false, is_double };
    }
    let mut headers = headers;
    headers.push(("Content-Length".to_owned(), body.len().to_string()));
    let is_plain = body.len() <= FRAME_BYTES_MAX;
    let mut pieces = vec![wire::request("POST /mcp HTTP/1.1", &headers, &body)];
    let pause = Duration::from_millis(lot.up_to(20));
    if lot.up_to(7) == 0 {
        pieces = requests_odd::parts(&pieces.concat(), lot);
    }
    Sent { wire: Wire { pieces, pause, ..Wire::default() }, marker, is_plain, is_double: false }
}

/// Sends them, several at once, and gives what came of each.
fn all(address: &str, sent: &[Sent]) -> Vec<anyhow::Result<Came>> {
    let mut came = Vec::new();
    for part in sent.chunks(AT_ONCE) {
        std::thread::scope(|scope| {
            let threads: Vec<_> =
                part.iter().map(|sent| scope.spawn(|| wire::send(address, &sent.wire, IN_TIME))).collect();
            for thread in threads {
                came.push(
                    thread.join().unwrap_or_else(|_| Err(anyhow::anyhow!("a thread of the client broke"))),
                );
            }
        });
    }
    came
}

fn judge(
    sent: &Sent,
    came: anyhow::Result<Came>,
    refused: &mut BTreeMap<String, String>,
    findings: &mut Findings,
) {
    let request = || shown(&sent.wire.pieces.concat());
    match came {
        Err(fault) => findings.broke(Promise::Alive, format!("{fault:#}: {}", request())),
        Ok(Came::Nothing) => {
            findings.broke(Promise::Answered, format!("neither an answer nor an end: {}", request()));
        }
        Ok(Came::Closed) if sent.is_plain => {
            findings.broke(Promise::Answered, format!("the connection was closed: {}", request()));
        }
        Ok(Came::Closed | Came::Left | Came::Stream) => {}
        Ok(Came::Answer(status, kind, body)) => {
            findings.answered += 1;
            let is_json = kind.starts_with("application/json");
            let frame = if is_json { judge::readable(&body, findings) } else { Value::Null };
            let is_refused = status >= 400 || judge::is_refusal(&frame);
            if is_refused && !sent.is_double {
                refused.insert(sent.marker.clone(), format!("{status} {}", shown(&body)));
            }
        }
    }
}
