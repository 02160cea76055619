//! What an app does with the wire: results, arguments from a text map, envelopes, entities.
#![expect(clippy::print_stdout, reason = "an example shows what it does")]

use std::error::Error;

use callgate_schema::json::Tape;
use callgate_schema::{Coercion, Options, Profile, Program, Verdict};
use callgate_wire::{
    AgentResult, EntityRef, EntitySnapshot, FailureCode, Moment, Object, ResourceEnvelope, Scheme, WireArgs,
};

const SCHEMA: &str = r#"{
  "type": "object",
  "additionalProperties": false,
  "required": ["count"],
  "properties": {
    "count": { "type": "integer", "minimum": 0 },
    "label": { "type": "string" }
  }
}"#;

fn main() -> Result<(), Box<dyn Error>> {
    for line in lines()? {
        println!("{line}");
    }
    Ok(())
}

pub(crate) fn lines() -> Result<Vec<String>, Box<dyn Error>> {
    // A handler ends in a success with data, or in a failure with a code that an agent can match on.
    let saved = AgentResult::success(Object::new().with("id", "note-42")).with_message("Saved");
    let missing = AgentResult::failure(FailureCode::from_static("not_found"), "Note does not exist.")
        .with_details(Object::new().with("id", "note-42"));

    // A text map becomes typed arguments by the schema, and is then checked.
    let wire = WireArgs::from_pairs([("count", "3"), ("label", "demo")]);
    let options = Options::tool(Profile::Wire);
    let coercion = Coercion::compile(SCHEMA.as_bytes(), &options).map_err(|error| error.to_string())?;
    let program = Program::compile(SCHEMA.as_bytes(), &options).map_err(|error| error.to_string())?;
    let (texts, mut tape) = (wire.to_arguments(), Tape::new());
    let limits = options.limits.arguments_text();
    let arguments = tape.read(&texts, &limits).map_err(|fault| fault.finding().message)?;
    let coerced = coercion.coerce(arguments).map_err(|finding| finding.message)?.bytes.into_owned();
    let verdict = program.check(tape.read(&coerced, &limits).map_err(|fault| fault.finding().message)?);
    assert!(matches!(verdict, Verdict::Valid), "the arguments keep the schema");

    // A versioned snapshot that an agent can read as a resource.
    let envelope = ResourceEnvelope::new(
        &Scheme::new("demoapp")?,
        "cool_runtime_snapshot",
        Object::new().with("phase", "playing"),
    )
    .into_result();
    let uri = envelope.data().and_then(|data| data.get_text("resource_uri"));

    // A record of the app that agents can search, open and refer to.
    let properties = Object::parse(r#"{"pinned": true, "rank": 3, "tags": ["work", "today"]}"#)?;
    let note = EntitySnapshot::new(EntityRef::new("notes", "note", "note-1")?, properties)?
        .with_title("Inbox note")
        .with_keywords(["work", "today"])?
        .with_deep_link("demoapp://notes/note-1")
        .with_updated_at(Moment::parse("2026-06-29T14:00:00+02:00")?);
    let text = note.to_json();
    assert_eq!(EntitySnapshot::parse(text.as_str())?, note, "a snapshot is read back as it was written");

    Ok(vec![
        saved.to_json().into_string(),
        missing.to_json().into_string(),
        String::from_utf8(coerced)?,
        uri.unwrap_or_default(),
        text.into_string(),
        note.effective_title().unwrap_or_default().to_owned(),
    ])
}
