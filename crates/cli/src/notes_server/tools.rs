//! The tools: their definitions (`tools.json`) and what each one does.

use serde_json::{Value, json};

use super::notes::{Note, Notes};

/// A result of `tools/call`, or the reason why the tool could not do it, for the model to read.
type Outcome = Result<Value, String>;

/// The definitions as `tools/list` shows them.
pub(super) fn definitions() -> Value {
    // The file is part of the program and a test reads it, so that the other arm is never taken.
    serde_json::from_str(include_str!("tools.json")).unwrap_or(Value::Null)
}

/// Calls a tool; nothing when there is none of that name.
pub(super) fn call(notes: &mut Notes, name: &str, arguments: &Value) -> Option<Outcome> {
    Some(match name {
        "list_notes" => Ok(list(notes, arguments)),
        "read_note" => read(notes, arguments),
        "search_notes" => search(notes, arguments),
        "write_note" => write(notes, arguments),
        "delete_note" => delete(notes, arguments),
        "rename_note" => rename(notes, arguments),
        _ => return None,
    })
}

fn list(notes: &Notes, arguments: &Value) -> Value {
    let lines: Vec<String> =
        notes.all().take(limit(arguments, 20)).map(|note| format!("{}  {}", note.id, note.title)).collect();
    text(&if lines.is_empty() { "There are no notes.".to_owned() } else { lines.join("\n") })
}

fn read(notes: &Notes, arguments: &Value) -> Outcome {
    let note = notes.find(required(arguments, "id")?)?;
    Ok(text(&format!("{}\n\n{}", note.title, note.body)))
}

fn search(notes: &Notes, arguments: &Value) -> Outcome {
    let wanted = required(arguments, "text")?.to_lowercase();
    let mut found: Vec<&Note> = notes
        .all()
        .filter(|note| {
            note.title.to_lowercase().contains(&wanted) || note.body.to_lowercase().contains(&wanted)
        })
        .collect();
    match arguments.get("sort").and_then(Value::as_str) {
        Some("newest") => found.reverse(),
        Some("title") => found.sort_by(|left, right| left.title.cmp(&right.title)),
        _ => {}
    }
    let total = found.len();
    found.truncate(limit(arguments, 10));
    let notes: Vec<Value> = found.iter().map(|note| json!({"id": note.id, "title": note.title})).collect();
    let structured = json!({"total": total, "notes": notes});
    Ok(json!({
        "content": [{"type": "text", "text": structured.to_string()}],
        "structuredContent": structured,
    }))
}

fn write(notes: &mut Notes, arguments: &Value) -> Outcome {
    let title = required(arguments, "title")?.to_owned();
    let body = required(arguments, "body")?.to_owned();
    let tags = match arguments.get("tags") {
        None => Vec::new(),
        Some(tags) => tags
            .as_array()
            .ok_or("tags must be a list of texts")?
            .iter()
            .map(|tag| tag.as_str().map(str::to_owned).ok_or_else(|| "tags must be texts".to_owned()))
            .collect::<Result<_, _>>()?,
    };
    let id = notes.put(arguments.get("id").and_then(Value::as_str), title, body, tags)?;
    Ok(text(&format!("Wrote {id}.")))
}

fn delete(notes: &mut Notes, arguments: &Value) -> Outcome {
    let id = required(arguments, "id")?;
    notes.remove(id)?;
    Ok(text(&format!("Deleted {id}.")))
}

fn rename(notes: &mut Notes, arguments: &Value) -> Outcome {
    let (id, title) = (required(arguments, "id")?, required(arguments, "title")?.to_owned());
    let note = notes.find(id)?;
    let (body, tags) = (note.body.clone(), note.tags.clone());
    notes.put(Some(id), title, body, tags)?;
    Ok(text(&format!("Renamed {id}.")))
}

fn required<'a>(arguments: &'a Value, name: &str) -> Result<&'a str, String> {
    arguments.get(name).and_then(Value::as_str).ok_or_else(|| format!("{name} must be given, as a text"))
}

fn limit(arguments: &Value, default: usize) -> usize {
    arguments
        .get("limit")
        .and_then(Value::as_u64)
        .and_then(|limit| usize::try_from(limit).ok())
        .unwrap_or(default)
}

fn text(text: &str) -> Value {
    json!({"content": [{"type": "text", "text": text}]})
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_tool_that_is_listed_can_be_called() {
        let definitions = definitions();
        let names: Vec<&str> = definitions
            .as_array()
            .expect("an array")
            .iter()
            .map(|tool| tool["name"].as_str().expect("a name"))
            .collect();
        assert_eq!(names.len(), 6);
        for name in names {
            assert!(call(&mut Notes::in_memory(), name, &json!({})).is_some(), "{name}");
        }
    }
}
