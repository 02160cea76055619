//! With a proxy between the gate and PostgreSQL: the answer that a call's intent is committed was passed on to the gate before
//! the first byte of the call reached the tool server.
//!
//! The fixture writes each line that arrives to its log before anything else. As the proxy passes the answer to a commit on,
//! it notes how long that log is: a call that is further on in the log had not arrived then. It holds the answers back for a
//! while, so that a call that did not wait for its answer would be there long before.

use std::time::Duration;

use anyhow::Context as _;

use super::{Ground, call, command, text};
use crate::peer::{PATIENCE, Peer};
use crate::postgres::{Proxy, Seen, Server};
use crate::report::Report;

/// Calls made one after the other.
const CALLS_ALONE: u32 = 10;
/// Calls written at once, so that several intents may share one commit.
const CALLS_AT_ONCE: u32 = 40;
/// How long the answers to commits are held back.
const DELAY: Duration = Duration::from_millis(20);

/// Puts a proxy before a server and judges each call; the report gets one check for each of the two ways of calling, or
/// none where the machine has no PostgreSQL.
///
/// # Errors
/// When the gate or the server does not do its part.
pub fn run(ground: &Ground, report: &mut Report) -> anyhow::Result<()> {
    let Some(server) = Server::shared() else { return Ok(()) };
    let (proxy, log) = (Proxy::start(&ground.folder, server.socket())?, ground.path("arrivals"));
    proxy.delay(DELAY);
    proxy.watch(&log);
    let address = server.address_through(proxy.folder(), "order", "&sslmode=disable");
    let ground = Ground { store: Some(address), ..ground.clone() };
    play(&ground, &text(&log)?)?;
    let (seen, arrived) = (proxy.seen(), std::fs::read(&log)?);
    for (name, ids) in
        [("one after the other", 0..CALLS_ALONE), ("at once", CALLS_ALONE..CALLS_ALONE + CALLS_AT_ONCE)]
    {
        let judged: Vec<_> = ids.clone().map(|id| committed(&seen, &arrived, &marker(id))).collect();
        let faults: Vec<String> =
            judged.iter().filter_map(|one| one.as_ref().err().map(|error| format!("{error:#}"))).collect();
        let commits: std::collections::BTreeSet<usize> =
            judged.iter().filter_map(|one| one.as_ref().ok()).copied().collect();
        report.say(&format!(
            "PostgreSQL, {} calls {name}: {} commits hold their intents",
            ids.len(),
            commits.len()
        ));
        report.check(
            &format!("PostgreSQL, calls {name}: the intent was committed before the first byte was sent"),
            (!faults.is_empty()).then(|| faults.join("; ")),
        );
    }
    Ok(())
}

fn play(ground: &Ground, log: &str) -> anyhow::Result<()> {
    let words = ground.gate(&["--log".to_owned(), log.to_owned()])?;
    let mut gate = Peer::spawn(&mut command(&words)?)?;
    gate.initialize()?;
    for id in 0..CALLS_ALONE {
        gate.send(call(id, "echo", &marker(id)))?;
        gate.answer(&id.to_string(), PATIENCE)?;
    }
    let ids = CALLS_ALONE..CALLS_ALONE + CALLS_AT_ONCE;
    let lines: Vec<String> = ids.clone().map(|id| call(id, "echo", &marker(id)) + "\n").collect();
    gate.send_raw(lines.concat())?;
    for id in ids {
        gate.answer(&id.to_string(), PATIENCE)?;
    }
    gate.close();
    gate.wait(PATIENCE)?;
    Ok(())
}

/// A text that is in the call's frame and, with the arguments, in its intent, and nowhere else.
fn marker(id: u32) -> String {
    format!("marker-{id:04}-of-the-call")
}

fn find(bytes: &[u8], marker: &str) -> Option<usize> {
    bytes.windows(marker.len()).position(|window| window == marker.as_bytes())
}

/// Which commit holds the call's intent, if that was passed on before the call arrived.
fn committed(seen: &[Seen], arrived: &[u8], marker: &str) -> anyhow::Result<usize> {
    let place = find(arrived, marker).with_context(|| format!("{marker} never arrived"))?;
    let sent = seen.iter().enumerate().find_map(|(at, seen)| match seen {
        Seen::Sent { connection, body } if find(body, marker).is_some() => Some((at, *connection)),
        _ => None,
    });
    let (sent, on) = sent.with_context(|| format!("{marker} was never sent to the store"))?;
    let commit = seen.iter().enumerate().skip(sent).find_map(|(at, seen)| match seen {
        Seen::Committed { connection, watched } if *connection == on => Some((at, *watched)),
        _ => None,
    });
    let (commit, watched) = commit.with_context(|| format!("{marker} was never committed"))?;
    anyhow::ensure!(usize::try_from(watched)? <= place, "{marker} had arrived when its commit was passed on");
    Ok(commit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_that_arrived_before_its_commit_was_passed_on_is_found() {
        let sent = |body: &str| Seen::Sent { connection: 1, body: body.into() };
        let done = |connection, watched| Seen::Committed { connection, watched };
        let judge = |seen: &[Seen]| committed(seen, b"0123 M", "M").ok();
        assert_eq!(judge(&[sent("M"), done(1, 5)]), Some(1));
        assert_eq!(judge(&[sent("M"), done(2, 0), done(1, 4)]), Some(2));
        for wrong in
            [&[sent("M"), done(1, 6)][..], &[done(1, 0), sent("M")], &[sent("M"), done(2, 0)], &[done(1, 0)]]
        {
            assert_eq!(judge(wrong), None, "{wrong:?}");
        }
    }
}
