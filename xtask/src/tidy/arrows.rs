//! The arrows between the crates, read from their manifests, and what each manifest must say.

use super::Report;
use crate::tree::Tree;
use anyhow::Result;

/// Each crate's folder, and the crates of ours that it may depend on. Nothing points back.
const ARROWS: &[(&str, &[&str])] = &[
    ("schema", &[]),
    ("wire", &["schema"]),
    ("gateway", &["schema", "wire"]),
    ("store", &["schema", "wire", "gateway"]),
    ("mcp", &["schema", "wire", "gateway"]),
    ("server", &["schema", "wire", "gateway", "store", "mcp"]),
    ("cli", &["schema", "wire", "gateway", "store", "mcp", "server"]),
    // For tests alone: it may use what it likes, and only `[dev-dependencies]` may name it.
    ("testing", &["schema", "wire", "gateway", "store", "mcp", "server"]),
];

/// Dependencies that belong to some crates only.
const KEPT: &[(&str, &[&str])] = &[
    ("rusqlite", &["store"]),
    ("tokio-postgres", &["store"]),
    ("tokio", &["store", "server", "cli", "testing"]),
    ("clap", &["cli", "testing"]),
    ("anyhow", &["cli", "testing"]),
];

/// One line of a manifest that says something.
#[derive(Debug, PartialEq, Eq)]
struct Entry<'a> {
    line: usize,
    section: &'a str,
    key: &'a str,
    value: &'a str,
}

pub(super) fn check(tree: &Tree, report: &mut Report) -> Result<()> {
    let root = tree.text("Cargo.toml")?;
    for entry in entries(&root).iter().filter(|entry| entry.section == "workspace.dependencies") {
        if entry.value.contains('*') || !entry.value.contains(|c: char| c.is_ascii_digit() || c == '/') {
            let what = format!("`{}` has no version", entry.key);
            report.fault_at("Cargo.toml", entry.line, what, "write the full version that was tested");
        }
    }
    if !root.contains("unsafe_code = \"forbid\"") {
        report.fault("Cargo.toml", "does not forbid unsafe code", "put it back: `unsafe_code = \"forbid\"`");
    }
    for path in tree.list("", "/Cargo.toml") {
        check_manifest(path, &tree.text(path)?, report);
    }
    Ok(())
}

fn check_manifest(path: &str, text: &str, report: &mut Report) {
    let entries = entries(text);
    if path != "Cargo.toml" && text.lines().any(|line| line.trim() == "[workspace]") {
        return check_foreign(path, text, &entries, report);
    }
    if !entries.iter().any(|e| e.section == "lints" && e.key == "workspace" && e.value == "true") {
        report.fault(path, "does not take the workspace's lints", "add `[lints]` with `workspace = true`");
    }
    let folder = path.strip_prefix("crates/").and_then(|rest| rest.strip_suffix("/Cargo.toml"));
    let arrows = folder.map(|folder| ARROWS.iter().find(|(name, _)| *name == folder));
    if let (Some(folder), Some(None)) = (folder, arrows) {
        let what = format!("the crate `{folder}` has no place among the arrows");
        report.fault(path, what, "give it one in xtask/src/tidy/arrows.rs and in ARCHITECTURE.md");
    }
    for entry in entries.iter().filter(|entry| entry.section.ends_with("dependencies")) {
        let (name, form) = entry.key.split_once('.').unwrap_or((entry.key, ""));
        if form != "workspace" && !entry.value.contains("workspace = true") {
            let what = format!("`{name}` brings its own version");
            report.fault_at(
                path,
                entry.line,
                what,
                "declare it in the workspace's table, here `workspace = true`",
            );
        }
        let (Some(folder), Some(Some((_, may)))) = (folder, arrows) else { continue };
        if entry.section != "dependencies" {
            continue;
        }
        let ours = name.strip_prefix("callgate-");
        if ours.is_some_and(|ours| !may.contains(&ours)) {
            let what = format!("`{folder}` must not depend on `{name}`");
            report.fault_at(path, entry.line, what, "move the code to where the arrow allows it");
        }
        if KEPT.iter().any(|(kept, homes)| *kept == name && !homes.contains(&folder)) {
            let what = format!("`{name}` is no dependency for `{folder}`");
            report.fault_at(path, entry.line, what, "use it in the crate whose job it is");
        }
    }
}

/// The `key = value` lines of a manifest, each with its section. Manifests here keep each entry on one line.
fn entries(text: &str) -> Vec<Entry<'_>> {
    let mut section = "";
    let mut entries = Vec::new();
    for (line, written) in (1..).zip(text.lines().map(str::trim)) {
        if let Some(name) = written.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            section = name.trim();
        } else if let Some((key, value)) = written.split_once('=').filter(|_| !written.starts_with('#')) {
            entries.push(Entry { line, section, key: key.trim(), value: value.trim() });
        }
    }
    entries
}

/// A workspace of its own shares neither the lints nor the table of versions, and must say both itself.
fn check_foreign(path: &str, text: &str, entries: &[Entry<'_>], report: &mut Report) {
    if !text.contains("unsafe_code = \"forbid\"") {
        report.fault(
            path,
            "does not forbid unsafe code",
            "put `unsafe_code = \"forbid\"` under `[lints.rust]`",
        );
    }
    for entry in entries.iter().filter(|entry| entry.section.ends_with("dependencies")) {
        if !entry.value.contains("path = ") && !entry.value.contains(|c: char| c.is_ascii_digit()) {
            let what = format!("`{}` has no version", entry.key);
            report.fault_at(path, entry.line, what, "write the full version that was tested");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINTS: &str = "[lints]\nworkspace = true\n";

    fn faults(path: &str, text: &str) -> usize {
        let mut report = Report::default();
        check_manifest(path, text, &mut report);
        report.faults()
    }

    #[test]
    fn an_arrow_that_points_back_is_found() {
        let manifest = |name: &str| format!("{LINTS}[dependencies]\n{name}.workspace = true\n");
        assert_eq!(faults("crates/wire/Cargo.toml", &manifest("callgate-schema")), 0);
        assert_eq!(faults("crates/schema/Cargo.toml", &manifest("callgate-wire")), 1);
        assert_eq!(faults("crates/mcp/Cargo.toml", &manifest("callgate-store")), 1);
        assert_eq!(faults("crates/gateway/Cargo.toml", &manifest("rusqlite")), 1);
        assert_eq!(faults("crates/gateway/Cargo.toml", &manifest("tokio")), 1);
        assert_eq!(faults("crates/server/Cargo.toml", &manifest("callgate-testing")), 1);
    }

    #[test]
    fn tests_may_depend_on_what_they_like() {
        let text = format!("{LINTS}[dev-dependencies]\ncallgate-testing.workspace = true\n");
        assert_eq!(faults("crates/schema/Cargo.toml", &text), 0);
    }

    #[test]
    fn versions_stand_in_one_table() {
        assert_eq!(
            faults("crates/schema/Cargo.toml", &format!("{LINTS}[dependencies]\nmemchr = \"2\"\n")),
            1
        );
    }

    #[test]
    fn a_workspace_of_its_own_says_its_versions() {
        let manifest = |version: &str| {
            format!(
                "[workspace]\n[lints.rust]\nunsafe_code = \"forbid\"\n[dependencies]\nboon = \"{version}\"\n"
            )
        };
        assert_eq!(faults("differential/Cargo.toml", &manifest("0.6.1")), 0);
        assert_eq!(faults("differential/Cargo.toml", &manifest("*")), 1);
        assert_eq!(faults("differential/Cargo.toml", "[workspace]\n"), 1);
    }

    #[test]
    fn unsafe_is_forbidden_in_every_crate() {
        assert_eq!(faults("crates/schema/Cargo.toml", "[dependencies]\n"), 1);
        let this = Tree::read(&crate::workspace_root().unwrap()).unwrap();
        assert!(this.text("Cargo.toml").unwrap().contains("unsafe_code = \"forbid\""));
    }
}
