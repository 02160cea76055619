//! What `callgate wrap` adds to a call of a tool server on the same machine. The direct connection and the gate take
//! turns; the disk's own pace is measured beside them, since every call waits for it twice.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use anyhow::Context as _;
use callgate_testing::peer::{INITIALIZE, INITIALIZED, PATIENCE, Peer};

/// Where the program is.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The program `callgate` [default: beside this one]
    #[arg(long)]
    binary: Option<PathBuf>,
    /// A folder on the disk that the store is to be on [default: the system's for temporary files]
    #[arg(long)]
    folder: Option<PathBuf>,
}

/// Turns of each contestant.
const TURNS: usize = 10;
/// Calls in a turn.
const CALLS: usize = 200;
/// Calls at once in the measurement of throughput.
const AT_ONCE: usize = 64;
/// Calls in the measurement of throughput.
const MANY: usize = 6_400;

pub fn run(args: &Args) -> anyhow::Result<()> {
    let beside = std::env::current_exe()?.with_file_name("callgate");
    let binary = args.binary.clone().unwrap_or(beside);
    let folder = match &args.folder {
        Some(folder) => tempfile::tempdir_in(folder)?,
        None => tempfile::tempdir()?,
    };
    let mut direct = open(Command::new(&binary).arg("notes-server"))?;
    let mut wrapped = Command::new(&binary);
    wrapped.arg("wrap").arg("--store").arg(folder.path().join("store.sqlite")).arg("--");
    let mut gate = open(wrapped.arg(&binary).arg("notes-server"))?;
    let (mut plain, mut gated, mut disk) = (Vec::new(), Vec::new(), Vec::new());
    for turn in 0..TURNS {
        calls(&mut direct, turn, &mut plain)?;
        calls(&mut gate, turn, &mut gated)?;
        syncs(folder.path(), &mut disk)?;
    }
    for times in [&mut plain, &mut gated, &mut disk] {
        times.sort_by(f64::total_cmp);
    }
    println!("microseconds, {} each, in turns", TURNS * CALLS);
    println!("{:<44}{:>10}{:>10}{:>10}", "", "p50", "p90", "p99");
    for (name, times) in [
        ("a call, client and server alone", &plain),
        ("a call through the gate", &gated),
        ("600 bytes appended and fdatasync, this disk", &disk),
    ] {
        let [p50, p90, p99] = [50, 90, 99].map(|percent| crate::percentile(times, percent));
        println!("{name:<44}{p50:>10.0}{p90:>10.0}{p99:>10.0}");
    }
    let added = crate::percentile(&gated, 50) - crate::percentile(&plain, 50);
    let synced = added / crate::percentile(&disk, 50);
    println!(
        "\nadded at p50: {added:.0}, which is {synced:.1} times the disk's own time; a call waits for two writes"
    );
    let rate = throughput(&mut gate)?;
    println!("calls a second with {AT_ONCE} at once through the gate: {rate:.0}");
    Ok(())
}

fn open(command: &mut Command) -> anyhow::Result<Peer> {
    let mut peer = Peer::spawn(command)?;
    peer.send(INITIALIZE)?;
    peer.answer("\"hello\"", PATIENCE)?;
    peer.send(INITIALIZED)?;
    peer.send(call("warm"))?;
    peer.answer("\"warm\"", PATIENCE)?;
    Ok(peer)
}

fn call(id: &str) -> String {
    format!(
        "{{\"jsonrpc\":\"2.0\",\"id\":\"{id}\",\"method\":\"tools/call\",\
         \"params\":{{\"name\":\"list_notes\",\"arguments\":{{\"limit\":5}}}}}}"
    )
}

fn calls(peer: &mut Peer, turn: usize, times: &mut Vec<f64>) -> anyhow::Result<()> {
    for number in 0..CALLS {
        let id = format!("{turn}-{number}");
        let start = Instant::now();
        peer.send(call(&id))?;
        peer.answer(&format!("\"{id}\""), PATIENCE)?;
        times.push(start.elapsed().as_secs_f64() * 1e6);
    }
    Ok(())
}

fn syncs(folder: &Path, times: &mut Vec<f64>) -> anyhow::Result<()> {
    let mut file = std::fs::File::options().create(true).append(true).open(folder.join("pace"))?;
    for _ in 0..CALLS {
        let start = Instant::now();
        file.write_all(&[b'x'; 600])?;
        rustix::fs::fdatasync(&file).context("fdatasync")?;
        times.push(start.elapsed().as_secs_f64() * 1e6);
    }
    Ok(())
}

/// Calls a second with a constant number of them out.
fn throughput(peer: &mut Peer) -> anyhow::Result<f64> {
    let start = Instant::now();
    for number in 0..MANY + AT_ONCE {
        if number < MANY {
            peer.send(call(&format!("many-{number}")))?;
        }
        if let Some(due) = number.checked_sub(AT_ONCE) {
            peer.answer(&format!("\"many-{due}\""), PATIENCE)?;
        }
    }
    Ok(u32::try_from(MANY).map_or(0.0, f64::from) / start.elapsed().as_secs_f64())
}
