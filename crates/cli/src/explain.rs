//! `callgate explain`: the page of a code.

use std::fmt::Write as _;

use crate::exit_code::{ExitCode, Failure};
use crate::pages::{PAGES, nearest, page};
use crate::render::diagnostic::{BLUE, BOLD};
use crate::render::escape::one_line;
use crate::render::output;

/// Explain a code: what it means, why it matters, and what to write instead
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  callgate explain schema-unknown-keyword\n  callgate explain --list\n\n\
                        Exit codes: 0 the page was printed, 2 there is no such code.")]
pub(crate) struct Args {
    /// The code, as a finding, a refusal or an error has it
    #[arg(required_unless_present = "list")]
    code: Option<String>,
    /// Print the names of all codes
    #[arg(long, conflicts_with = "code")]
    list: bool,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let text = match &args.code {
        None => PAGES.iter().fold(String::new(), |text, (code, _)| text + code + "\n"),
        Some(code) => match page(code) {
            Some(page) => styled(page),
            None => return Err(unknown(code)),
        },
    };
    output::print(&text)?;
    Ok(ExitCode::Success)
}

/// That there is no such code, and which one may be meant.
pub(crate) fn unknown(code: &str) -> anyhow::Error {
    let advice = match nearest(code) {
        Some(nearest) => format!("did you mean `{nearest}`?"),
        None => "`callgate explain --list` names all of them".to_owned(),
    };
    Failure::usage(format!("expected a code, found `{}`; {advice}", one_line(code)))
}

/// A page with its headings in bold. The colours go where standard output is no terminal.
fn styled(page: &str) -> String {
    let mut out = String::with_capacity(page.len() + 256);
    let mut in_block = false;
    for line in page.lines() {
        let is_fence = line.starts_with("```");
        let _ = if line.starts_with('#') && !in_block {
            writeln!(out, "{BOLD}{line}{BOLD:#}")
        } else if in_block && !is_fence {
            writeln!(out, "{BLUE}{line}{BLUE:#}")
        } else {
            writeln!(out, "{line}")
        };
        in_block ^= is_fence;
    }
    out
}
