//! `callgate explain`: the page of a code.

use std::fmt::Write as _;

use crate::exit_code::{ExitCode, Failure};
use crate::pages::{PAGES, nearest, page};
use crate::render::diagnostic::{BLUE, BOLD, wrap};
use crate::render::escape::one_line;
use crate::render::output;
use crate::render::table::terminal_width;

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
            Some(page) => styled(page, terminal_width()),
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

/// A page for a terminal: headings in bold, paragraphs as wide as it is, links by their words, blocks set in. The colours
/// go where standard output is no terminal.
fn styled(page: &str, width: usize) -> String {
    let mut out = String::with_capacity(page.len() + 256);
    let mut paragraph = String::new();
    let mut lines = page.lines();
    while let Some(line) = lines.next() {
        if line.starts_with("```") {
            flush(&mut out, &mut paragraph, width);
            for line in lines.by_ref().take_while(|line| !line.starts_with("```")) {
                let _ = writeln!(out, "    {BLUE}{line}{BLUE:#}");
            }
        } else if line.starts_with('#') {
            flush(&mut out, &mut paragraph, width);
            let _ = writeln!(out, "{BOLD}{}{BOLD:#}", line.trim_start_matches('#').trim().replace('`', ""));
        } else if line.is_empty() {
            flush(&mut out, &mut paragraph, width);
            out.push('\n');
        } else if line.starts_with('|') {
            let _ = writeln!(out, "{}", without_links(line));
        } else {
            if line.starts_with("- ") {
                flush(&mut out, &mut paragraph, width);
            }
            if !paragraph.is_empty() {
                paragraph.push(' ');
            }
            paragraph.push_str(line.trim());
        }
    }
    flush(&mut out, &mut paragraph, width);
    out
}

/// Writes a paragraph, or an item of a list, as lines.
fn flush(out: &mut String, paragraph: &mut String, width: usize) {
    let text = without_links(paragraph);
    let indent = if text.starts_with("- ") { "  " } else { "" };
    if !text.is_empty() {
        let lines = wrap(&text, width.saturating_sub(indent.len()));
        let _ = writeln!(out, "{}", lines.join(&format!("\n{indent}")));
    }
    paragraph.clear();
}

/// The words of links in place of the links.
fn without_links(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, words, after)) = link(rest) {
        out.push_str(before);
        out.push_str(words);
        rest = after;
    }
    out + rest
}

/// The first link: what stands before it, its words, and what comes after it.
fn link(text: &str) -> Option<(&str, &str, &str)> {
    let middle = text.find("](")?;
    let start = text.get(..middle)?.rfind('[')?;
    let end = middle + text.get(middle..)?.find(')')?;
    Some((text.get(..start)?, text.get(start + 1..middle)?, text.get(end + 1..)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_set_for_the_width() {
        let page = "# `a-code`\n\nOne of [the `codes`](README.md) that are\nlong enough.\n\n- an item that is longer\n  \
                    than a line\n- another\n\n## Example\n\n```json\n{\"a\": 1}\n```\n";
        let shown = anstream::adapter::strip_str(&styled(page, 24)).to_string();
        insta::assert_snapshot!(shown, @r#"
        a-code

        One of the `codes` that
        are long enough.

        - an item that is
          longer than a line
        - another

        Example

            {"a": 1}
        "#);
    }
}
