//! Under strace: the sync of the write-ahead log that holds a call's intent has returned before the first byte of the
//! call is written to the tool server.

use std::path::Path;

use anyhow::Context as _;

use super::trace::{self, SystemCall};
use super::{Ground, call, command};
use crate::peer::{PATIENCE, Peer};
use crate::report::Report;

/// Calls made one after the other.
const CALLS_ALONE: u32 = 20;
/// Calls written at once, so that several intents may share one sync.
const CALLS_AT_ONCE: u32 = 40;

/// Traces a gate and judges each call; the report gets one check for each of the two ways of calling.
pub fn run(ground: &Ground, report: &mut Report) -> anyhow::Result<()> {
    let trace_file = ground.path("trace");
    play(ground, &trace_file)?;
    let text = String::from_utf8_lossy(&std::fs::read(&trace_file)?).into_owned();
    let calls = trace::read(&text)?;
    for (name, ids) in
        [("one after the other", 0..CALLS_ALONE), ("at once", CALLS_ALONE..CALLS_ALONE + CALLS_AT_ONCE)]
    {
        let faults: Vec<String> = ids.clone().filter_map(|id| fault(&calls, &marker(id))).collect();
        let syncs =
            ids.clone().filter_map(|id| intent_synced(&calls, &marker(id)).ok()).map(|(begin, _)| begin);
        let distinct = syncs.collect::<std::collections::BTreeSet<_>>().len();
        report.say(&format!("{} calls {name}: {distinct} syncs hold their intents", ids.len()));
        report.check(
            &format!("calls {name}: the sync of the intent returned before the first byte was sent"),
            (!faults.is_empty()).then(|| faults.join("; ")),
        );
    }
    Ok(())
}

fn play(ground: &Ground, trace_file: &Path) -> anyhow::Result<()> {
    let mut words: Vec<String> =
        ["strace", "-f", "-qq", "-y", "-s", "8192", "-e", "signal=none", "-o"].map(str::to_owned).to_vec();
    words.push(super::text(trace_file)?);
    words.extend(["-e".into(), "trace=write,writev,pwrite64,pwritev,sendto,sendmsg,fsync,fdatasync".into()]);
    words.extend(ground.gate(&[])?);
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

/// What is wrong with the order of one call, if anything is.
fn fault(calls: &[SystemCall], marker: &str) -> Option<String> {
    let sent = calls.iter().position(|call| {
        !call.file.starts_with('/') && call.data.contains(marker) && call.data.contains("tools/call")
    });
    let Some(sent) = sent.and_then(|index| calls.get(index)) else {
        return Some(format!("{marker} was never sent"));
    };
    match intent_synced(calls, marker) {
        Ok((_, end)) if end < sent.begin => None,
        Ok((_, end)) => {
            Some(format!("{marker} was sent on line {} and synced on line {end} of the trace", sent.begin))
        }
        Err(error) => Some(format!("{error:#}")),
    }
}

/// Where the first sync begins and ends that was begun after the intent had been written to the log.
fn intent_synced(calls: &[SystemCall], marker: &str) -> anyhow::Result<(usize, usize)> {
    let on_the_log = |call: &&SystemCall| call.file.ends_with("-wal");
    let written = calls
        .iter()
        .filter(on_the_log)
        .find(|call| call.name.contains("write") && call.data.contains(marker))
        .and_then(|call| call.end)
        .with_context(|| format!("{marker} is not in the log"))?;
    calls
        .iter()
        .filter(on_the_log)
        .filter(|call| matches!(call.name.as_str(), "fdatasync" | "fsync") && call.begin > written)
        .find_map(|call| call.end.map(|end| (call.begin, end)))
        .with_context(|| format!("{marker} was never synced"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const WRITTEN: &str = "1 pwrite64(5</t/store-wal>, \"..M..\", 4096, 0) = 4096\n";
    const SYNC_BEGINS: &str = "1 fdatasync(5</t/store-wal> <unfinished ...>\n";
    const SYNC_ENDS: &str = "1 <... fdatasync resumed>) = 0\n";
    const SENT: &str = "2 write(9<pipe:[7]>, \"tools/call M\", 12) = 12\n";

    #[test]
    fn only_a_sync_that_began_after_the_write_and_ended_before_the_call_will_do() {
        let judge = |lines: &[&str]| fault(&trace::read(&lines.concat()).expect("a trace"), "M");
        assert_eq!(judge(&[WRITTEN, SYNC_BEGINS, SYNC_ENDS, SENT]), None);
        for wrong in [
            &[WRITTEN, SYNC_BEGINS, SENT, SYNC_ENDS][..],
            &[SENT, WRITTEN, SYNC_BEGINS, SYNC_ENDS],
            &[SYNC_BEGINS, WRITTEN, SYNC_ENDS, SENT],
            &[WRITTEN, SENT],
            &[SYNC_BEGINS, SYNC_ENDS, SENT],
            &[WRITTEN, SYNC_BEGINS, SYNC_ENDS],
        ] {
            assert!(judge(wrong).is_some(), "{wrong:?}");
        }
    }
}
