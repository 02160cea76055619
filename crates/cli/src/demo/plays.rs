//! What is played: one row a call, with what must come of it.

use super::outcome::Outcome;

/// One message, and what must become of it.
pub(super) struct Play {
    /// What the row is about.
    pub(super) about: &'static str,
    /// The tool that is called; empty for `tools/list`.
    pub(super) tool: &'static str,
    /// The arguments, as the bytes that are sent.
    pub(super) arguments: &'static str,
    pub(super) expected: Outcome,
}

impl Play {
    /// The line for the gate.
    pub(super) fn frame(&self, id: usize) -> String {
        let Play { tool, arguments, .. } = self;
        if tool.is_empty() {
            return format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/list"}}"#);
        }
        format!(
            r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"{tool}","arguments":{arguments}}}}}"#
        )
    }

    /// What the row shows of the line.
    pub(super) fn shown(&self) -> String {
        if self.tool.is_empty() {
            "tools/list".to_owned()
        } else {
            format!("{} {}", self.tool, self.arguments)
        }
    }
}

const fn play(about: &'static str, tool: &'static str, arguments: &'static str, expected: Outcome) -> Play {
    Play { about, tool, arguments, expected }
}

/// The plays, in order: later calls use the notes that earlier ones wrote.
pub(super) const PLAYS: &[Play] = &[
    play("the list, less a tool that cannot be checked", "", "", Outcome::Listed { tools: 5 }),
    play("a good call", "write_note", r#"{"title":"Keel","body":"Oak"}"#, Outcome::Ran),
    play("a good call, whose answer is checked, too", "search_notes", r#"{"text":"oak"}"#, Outcome::Ran),
    play("a hundred, sent as it was written", "list_notes", r#"{"limit":1e2}"#, Outcome::Ran),
    play("a good call, and the tool fails", "read_note", r#"{"id":"note-0404"}"#, Outcome::ToolFailed),
    play(
        "a misspelt name",
        "write_note",
        r#"{"title":"Oar","body":"","tag":1}"#,
        Outcome::refused("bind", "property-unexpected"),
    ),
    play("a wrong type", "list_notes", r#"{"limit":"ten"}"#, Outcome::refused("bind", "type-mismatch")),
    play(
        "a text that breaks the pattern",
        "delete_note",
        r#"{"id":"*"}"#,
        Outcome::refused("bind", "pattern-mismatch"),
    ),
    play(
        "a name with two values",
        "delete_note",
        r#"{"id":"note-0001","id":"note-2"}"#,
        Outcome::refused("bind", "json-duplicate-name"),
    ),
    play(
        "half of a character",
        "search_notes",
        r#"{"text":"\ud83d"}"#,
        Outcome::refused("bind", "json-surrogate"),
    ),
    play("a tool that is not there", "purge_notes", "{}", Outcome::refused("resolve", "call-unknown-tool")),
    play(
        "the tool that was left out",
        "rename_note",
        r#"{"id":"note-0001","title":"Bow"}"#,
        Outcome::refused("resolve", "call-tool-quarantined"),
    ),
    play("a good call that deletes", "delete_note", r#"{"id":"note-0001"}"#, Outcome::Ran),
];
