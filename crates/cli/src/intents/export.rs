//! All intents as lines of JSON, a page of the store at a time, so that the memory does not grow with their number.

use std::io::{self, BufWriter, Write as _};

use callgate_gateway::IntentFilter;
use callgate_wire::Intent;

use super::{find, json, known};
use crate::ExitCode;
use crate::operator::reader;
use crate::render::output::{Reader, written};
use crate::store_path::RecordsArg;

/// Intents that are read at once.
const PAGE: u32 = 1_000;

#[derive(Debug, clap::Args)]
pub(super) struct Export {
    /// Only those opened after this one, which an export before had first
    #[arg(long, value_name = "ID")]
    after: Option<String>,
    /// Write the exact text of each call's arguments too, which can hold secrets
    #[arg(long)]
    arguments: bool,
    #[command(flatten)]
    store: RecordsArg,
}

pub(super) fn export(args: &Export) -> anyhow::Result<ExitCode> {
    let reader = reader(&args.store)?;
    let after = args.after.as_deref().map(|id| known(&*reader, id)).transpose()?;
    let mut out = BufWriter::new(io::stdout().lock());
    let mut filter = IntentFilter::last(PAGE);
    loop {
        let page = reader.list(&filter)?;
        for intent in &page {
            if after.as_ref() == Some(&intent.id) {
                written(out.flush())?;
                return Ok(ExitCode::Success);
            }
            let line = line(&*reader, intent, args.arguments)?;
            if written(out.write_all(line.as_bytes()))? == Reader::Gone {
                return Ok(ExitCode::Success);
            }
        }
        match page.last() {
            Some(last) => filter.before = Some(last.id.clone()),
            None => break,
        }
    }
    written(out.flush())?;
    Ok(ExitCode::Success)
}

fn line(
    reader: &dyn callgate_gateway::journal::Records,
    intent: &Intent,
    arguments: bool,
) -> anyhow::Result<String> {
    if !arguments {
        return Ok(json::line(intent, None));
    }
    let record = find(reader, intent.id.as_str())?;
    Ok(json::line(intent, Some(&String::from_utf8_lossy(&record.arguments))))
}
