//! Who takes what, as text for people and for programs.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use anstyle::{AnsiColor, Style};
use callgate_schema::json::write_string;

use super::{Judged, Placed, Tool, Verdict};
use crate::receivers::{Does, Receiver, Rule};
use crate::render::escape::one_line;
use crate::render::table::table;

const RED: Style = AnsiColor::Red.on_default().bold();
const YELLOW: Style = AnsiColor::Yellow.on_default().bold();
const GREEN: Style = AnsiColor::Green.on_default();
const BOLD: Style = Style::new().bold();

/// Places of one rule in one tool that are told one by one.
const PLACES_MAX: usize = 3;

/// For people. Whatever comes from the file is in one line and can be seen.
pub(super) fn text(judged: &[Judged], receivers: &[&'static Receiver]) -> String {
    let mut out = String::new();
    for file in judged {
        for tool in &file.tools {
            details(&mut out, &file.file, tool);
        }
    }
    overview(&mut out, judged, receivers);
    sources(&mut out, judged);
    out
}

fn details(out: &mut String, file: &str, tool: &Tool) {
    let (file, label) = (one_line(file), one_line(&tool.label));
    let verdicts = match &tool.verdicts {
        Ok(verdicts) => verdicts,
        Err(finding) => {
            let message = one_line(&finding.message);
            let _ = writeln!(out, "{BOLD}{file}  {label}{BOLD:#}\n    {RED}unreadable{RED:#}  {message}\n");
            return;
        }
    };
    if verdicts.iter().all(|verdict| verdict.remarks.is_empty()) {
        return;
    }
    let _ = writeln!(out, "{BOLD}{file}  {label}{BOLD:#}");
    for verdict in verdicts {
        for (rule, places) in by_rule(verdict) {
            told(out, tool, verdict.receiver, rule, &places);
        }
    }
    out.push('\n');
}

fn told(out: &mut String, tool: &Tool, receiver: &Receiver, rule: &Rule, places: &[&Placed]) {
    let style = if rule.does == Does::Refuses { RED } else { YELLOW };
    let keywords = keywords(places);
    let _ = writeln!(
        out,
        "    {style}{} {}{style:#}  {keywords}: {}",
        receiver.name,
        rule.does.as_str(),
        rule.says
    );
    for placed in places.iter().take(PLACES_MAX) {
        let place = one_line(&format!("{}{}", tool.pointer, placed.remark.pointer));
        let place = if place.is_empty() { "the root" } else { &place };
        let _ = writeln!(out, "        line {}: {place}", placed.line);
    }
    let left = places.len().saturating_sub(PLACES_MAX);
    if left > 0 {
        let _ = writeln!(out, "        and {left} more");
    }
}

/// The keywords that a rule found, each once; names of properties are told by the places.
fn keywords(places: &[&Placed]) -> String {
    let mut names: Vec<String> = Vec::new();
    for placed in places {
        let name = format!("`{}`", one_line(&placed.remark.keyword));
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let left = names.len().saturating_sub(PLACES_MAX);
    names.truncate(PLACES_MAX);
    match left {
        0 => names.join(", "),
        left => format!("{} and {left} more", names.join(", ")),
    }
}

/// In the order of the rules.
fn by_rule(verdict: &Verdict) -> Vec<(&'static Rule, Vec<&Placed>)> {
    let rules = verdict.receiver.rules.iter();
    rules
        .filter_map(|rule| {
            let places: Vec<&Placed> =
                verdict.remarks.iter().filter(|placed| placed.remark.rule.id == rule.id).collect();
            (!places.is_empty()).then_some((rule, places))
        })
        .collect()
}

/// A row a tool, a column a receiver, and how many each of them takes.
fn overview(out: &mut String, judged: &[Judged], receivers: &[&'static Receiver]) {
    let mut header = vec!["tool".to_owned()];
    header.extend(receivers.iter().map(|receiver| receiver.name.clone()));
    let mut table = table(["tool"]);
    table.set_header(header);
    let mut counts = vec![(0_usize, 0_usize); receivers.len()];
    let mut all = 0_usize;
    for tool in judged.iter().flat_map(|file| &file.tools) {
        all += 1;
        let mut row = vec![one_line(&tool.label)];
        match &tool.verdicts {
            Err(_) => row.extend(receivers.iter().map(|_| "unreadable".to_owned())),
            Ok(verdicts) => {
                for (verdict, (taken, dropped)) in verdicts.iter().zip(&mut counts) {
                    *taken += usize::from(verdict.remarks.is_empty());
                    *dropped += usize::from(!verdict.remarks.is_empty() && !verdict.refuses());
                    row.push(cell(verdict));
                }
            }
        }
        table.add_row(row);
    }
    let _ = writeln!(out, "Is the schema taken as it is?\n{table}\n");
    let width = receivers.iter().map(|receiver| receiver.name.len()).max().unwrap_or(0);
    for (receiver, (taken, dropped)) in receivers.iter().zip(counts) {
        let style = if taken == all { GREEN } else { RED };
        let tools = if all == 1 { "tool" } else { "tools" };
        let name = &receiver.name;
        let _ = write!(out, "{style}{name:<width$}{style:#}  takes {taken} of {all} {tools} as they are");
        match dropped {
            0 => out.push('\n'),
            _ => _ = writeln!(out, ", and {dropped} more without something in them"),
        }
    }
}

fn cell(verdict: &Verdict) -> String {
    match (verdict.count(Does::Refuses), verdict.count(Does::Drops)) {
        (0, 0) => "yes".to_owned(),
        (0, drops) => format!("drops {drops}"),
        (refuses, _) => format!("no: {refuses}"),
    }
}

/// Where it is said, of each rule that found something.
fn sources(out: &mut String, judged: &[Judged]) {
    let rules = fired(judged);
    if rules.is_empty() {
        return;
    }
    out.push_str("\nWhere that is said:\n");
    for rule in rules.values() {
        let _ = writeln!(out, "    {}  {}  {}", rule.date, rule.id, rule.source);
    }
}

fn fired(judged: &[Judged]) -> BTreeMap<&'static str, &'static Rule> {
    let tools = judged.iter().flat_map(|file| &file.tools);
    let verdicts = tools.filter_map(|tool| tool.verdicts.as_ref().ok()).flatten();
    let remarks = verdicts.flat_map(|verdict| &verdict.remarks);
    remarks.map(|placed| (placed.remark.rule.id.as_str(), placed.remark.rule)).collect()
}

/// For programs: one object on one line.
pub(super) fn json(judged: &[Judged], receivers: &[&'static Receiver]) -> Vec<u8> {
    let mut out = b"{\"receivers\":[".to_vec();
    list(&mut out, receivers, |out, receiver| {
        member(out, b'{', "name", &receiver.name);
        member(out, b',', "title", &receiver.title);
        member(out, b',', "holds", &receiver.holds);
        let taken = |tool: &Tool| {
            tool.verdicts.as_ref().is_ok_and(|verdicts| {
                verdicts.iter().any(|it| it.receiver.name == receiver.name && it.remarks.is_empty())
            })
        };
        let tools = judged.iter().flat_map(|file| &file.tools);
        out.extend_from_slice(
            format!(",\"as_is\":{}}}", tools.filter(|tool| taken(tool)).count()).as_bytes(),
        );
    });
    out.extend_from_slice(b",\"files\":[");
    list(&mut out, judged, |out, file| {
        member(out, b'{', "file", &file.file);
        out.extend_from_slice(b",\"tools\":[");
        list(out, &file.tools, write_tool);
        out.push(b'}');
    });
    out.extend_from_slice(b",\"rules\":[");
    let rules: Vec<&Rule> = fired(judged).into_values().collect();
    list(&mut out, &rules, |out, rule| {
        member(out, b'{', "rule", &rule.id);
        member(out, b',', "says", &rule.says);
        member(out, b',', "source", &rule.source);
        member(out, b',', "date", &rule.date);
        out.push(b'}');
    });
    out.extend_from_slice(b"}\n");
    out
}

fn write_tool(out: &mut Vec<u8>, tool: &Tool) {
    member(out, b'{', "tool", &tool.label);
    member(out, b',', "pointer", &tool.pointer);
    match &tool.verdicts {
        Err(finding) => {
            out.extend_from_slice(b",\"unreadable\":");
            finding.write_json(out);
        }
        Ok(verdicts) => {
            out.extend_from_slice(b",\"receivers\":[");
            list(out, verdicts, |out, verdict| {
                let does = verdict.remarks.iter().map(|placed| placed.remark.rule.does).max();
                member(out, b'{', "receiver", &verdict.receiver.name);
                member(out, b',', "verdict", does.map_or("as-is", Does::as_str));
                out.extend_from_slice(b",\"remarks\":[");
                list(out, &verdict.remarks, |out, Placed { remark, line }| {
                    member(out, b'{', "does", remark.rule.does.as_str());
                    member(out, b',', "rule", &remark.rule.id);
                    member(out, b',', "keyword", &remark.keyword);
                    member(out, b',', "pointer", &format!("{}{}", tool.pointer, remark.pointer));
                    out.extend_from_slice(format!(",\"line\":{line}}}").as_bytes());
                });
                out.push(b'}');
            });
        }
    }
    out.push(b'}');
}

/// The items of an array that was opened, and its end.
fn list<T>(out: &mut Vec<u8>, items: &[T], mut write: impl FnMut(&mut Vec<u8>, &T)) {
    for (at, item) in items.iter().enumerate() {
        if at > 0 {
            out.push(b',');
        }
        write(out, item);
    }
    out.push(b']');
}

fn member(out: &mut Vec<u8>, before: u8, name: &str, text: &str) {
    out.push(before);
    write_string(out, name);
    out.push(b':');
    write_string(out, text);
}
