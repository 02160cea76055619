//! What `callgate serve` adds to a call over HTTP in the newer era, how many calls a second go through it, and what memory
//! it takes. Load generator, gate and tool server are processes of their own, so that the time of each is told apart; the
//! direct connection, the gates and another gateway take turns.

mod client;
mod gate;
mod part;
mod upstream;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::Context as _;

use self::client::Client;
use self::part::{Part, load, processor_time};

/// Turns of each contestant, and calls in a turn.
const TURNS: usize = 10;
const CALLS: usize = 300;
/// Clients at once in the measurement of throughput.
const CLIENTS: [usize; 3] = [1, 8, 64];
/// Servers and tools of each in the measurement of memory.
const SERVERS: usize = 50;
const TOOLS_EACH: usize = 40;
/// Streams of changes that are held at once.
const STREAMS: usize = 1_000;
/// How long a part may take until its tool can be called.
const START: Duration = Duration::from_mins(1);

/// What to measure.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// How many seconds each measurement of throughput takes
    #[arg(long, default_value_t = 3)]
    seconds: u64,
    /// How many seconds the streams are held
    #[arg(long, default_value_t = 60)]
    hold_seconds: u64,
    /// A Python that has FastMCP, whose proxy is measured beside the gate
    #[arg(long)]
    python: Option<PathBuf>,
    /// A folder on the disk that the store is to be on [default: the system's for temporary files]
    #[arg(long)]
    folder: Option<PathBuf>,
}

/// One process of the measurement.
#[derive(Debug, clap::Subcommand)]
pub enum Role {
    /// The tool server
    Upstream,
    /// The gate, with the journal in memory or in a file
    Gate { config: PathBuf, store: Option<PathBuf> },
}

/// Is one of the processes of the measurement.
///
/// # Errors
/// What it cannot listen at or read.
pub fn part(role: &Role) -> anyhow::Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(async {
        match role {
            Role::Upstream => upstream::serve().await,
            Role::Gate { config, store } => gate::serve(config, store.as_deref()).await,
        }
    })
}

/// Who takes part: how they are called, and what runs for them.
struct Contestant {
    name: &'static str,
    port: u16,
    path: String,
    /// The process between client and server; none for the direct connection.
    between: Option<Part>,
    times: Vec<f64>,
}

/// Measures and prints.
///
/// # Errors
/// A part that does not start or a call that fails.
pub fn run(args: &Args) -> anyhow::Result<()> {
    let folder = match &args.folder {
        Some(folder) => tempfile::tempdir_in(folder)?,
        None => tempfile::tempdir()?,
    };
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    runtime.block_on(async {
        let upstream = Part::own(&["upstream"], &[])?;
        let mut all = contestants(args, folder.path(), &upstream)?;
        for contestant in &all {
            ready(contestant).await.with_context(|| contestant.name)?;
        }
        latency(&mut all).await?;
        for clients in CLIENTS {
            throughput(args, &all, &upstream, clients).await?;
        }
        drop(all);
        memory(folder.path(), &upstream, args).await
    })
}

fn contestants(args: &Args, folder: &Path, upstream: &Part) -> anyhow::Result<Vec<Contestant>> {
    let config = folder.join("gate.toml");
    std::fs::write(&config, server("bench", upstream.port, 1))?;
    let contestant = |name, between: Option<Part>| {
        let port = between.as_ref().map_or(upstream.port, |part| part.port);
        let path = if between.is_some() { "/mcp" } else { "/1/mcp" };
        Contestant { name, port, path: path.to_owned(), between, times: Vec::new() }
    };
    let memory = Part::own(&["gate"], &[&config])?;
    let sqlite = Part::own(&["gate"], &[&config, &folder.join("store.sqlite")])?;
    let mut all = vec![
        contestant("direct", None),
        contestant("callgate, journal in memory", Some(memory)),
        contestant("callgate, SQLite", Some(sqlite)),
    ];
    if let Some(python) = &args.python {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("peers/proxy.py");
        let address = format!("http://127.0.0.1:{}/1/mcp", upstream.port);
        let proxy = Part::start(Command::new(python).arg(script).arg(address))?;
        all.push(contestant("FastMCP proxy", Some(proxy)));
    }
    Ok(all)
}

/// A server in the gate's configuration, which has so many tools.
fn server(name: &str, port: u16, tools: usize) -> String {
    format!("[[upstreams]]\nname = \"{name}\"\nurl = \"http://127.0.0.1:{port}/{tools}/mcp\"\n\n")
}

/// Waits until a call goes through.
async fn ready(contestant: &Contestant) -> anyhow::Result<()> {
    let begun = Instant::now();
    loop {
        let call = async {
            Client::connect(contestant.port, &contestant.path, "echo").await?.call().await.map(|_| ())
        };
        match call.await {
            Ok(()) => return Ok(()),
            Err(fault) if begun.elapsed() > START => return Err(fault),
            Err(_) => tokio::time::sleep(Duration::from_millis(100)).await,
        }
    }
}

async fn latency(all: &mut [Contestant]) -> anyhow::Result<()> {
    for _ in 0..TURNS {
        for contestant in all.iter_mut() {
            let mut client = Client::connect(contestant.port, &contestant.path, "echo").await?;
            client.call().await?;
            for _ in 0..CALLS {
                contestant.times.push(client.call().await?.as_secs_f64() * 1e6);
            }
        }
    }
    println!("one call at a time, microseconds, {} calls each in turns; load {}\n", TURNS * CALLS, load());
    println!("| | p50 | p90 | p99 | added p50 | added p99 | times the direct p50 |");
    println!("|---|---|---|---|---|---|---|");
    let mut direct = [0.0; 3];
    for contestant in all.iter_mut() {
        contestant.times.sort_by(f64::total_cmp);
        let own = [50, 90, 99].map(|percent| crate::percentile(&contestant.times, percent));
        if contestant.between.is_none() {
            direct = own;
        }
        let ([p50, p90, p99], [d50, _, d99]) = (own, direct);
        let name = contestant.name;
        println!(
            "| {name} | {p50:.0} | {p90:.0} | {p99:.0} | {:.0} | {:.0} | {:.1} |",
            p50 - d50,
            p99 - d99,
            p50 / d50
        );
    }
    Ok(())
}

async fn throughput(args: &Args, all: &[Contestant], upstream: &Part, clients: usize) -> anyhow::Result<()> {
    println!("\n{clients} clients at once, {} s each; load {}\n", args.seconds, load());
    println!("| | calls a second | p50 µs | p99 µs | processors: load generator | between | server |");
    println!("|---|---|---|---|---|---|---|");
    for contestant in all {
        let own = std::process::id();
        let between = contestant.between.as_ref().map(Part::pid);
        let pids = [Some(own), between, Some(upstream.pid())];
        let time = |pid: Option<u32>| pid.map_or(Ok(0.0), processor_time);
        let before = [time(pids[0])?, time(pids[1])?, time(pids[2])?];
        let begun = Instant::now();
        let until = begun + Duration::from_secs(args.seconds);
        let mut tasks = tokio::task::JoinSet::new();
        for _ in 0..clients {
            let (port, path) = (contestant.port, contestant.path.clone());
            tasks.spawn(async move {
                let mut client = Client::connect(port, &path, "echo").await?;
                let mut times = Vec::new();
                while Instant::now() < until {
                    times.push(client.call().await?.as_secs_f64() * 1e6);
                }
                anyhow::Ok(times)
            });
        }
        let mut times = Vec::new();
        while let Some(done) = tasks.join_next().await {
            times.extend(done??);
        }
        let seconds = begun.elapsed().as_secs_f64();
        let after = [time(pids[0])?, time(pids[1])?, time(pids[2])?];
        times.sort_by(f64::total_cmp);
        let rate = f64::from(u32::try_from(times.len())?) / seconds;
        let [client, between, server] = [(after[0], before[0]), (after[1], before[1]), (after[2], before[2])]
            .map(|(a, b)| (a - b) / seconds);
        println!(
            "| {} | {rate:.0} | {:.0} | {:.0} | {client:.2} | {between:.2} | {server:.2} |",
            contestant.name,
            crate::percentile(&times, 50),
            crate::percentile(&times, 99)
        );
    }
    Ok(())
}

/// The memory of a gate before many servers, and with many streams.
async fn memory(folder: &Path, upstream: &Part, args: &Args) -> anyhow::Result<()> {
    let config = folder.join("many.toml");
    let servers: String =
        (0..SERVERS).map(|number| server(&format!("s{number}"), upstream.port, TOOLS_EACH)).collect();
    std::fs::write(&config, servers)?;
    let gate = Part::own(&["gate"], &[&config, &folder.join("many.sqlite")])?;
    let begun = Instant::now();
    let mut client = Client::connect(gate.port, "/mcp", "s0__echo").await?;
    let mut tools = 0;
    while tools < SERVERS * TOOLS_EACH && begun.elapsed() < START {
        tools = client.tools().await?;
    }
    println!("\nmemory of a gate with {SERVERS} servers and {tools} tools, SQLite, MiB\n");
    println!("| | now (VmRSS) | at most (VmHWM) |\n|---|---|---|");
    let row = |what: &str| -> anyhow::Result<()> {
        println!("| {what} | {:.1} | {:.1} |", gate.memory("VmRSS")?, gate.memory("VmHWM")?);
        Ok(())
    };
    row("listed")?;
    for _ in 0..CALLS {
        client.call().await?;
    }
    row(&format!("after {CALLS} calls"))?;
    let mut streams = Vec::new();
    for _ in 0..STREAMS {
        let mut stream = Client::connect(gate.port, "/mcp", "s0__echo").await?;
        stream.listen().await?;
        streams.push(stream);
    }
    row(&format!("with {STREAMS} streams"))?;
    tokio::time::sleep(Duration::from_secs(args.hold_seconds)).await;
    let open = streams.iter().filter(|stream| stream.is_open()).count();
    row(&format!("after {} s, {open} of them open", args.hold_seconds))?;
    let mut times = Vec::new();
    // The gate closes a connection on which nothing is asked for ten seconds.
    let mut client = Client::connect(gate.port, "/mcp", "s0__echo").await?;
    for _ in 0..CALLS {
        times.push(client.call().await?.as_secs_f64() * 1e6);
    }
    times.sort_by(f64::total_cmp);
    let [p50, p99] = [50, 99].map(|percent| crate::percentile(&times, percent));
    println!("\na call beside the streams, microseconds: p50 {p50:.0}, p99 {p99:.0}");
    Ok(())
}
