//! Lines with findings and the summary, as text for people and for programs.

use std::fmt::Write as _;

use anstyle::{AnsiColor, Style};
use callgate_schema::Location;
use callgate_schema::json::write_string;

use super::judge::Told;
use super::tally::Tally;
use crate::render::diagnostic::{BOLD, RED};
use crate::render::escape::one_line;
use crate::render::table::table;

const GREEN: Style = AnsiColor::Green.on_default().bold();

/// Findings of one line that are shown as text.
const SHOWN_MAX: usize = 3;

/// A line with findings, for people.
pub(super) fn line(out: &mut Vec<u8>, number: u64, told: &Told) {
    let mut text = String::new();
    let tool = told.tool.as_deref().map(|tool| format!("  {}", one_line(tool))).unwrap_or_default();
    for (at, finding) in told.findings.iter().take(SHOWN_MAX).enumerate() {
        let place = finding.instance_location.as_ref().map(Location::arguments_path).unwrap_or_default();
        let place = if place.is_empty() { place } else { format!("{}: ", one_line(&place)) };
        let _ = match at {
            0 => write!(text, "{BOLD}line {number}{BOLD:#}{tool}  "),
            _ => write!(text, "{:1$}", "", format!("line {number}").len() + 2),
        };
        let _ = writeln!(text, "{RED}{}{RED:#}  {place}{}", finding.code, one_line(&finding.message));
    }
    let left = told.findings.len().saturating_sub(SHOWN_MAX);
    if left > 0 {
        let _ = writeln!(text, "{:1$}and {left} more", "", format!("line {number}").len() + 2);
    }
    out.extend_from_slice(text.as_bytes());
}

/// A line with findings, for programs: one object on one line.
pub(super) fn line_json(out: &mut Vec<u8>, number: u64, told: &Told) {
    out.extend_from_slice(format!("{{\"line\":{number},\"tool\":").as_bytes());
    match &told.tool {
        Some(tool) => write_string(out, tool),
        None => out.extend_from_slice(b"null"),
    }
    out.extend_from_slice(b",\"findings\":[");
    for (at, finding) in told.findings.iter().enumerate() {
        if at > 0 {
            out.push(b',');
        }
        finding.write_json(out);
    }
    out.extend_from_slice(b"]}\n");
}

/// The counts, for people.
pub(super) fn summary(tally: &Tally, file: &str) -> String {
    let mut out = String::new();
    if !tally.is_good() {
        out.push('\n');
        classes(&mut out, tally);
        violations(&mut out, tally);
    }
    let style = if tally.is_good() { GREEN } else { RED };
    let blank = if tally.blank == 0 { String::new() } else { format!(", {} blank", tally.blank) };
    let _ = writeln!(
        out,
        "{file}: {} lines, {style}{} valid{style:#}, {} refused, {} undecided{blank}",
        tally.lines,
        tally.valid,
        tally.refused() - tally.undecided(),
        tally.undecided()
    );
    out
}

fn classes(out: &mut String, tally: &Tally) {
    let mut classes = table(["lines", "class"]);
    for (class, count) in &tally.by_class {
        classes.add_row([count.to_string(), (*class).to_owned()]);
    }
    let _ = writeln!(out, "{classes}\n");
    let mut codes = table(["findings", "code"]);
    for (code, count) in &tally.by_code {
        codes.add_row([count.to_string(), (*code).to_owned()]);
    }
    let _ = writeln!(out, "{codes}\n");
}

fn violations(out: &mut String, tally: &Tally) {
    let mut table = table(["times", "tool", "schema", "the first one"]);
    for (violation, seen) in tally.frequent() {
        let tool = violation.tool.as_deref().unwrap_or("");
        let place = if seen.place.is_empty() { String::new() } else { format!("{}: ", seen.place) };
        let first = format!("{place}{} ({})", seen.message, violation.code);
        table.add_row([
            seen.count.to_string(),
            one_line(tool),
            one_line(&violation.schema_location),
            one_line(&first),
        ]);
    }
    let _ = writeln!(out, "Most frequent:\n{table}\n");
    if tally.others > 0 {
        let _ = writeln!(out, "{} findings more, of kinds beyond those that are told apart\n", tally.others);
    }
}

/// The counts, for programs: the last line.
pub(super) fn summary_json(tally: &Tally) -> Vec<u8> {
    let mut out = format!(
        "{{\"summary\":{{\"lines\":{},\"blank\":{},\"valid\":{},\"refused\":{},\"undecided\":{},\"by_class\":",
        tally.lines,
        tally.blank,
        tally.valid,
        tally.refused() - tally.undecided(),
        tally.undecided()
    )
    .into_bytes();
    counts(&mut out, tally.by_class.iter());
    out.extend_from_slice(b",\"by_code\":");
    counts(&mut out, tally.by_code.iter());
    out.extend_from_slice(b",\"most_frequent\":[");
    for (at, (violation, seen)) in tally.frequent().into_iter().enumerate() {
        out.extend_from_slice(if at == 0 { b"{\"tool\":" } else { b",{\"tool\":" });
        match &violation.tool {
            Some(tool) => write_string(&mut out, tool),
            None => out.extend_from_slice(b"null"),
        }
        let members = [
            ("code", violation.code),
            ("schema_location", &violation.schema_location),
            ("message", &seen.message),
        ];
        for (name, value) in members {
            out.extend_from_slice(format!(",\"{name}\":").as_bytes());
            write_string(&mut out, value);
        }
        out.extend_from_slice(format!(",\"times\":{}}}", seen.count).as_bytes());
    }
    out.extend_from_slice(format!("],\"others\":{}}}}}\n", tally.others).as_bytes());
    out
}

fn counts<'a>(out: &mut Vec<u8>, counts: impl Iterator<Item = (&'a &'static str, &'a u64)>) {
    out.push(b'{');
    for (at, (name, count)) in counts.enumerate() {
        if at > 0 {
            out.push(b',');
        }
        write_string(out, name);
        out.extend_from_slice(format!(":{count}").as_bytes());
    }
    out.push(b'}');
}
