//! The engine from bytes to verdict, beside its peers: first all of them must agree, then they are measured in turns.

mod allocations;
mod corpus;
mod goals;
mod growth;
mod measure;
mod report;

use std::path::PathBuf;

use anyhow::{Result, bail};

use crate::case::{self, Case};
use crate::peers::Engines;
use crate::turns::TURNS;

pub use allocations::count;
pub use growth::schema_and_value;

/// What is measured, and how it is printed.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Measure the cases of this folder alone: a folder each, with schema.json, valid.json, invalid.json and multi.json
    #[arg(long, value_name = "FOLDER")]
    cases: Option<PathBuf>,
    /// Only the cases whose names contain this
    #[arg(long, value_name = "TEXT", default_value = "")]
    only: String,
    /// How often each contestant is measured; the least time counts
    #[arg(long, default_value_t = TURNS)]
    turns: usize,
    /// Leave out the rows of the project's tests and the table of growth
    #[arg(long)]
    short: bool,
    /// How the figures are printed
    #[arg(long, default_value = "text")]
    format: Format,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    Text,
    Json,
}

/// # Errors
/// A case that cannot be read or compiled, or on which two engines differ.
pub fn run(args: &Args) -> Result<()> {
    let folder = args.cases.clone().unwrap_or_else(case::own);
    let mut cases = Case::all(&folder)?;
    cases.retain(|case| case.name.contains(&args.only));
    if cases.is_empty() {
        bail!("no case in {} has `{}` in its name", folder.display(), args.only);
    }
    let mut engines = Vec::new();
    for case in &cases {
        engines.push(agree(case)?);
    }
    let (sample, growth) = if args.short || args.cases.is_some() {
        (None, Vec::new())
    } else {
        (Some(corpus::measure(args.turns)?), growth::measure(args.turns)?)
    };
    let allocations = allocations::counted(&folder);
    let mut figures = Vec::new();
    for (case, engines) in cases.iter().zip(&engines) {
        figures.push(measure::case(case, engines, &allocations, args.turns)?);
    }
    let report = report::Report { turns: args.turns, cases: figures, sample, growth };
    match args.format {
        Format::Text => print!("{report}"),
        Format::Json => println!("{:#}", report.json()),
    }
    Ok(())
}

/// Compiles a case for all engines, if they say the same of it.
///
/// # Errors
/// Which engine says something else of which value.
pub fn agree(case: &Case) -> Result<Engines> {
    let engines = Engines::compile(&case.schema).map_err(|error| error.context(case.name.clone()))?;
    for (what, text, good) in
        [("valid", &case.valid, true), ("invalid", &case.invalid, false), ("multi", &case.multi, false)]
    {
        for (who, verdict) in engines.verdicts(text) {
            if verdict != good {
                let word = if verdict { "takes" } else { "refuses" };
                bail!("{}: {who} {word} {what}.json", case.name);
            }
        }
    }
    let (one, several) = (engines.ours_told(&case.invalid), engines.ours_told(&case.multi));
    if several.len() < 2 {
        bail!("{}: multi.json has a single violation: {several:?}", case.name);
    }
    if one.is_empty() {
        bail!("{}: invalid.json has no violation that is told", case.name);
    }
    Ok(engines)
}
