//! Documents that name what is there: the README's commands, the invariants' tests, the decisions' numbers.

use super::Report;
use crate::source;
use crate::tree::Tree;
use anyhow::Result;
use std::collections::BTreeSet;

/// Documents at the root that a newcomer looks for.
const EXPECTED: &[&str] = &[
    "README.md",
    "ARCHITECTURE.md",
    "CONTRIBUTING.md",
    "CHANGELOG.md",
    "SECURITY.md",
    "LICENSE-MIT",
    "LICENSE-APACHE",
    ".ci/run",
];

/// The package that measures, with subcommands of its own.
const BENCH: &str = "callgate-bench";

/// What cargo itself can do, as far as our documents use it.
const CARGO: &[&str] =
    &["bench", "build", "clippy", "doc", "fmt", "install", "nextest", "run", "test", "xtask"];

pub(super) fn check(tree: &Tree, report: &mut Report) -> Result<()> {
    for path in EXPECTED.iter().filter(|path| !tree.has(path)) {
        report.fault(path, "is missing", "write it");
    }
    let verbs = variants(tree, "crates/cli/src/main.rs")?;
    let chores = variants(tree, "xtask/src/main.rs")?;
    let measured = variants(tree, "bench/src/main.rs")?;
    let known = Known { verbs, chores, measured };
    for path in tree.list("", ".md").filter(|path| !path.contains('/') || path.starts_with("docs/")) {
        let text = tree.text(path)?;
        for (number, target) in links(&text).filter(|(_, target)| !leads_somewhere(tree, path, target)) {
            report.fault_at(path, number, format!("`{target}` leads nowhere"), "point to a file that exists");
        }
        for (number, command) in commands(&text) {
            if let Some(what) = known.lacks(&command) {
                report.fault_at(path, number, what, "name one that exists");
            }
        }
    }
    check_decisions(tree, report);
    check_invariants(tree, report)?;
    check_scenarios(tree, report)
}

/// The targets of a document's links, each with the number of its line.
fn links(text: &str) -> impl Iterator<Item = (usize, &str)> {
    (1..).zip(text.lines()).flat_map(|(number, line)| {
        let targets = line.split("](").skip(1).filter_map(|rest| rest.split(')').next());
        targets.map(move |target| (number, target))
    })
}

/// Whether a link leads to a file or a folder of the tree. Where the network is needed to tell, it is believed.
fn leads_somewhere(tree: &Tree, from: &str, target: &str) -> bool {
    let path = target.split('#').next().unwrap_or_default();
    if target.contains("://") || path.is_empty() {
        return true;
    }
    let mut parts: Vec<&str> = from.split('/').collect();
    parts.pop();
    for part in path.split('/') {
        match part {
            "." | "" => {}
            ".." => _ = parts.pop(),
            part => parts.push(part),
        }
    }
    let path = parts.join("/");
    tree.has(&path) || tree.list(&format!("{path}/"), "").next().is_some()
}

/// The lines of a document's blocks of commands that start with `cargo` or `callgate`, each with its number.
fn commands(text: &str) -> Vec<(usize, String)> {
    let mut inside = false;
    let mut commands = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        if line.trim_start().starts_with("```") {
            inside = !inside;
            continue;
        }
        let line = line.trim().trim_start_matches("$ ");
        if inside && ["cargo ", "callgate "].iter().any(|program| line.starts_with(program)) {
            commands.push((number, line.to_owned()));
        }
    }
    commands
}

/// The subcommands of our programs.
struct Known {
    /// Of `callgate`.
    verbs: BTreeSet<String>,
    /// Of `cargo xtask`.
    chores: BTreeSet<String>,
    /// Of the benchmark.
    measured: BTreeSet<String>,
}

impl Known {
    /// What in a command is not there.
    fn lacks(&self, command: &str) -> Option<String> {
        let mut words = command.split_whitespace().take_while(|word| *word != "#");
        let program = words.next()?;
        let verb = words.find(|word| !word.starts_with(['-', '+']))?;
        let is = |verb: &str| verb != "help" && !self.verbs.contains(verb);
        match program {
            "callgate" => is(verb).then(|| format!("there is no `callgate {verb}`")),
            _ if !CARGO.contains(&verb) => Some(format!("there is no `cargo {verb}` here")),
            _ if verb == "xtask" => {
                let chore = words.next()?;
                (!self.chores.contains(chore)).then(|| format!("there is no `cargo xtask {chore}`"))
            }
            _ if verb == "run" => {
                let cargos: Vec<&str> = words.by_ref().take_while(|word| *word != "--").collect();
                let verb = words.next()?;
                if cargos.contains(&BENCH) {
                    (!self.measured.contains(verb)).then(|| format!("there is no `{BENCH} {verb}`"))
                } else {
                    is(verb).then(|| format!("there is no `callgate {verb}`"))
                }
            }
            _ => None,
        }
    }
}

/// The subcommands that a file's `Subcommand` enum declares, as they are typed.
fn variants(tree: &Tree, path: &str) -> Result<BTreeSet<String>> {
    let mut names = BTreeSet::new();
    let (mut derived, mut inside) = (false, false);
    for line in source::lines(&tree.text(path)?) {
        let code = line.code.trim();
        derived |= code.contains("derive(") && code.contains("Subcommand");
        if derived && code.contains("enum ") {
            (derived, inside) = (false, true);
        } else if inside && code == "}" {
            inside = false;
        } else if inside && code.starts_with(|c: char| c.is_ascii_uppercase()) {
            let name: String = code.chars().take_while(char::is_ascii_alphanumeric).collect();
            names.insert(kebab(&name));
        }
    }
    Ok(names)
}

fn kebab(name: &str) -> String {
    let mut out = String::new();
    for c in name.chars() {
        if c.is_ascii_uppercase() && !out.is_empty() {
            out.push('-');
        }
        out.push(c.to_ascii_lowercase());
    }
    out
}

/// Decisions are `NNN-title.md`, counted from 001 without a gap.
fn check_decisions(tree: &Tree, report: &mut Report) {
    let pages = tree.list("docs/decisions/", "").filter(|path| !path.ends_with("/README.md"));
    for (number, path) in (1..).zip(pages) {
        if !path.trim_start_matches("docs/decisions/").starts_with(&format!("{number:03}-")) {
            report.fault(
                path,
                "is out of the numbers' order",
                format!("the next one is {number:03}-title.md"),
            );
        }
    }
}

/// Each invariant of ARCHITECTURE.md names at least one test that exists: `path/to/file.rs::function`, or a row of cases
/// as `path/to/rows.jsonl::name`.
fn check_invariants(tree: &Tree, report: &mut Report) -> Result<()> {
    const FILE: &str = "ARCHITECTURE.md";
    if !tree.has(FILE) {
        return Ok(());
    }
    let text = tree.text(FILE)?;
    let invariants = invariants(&text);
    if invariants.is_empty() {
        report.fault(FILE, "has no numbered list under `## Invariants`", "write it");
    }
    for (number, invariant) in invariants {
        let mut tests = 0;
        for (path, test) in tests_named(&invariant) {
            tests += 1;
            check_test(tree, report, (FILE, number), path, test)?;
        }
        if tests == 0 {
            report.fault_at(
                FILE,
                number,
                "an invariant without a test",
                "name it: `path/to/file.rs::test_name`",
            );
        }
    }
    Ok(())
}

/// The tests that a text names, as `path/to/file.rs::function` or `path/to/rows.jsonl::name` between backticks.
fn tests_named(text: &str) -> impl Iterator<Item = (&str, &str)> {
    text.split('`').skip(1).step_by(2).filter_map(|span| span.split_once("::"))
}

fn check_test(
    tree: &Tree,
    report: &mut Report,
    (file, line): (&str, usize),
    path: &str,
    test: &str,
) -> Result<()> {
    let is_row = path.rsplit('.').next() == Some("jsonl");
    let written = if is_row { format!("\"{test}\"") } else { format!("fn {test}(") };
    if !tree.has(path) || !tree.text(path)?.contains(&written) {
        let fault = format!("there is no test `{path}::{test}`");
        report.fault_at(file, line, fault, "name one that exists");
    }
    Ok(())
}

/// The families of scenarios, and the first and last number of each.
const SCENARIOS: &[(&str, u32, u32)] = &[
    ("A", 1, 43),
    ("B", 1, 15),
    ("C", 1, 7),
    ("D", 1, 8),
    ("E", 1, 11),
    ("F", 1, 16),
    ("G", 1, 11),
    ("H", 1, 13),
    ("I", 1, 17),
    ("J", 1, 11),
    ("RO-", 98, 117),
    ("RO-", 142, 152),
];

/// Each scenario is there once, and names tests that exist or says why it is left out.
fn check_scenarios(tree: &Tree, report: &mut Report) -> Result<()> {
    const FILE: &str = "docs/reference/scenarios.md";
    if !tree.has(FILE) {
        return Ok(());
    }
    let text = tree.text(FILE)?;
    let mut found = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        let mut cells = line.split('|').map(str::trim).skip(1);
        let Some(id) = cells.next().filter(|id| id.starts_with(|c: char| c.is_ascii_uppercase())) else {
            continue;
        };
        found.push(id);
        let mut tests = 0;
        for (path, test) in tests_named(line) {
            tests += 1;
            check_test(tree, report, (FILE, number), path, test)?;
        }
        if tests == 0 && !line.contains("left out: ") {
            report.fault_at(
                FILE,
                number,
                format!("{id} has no test"),
                "name one, or say `left out: ` and why",
            );
        }
    }
    if found != scenarios() {
        let missing: Vec<String> =
            scenarios().into_iter().filter(|id| !found.contains(&id.as_str())).collect();
        let fault = format!("does not have each scenario once and in order; missing: {}", missing.join(", "));
        report.fault(FILE, fault, "add the rows");
    }
    Ok(())
}

/// The names of all scenarios, in order.
fn scenarios() -> Vec<String> {
    let of = |(family, first, last): &(&str, u32, u32)| {
        let width = if family.len() > 1 { 3 } else { 0 };
        (*first..=*last).map(move |number| format!("{family}{number:0width$}")).collect::<Vec<_>>()
    };
    SCENARIOS.iter().flat_map(of).collect()
}

/// The items of the numbered list under `## Invariants`, each with the number of its first line.
fn invariants(text: &str) -> Vec<(usize, String)> {
    let mut items: Vec<(usize, String)> = Vec::new();
    let lines = (1..).zip(text.lines()).skip_while(|(_, line)| *line != "## Invariants").skip(1);
    for (number, line) in lines.take_while(|(_, line)| !line.starts_with("## ")) {
        let starts = line
            .split_once(". ")
            .is_some_and(|(n, _)| !n.is_empty() && n.chars().all(|c| c.is_ascii_digit()));
        match items.last_mut() {
            _ if starts => items.push((number, line.to_owned())),
            Some((_, item)) => {
                item.push('\n');
                item.push_str(line);
            }
            None => {}
        }
    }
    items
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(names: &[&str]) -> BTreeSet<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    #[test]
    fn a_command_that_is_not_there_is_named() {
        let (verbs, chores) = (set(&["check", "wrap"]), set(&["tidy"]));
        let known = Known { verbs, chores, measured: set(&["engine"]) };
        let fault = |command: &str| known.lacks(command);
        assert_eq!(fault("callgate check tools.json"), None);
        assert_eq!(fault("callgate --version"), None);
        assert_eq!(fault("callgate serve"), Some("there is no `callgate serve`".into()));
        assert_eq!(fault("cargo run --release -- wrap -- python3 server.py"), None);
        assert_eq!(fault("cargo run -- serve"), Some("there is no `callgate serve`".into()));
        assert_eq!(fault("cargo run --release -p callgate-bench -- engine --short"), None);
        assert_eq!(
            fault("cargo run -p callgate-bench -- check"),
            Some("there is no `callgate-bench check`".into())
        );
        assert_eq!(fault("cargo xtask tidy"), None);
        assert_eq!(fault("cargo xtask dance"), Some("there is no `cargo xtask dance`".into()));
        assert_eq!(fault("cargo dance"), Some("there is no `cargo dance` here".into()));
    }

    #[test]
    fn commands_are_read_from_blocks_alone() {
        let text = "cargo outside\n```sh\n$ cargo build\ncallgate demo\nls\n```\n";
        assert_eq!(commands(text), [(3, "cargo build".to_owned()), (4, "callgate demo".to_owned())]);
    }

    #[test]
    fn links_are_read_with_their_lines() {
        let text = "[a](b.md)\n\nsee [c](../d.md#e), [f](https://g)\n";
        assert_eq!(links(text).collect::<Vec<_>>(), [(1, "b.md"), (3, "../d.md#e"), (3, "https://g")]);
    }

    #[test]
    fn a_link_leads_to_a_file_or_a_folder() {
        let tree = Tree::read(&crate::workspace_root().unwrap()).unwrap();
        for good in ["../errors/README.md#x", "check.md", "../decisions", "https://example.org", "#here"] {
            assert!(leads_somewhere(&tree, "docs/guide/wrap.md", good), "{good}");
        }
        assert!(!leads_somewhere(&tree, "docs/guide/wrap.md", "errors/README.md"));
    }

    #[test]
    fn verbs_are_typed_in_kebab_case() {
        assert_eq!(kebab("NotesServer"), "notes-server");
        assert_eq!(kebab("Check"), "check");
    }

    #[test]
    fn invariants_are_the_numbered_items_of_their_section() {
        let text = "1. not this\n## Invariants\n\n1. One\n   more `a.rs::t`\n2. Two\n## Next\n3. nor this\n";
        assert_eq!(invariants(text), [(4, "1. One\n   more `a.rs::t`".to_owned()), (6, "2. Two".to_owned())]);
    }
}
