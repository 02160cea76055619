//! The notes themselves: in memory, and in a file of JSON lines when one is named.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use serde_json::{Value, json};

/// As many as four digits can name.
const NOTES_MAX: usize = 9999;

/// One note.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Note {
    pub(super) id: String,
    pub(super) title: String,
    pub(super) body: String,
    pub(super) tags: Vec<String>,
}

/// All notes, by id.
#[derive(Debug)]
pub(super) struct Notes {
    file: Option<PathBuf>,
    by_id: BTreeMap<String, Note>,
}

impl Notes {
    /// Notes that are gone when the server ends.
    pub(super) fn in_memory() -> Notes {
        Notes { file: None, by_id: BTreeMap::new() }
    }

    /// The notes of a file, which need not exist yet; without a file, none.
    pub(super) fn open(file: Option<&Path>) -> anyhow::Result<Notes> {
        let mut notes = Notes { file: file.map(Path::to_owned), ..Notes::in_memory() };
        let Some(file) = file.filter(|file| file.exists()) else { return Ok(notes) };
        let text =
            std::fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))?;
        for (index, line) in text.lines().enumerate() {
            let note = note_from_line(line)
                .with_context(|| format!("{}, line {}: no note", file.display(), index + 1))?;
            notes.by_id.insert(note.id.clone(), note);
        }
        Ok(notes)
    }

    /// Every note, in the order of the ids, which is the order of writing.
    pub(super) fn all(&self) -> impl Iterator<Item = &Note> {
        self.by_id.values()
    }

    /// One note, or why there is none.
    pub(super) fn find(&self, id: &str) -> Result<&Note, String> {
        self.by_id.get(id).ok_or_else(|| format!("there is no note {id}"))
    }

    /// Writes a new note, or another text under an id that exists; returns the id.
    pub(super) fn put(
        &mut self,
        id: Option<&str>,
        title: String,
        body: String,
        tags: Vec<String>,
    ) -> Result<String, String> {
        let id = match id {
            Some(id) => self.find(id)?.id.clone(),
            None => (1..=NOTES_MAX)
                .map(|number| format!("note-{number:04}"))
                .find(|id| !self.by_id.contains_key(id))
                .ok_or("the store is full")?,
        };
        self.by_id.insert(id.clone(), Note { id: id.clone(), title, body, tags });
        self.save()?;
        Ok(id)
    }

    /// Deletes one note.
    pub(super) fn remove(&mut self, id: &str) -> Result<(), String> {
        self.by_id.remove(id).ok_or_else(|| format!("there is no note {id}"))?;
        self.save()
    }

    /// Writes the whole file beside the old one and puts it in its place, so that a death in between loses nothing.
    fn save(&self) -> Result<(), String> {
        let Some(file) = &self.file else { return Ok(()) };
        let lines: Vec<String> = self.all().map(|note| note_to_json(note).to_string() + "\n").collect();
        let mut fresh = file.clone().into_os_string();
        fresh.push(".new");
        std::fs::write(&fresh, lines.concat())
            .and_then(|()| std::fs::rename(&fresh, file))
            .map_err(|error| format!("cannot write the notes: {error}"))
    }
}

fn note_to_json(note: &Note) -> Value {
    json!({"id": note.id, "title": note.title, "body": note.body, "tags": note.tags})
}

fn note_from_line(line: &str) -> Option<Note> {
    let value: Value = serde_json::from_str(line).ok()?;
    let text = |name: &str| value.get(name).and_then(Value::as_str).map(str::to_owned);
    let tags =
        value.get("tags")?.as_array()?.iter().filter_map(|tag| tag.as_str().map(str::to_owned)).collect();
    Some(Note { id: text("id")?, title: text("title")?, body: text("body")?, tags })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_keeps_the_notes_from_one_run_to_the_next() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("notes.jsonl");
        let mut notes = Notes::open(Some(&file)).expect("a new file");
        notes.put(None, "Keel".into(), "Oak\nten metres".into(), vec!["ship".into()]).expect("written");
        notes.put(None, "Mast".into(), String::new(), Vec::new()).expect("written");
        notes.remove("note-0001").expect("removed");
        let again = Notes::open(Some(&file)).expect("the same file");
        assert_eq!(again.by_id, notes.by_id);
        assert_eq!(again.all().count(), 1);
    }
}
