//! `callgate notes-server`: a small MCP server over standard input and output, the one that the demo calls.
//!
//! It is written against the protocol like anybody's server and knows nothing of the gate: no type of the other crates
//! is used here, so what works with it works because of the protocol.

mod notes;
mod protocol;
mod tools;

use std::io::{BufRead, Read as _, Write as _};
use std::path::PathBuf;

use anyhow::Context as _;

/// The longest line that is read; a longer one ends the server, as nothing after it can be trusted to start a message.
const LINE_BYTES_MAX: u64 = 8 * 1024 * 1024;

/// A small notes store as an MCP server on standard input and output.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Keep the notes in FILE, one JSON object a line [default: in memory, gone at the end]
    #[arg(long, value_name = "FILE")]
    file: Option<PathBuf>,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<crate::ExitCode> {
    let mut notes = notes::Notes::open(args.file.as_deref())?;
    let mut input = std::io::stdin().lock();
    let mut output = std::io::stdout().lock();
    let mut line = Vec::new();
    while read_line(&mut input, &mut line)? {
        if let Some(answer) = protocol::answer(&mut notes, &line) {
            writeln!(output, "{answer}").and_then(|()| output.flush()).context("the client is gone")?;
        }
    }
    Ok(crate::ExitCode::Success)
}

/// Reads the next line without its end; false at the end of the input.
fn read_line(input: &mut impl BufRead, line: &mut Vec<u8>) -> anyhow::Result<bool> {
    line.clear();
    let count = input.take(LINE_BYTES_MAX).read_until(b'\n', line).context("cannot read standard input")?;
    if line.last() == Some(&b'\n') {
        line.pop();
    } else if count as u64 == LINE_BYTES_MAX {
        anyhow::bail!("a message has more than {LINE_BYTES_MAX} bytes");
    }
    Ok(count > 0)
}
