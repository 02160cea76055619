//! The messages: one line in, at most one line out.

use serde_json::{Value, json};

use super::notes::Notes;
use super::tools;

/// The revisions that are spoken, oldest first. A client that asks for another is offered the newest.
const REVISIONS: [&str; 4] = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];

/// An error answer's code and message.
struct Fault(i64, String);

/// The answer to one line, or nothing for a notification (and for an answer, as this server asks nothing).
pub(super) fn answer(notes: &mut Notes, line: &[u8]) -> Option<Value> {
    let message: Value = match serde_json::from_slice(line) {
        Ok(message) => message,
        Err(error) => return Some(failed(&Value::Null, &Fault(-32700, format!("no JSON: {error}")))),
    };
    let Some(method) = message.get("method").and_then(Value::as_str) else {
        let answers = message.get("result").is_some() || message.get("error").is_some();
        return (!answers).then(|| failed(&Value::Null, &Fault(-32600, "no request".into())));
    };
    let id = message.get("id")?;
    let params = message.get("params").unwrap_or(&Value::Null);
    Some(match dispatch(notes, method, params) {
        Ok(result) => json!({"jsonrpc": "2.0", "id": id, "result": result}),
        Err(fault) => failed(id, &fault),
    })
}

fn dispatch(notes: &mut Notes, method: &str, params: &Value) -> Result<Value, Fault> {
    match method {
        "initialize" => Ok(initialize(params)),
        "ping" => Ok(json!({})),
        "tools/list" => match params.get("cursor") {
            None => Ok(json!({"tools": tools::definitions()})),
            // There is one page only, so that no cursor was ever handed out.
            Some(_) => Err(Fault(-32602, "no such cursor".into())),
        },
        "tools/call" => {
            let name = params.get("name").and_then(Value::as_str).unwrap_or_default();
            let arguments = params.get("arguments").cloned().unwrap_or_else(|| json!({}));
            let outcome = tools::call(notes, name, &arguments)
                .ok_or_else(|| Fault(-32602, format!("unknown tool: {name}")))?;
            Ok(outcome.unwrap_or_else(
                |reason| json!({"content": [{"type": "text", "text": reason}], "isError": true}),
            ))
        }
        _ => Err(Fault(-32601, format!("unknown method: {method}"))),
    }
}

fn initialize(params: &Value) -> Value {
    let asked = params.get("protocolVersion").and_then(Value::as_str);
    let [.., newest] = REVISIONS;
    let revision = asked.filter(|asked| REVISIONS.contains(asked)).unwrap_or(newest);
    json!({
        "protocolVersion": revision,
        "capabilities": {"tools": {"listChanged": false}},
        "serverInfo": {"name": "notes", "title": "Notes", "version": "1.0.0"},
        "instructions": "Keeps short notes. Search before you write; ids look like note-0001.",
    })
}

fn failed(id: &Value, Fault(code, message): &Fault) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": message}})
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The answer to a request, with the id taken off.
    fn ask(notes: &mut Notes, method: &str, params: &Value) -> Value {
        let line = json!({"jsonrpc": "2.0", "id": "q", "method": method, "params": params}).to_string();
        let answer = answer(notes, line.as_bytes()).expect("a request is answered");
        assert_eq!(answer["id"], "q");
        answer
    }

    #[test]
    fn a_known_revision_is_kept_and_another_gets_the_newest() {
        let mut notes = Notes::in_memory();
        for (asked, given) in [("2024-11-05", "2024-11-05"), ("2031-01-01", "2025-11-25")] {
            let answer = ask(&mut notes, "initialize", &json!({"protocolVersion": asked}));
            assert_eq!(answer["result"]["protocolVersion"], given);
        }
    }

    #[test]
    fn faults_have_the_codes_of_the_protocol() {
        let mut notes = Notes::in_memory();
        assert_eq!(ask(&mut notes, "no/such", &json!({}))["error"]["code"], -32601);
        assert_eq!(ask(&mut notes, "tools/call", &json!({"name": "no_such"}))["error"]["code"], -32602);
        assert_eq!(ask(&mut notes, "tools/list", &json!({"cursor": "x"}))["error"]["code"], -32602);
        assert_eq!(answer(&mut notes, b"{").expect("answered")["error"]["code"], -32700);
        assert_eq!(answer(&mut notes, b"[]").expect("answered")["error"]["code"], -32600);
        assert_eq!(answer(&mut notes, br#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#), None);
    }

    #[test]
    fn a_written_note_is_found_read_and_deleted() {
        let mut notes = Notes::in_memory();
        let mut call = |name: &str, arguments: Value| {
            ask(&mut notes, "tools/call", &json!({"name": name, "arguments": arguments}))["result"].take()
        };
        let written =
            call("write_note", json!({"title": "Keel", "body": "Oak, ten metres.", "tags": ["ship"]}));
        assert_eq!(written["structuredContent"], Value::Null);
        let found = call("search_notes", json!({"text": "OAK"}));
        assert_eq!(
            found["structuredContent"],
            json!({"total": 1, "notes": [{"id": "note-0001", "title": "Keel"}]})
        );
        assert_eq!(call("delete_note", json!({"id": "note-0001"}))["isError"], Value::Null);
        assert_eq!(call("read_note", json!({"id": "note-0001"}))["isError"], true);
    }
}
