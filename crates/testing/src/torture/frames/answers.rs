//! Good calls to a server that answers badly. Each is answered in time whatever the server says, and another server's tools
//! can be called meanwhile.

use std::time::Instant;

use serde_json::Value;

use super::super::lot::Lot;
use super::super::{Ground, text};
use super::garbler;
use super::gate::{Gate, IN_TIME, Way};
use super::judge::{self, Findings, Promise};
use super::{good, wire};

/// Calls of a lot, all at once. Some wait as long as a server may take, so that few would be few indeed.
const LOT: usize = 48;

/// One gate, lot after lot until the time is over.
pub(super) fn stretch(
    ground: &Ground,
    over_http: bool,
    until: Instant,
    lot: &mut Lot,
    findings: &mut Findings,
) -> anyhow::Result<()> {
    let seed = lot.up_to(u64::MAX - 1);
    let upstream = if over_http {
        format!("url = \"http://{}/mcp\"\n", garbler::serve_http(seed)?)
    } else {
        let own = text(&std::env::current_exe()?)?;
        format!("command = {own:?}\nargs = [{:?}, \"{seed}\"]\n", garbler::ASKED)
    };
    let more = format!("[[upstreams]]\nname = \"odd\"\nprefix = \"\"\n{upstream}");
    let way = if lot.up_to(1) == 0 { Way::Lines } else { Way::Http };
    let mut gate = Gate::start(ground, way, &more)?;
    while Instant::now() < until {
        findings.sent += u64::try_from(LOT).unwrap_or(0);
        match way {
            Way::Lines => over_lines(&mut gate, findings),
            Way::Http => over_requests(&mut gate, findings),
        }
        gate.after_lot(findings);
    }
    gate.end(findings)?;
    Ok(())
}

fn over_lines(gate: &mut Gate, findings: &mut Findings) {
    let mut open: Vec<String> = (0..LOT).map(|_| gate.fresh_id()).collect();
    for id in &open {
        if gate.peer.send(good::plain_call(id, "odd").to_string()).is_err() {
            return findings.broke(Promise::Alive, "the gate does not read its standard input".to_owned());
        }
    }
    let deadline = Instant::now() + IN_TIME;
    while !open.is_empty() {
        let Ok(Some(line)) = gate.peer.line(deadline.saturating_duration_since(Instant::now())) else {
            return findings.broke(Promise::Answered, format!("calls are open: {open:?}"));
        };
        let frame = judge::readable(&line, findings);
        let id = frame.get("id").and_then(Value::as_str).unwrap_or_default();
        let before = open.len();
        if frame.get("method").is_none() {
            open.retain(|other| other != id);
        }
        findings.answered += u64::from(open.len() < before);
    }
}

fn over_requests(gate: &mut Gate, findings: &mut Findings) {
    let frames: Vec<Value> = (0..LOT).map(|_| good::plain_call(&gate.fresh_id(), "odd")).collect();
    let address = gate.address.as_str();
    std::thread::scope(|scope| {
        let asked: Vec<_> =
            frames.iter().map(|frame| scope.spawn(|| wire::ask_any(address, frame, IN_TIME))).collect();
        for (thread, frame) in asked.into_iter().zip(&frames) {
            match thread.join().unwrap_or_else(|_| Err(anyhow::anyhow!("a thread of the client broke"))) {
                Ok(body) => {
                    findings.answered += 1;
                    judge::readable(&body, findings);
                }
                Err(fault) => findings.broke(Promise::Answered, format!("{fault:#}: {frame}")),
            }
        }
    });
}
