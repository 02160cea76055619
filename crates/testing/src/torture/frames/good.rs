//! Good messages of both eras, and the tools that they call. Each has a marker, by which it is found again.

use serde_json::{Value, json};

use super::super::lot::Lot;

/// The tools of the fixture, as a page of its list.
pub(super) const TOOLS: &str = concat!(
    r#"[{"name":"mark","inputSchema":{"type":"object","properties":{"#,
    r#""marker":{"type":"string","maxLength":64},"#,
    r#""count":{"type":"integer","minimum":0,"maximum":9},"#,
    r#""words":{"type":"array","maxItems":3,"items":{"type":"string","enum":["keel","mast","sail"]}}},"#,
    r#""required":["marker"],"additionalProperties":false}},"#,
    r#"{"name":"free","inputSchema":{"type":"object"}}]"#
);

/// The revision of the newer era.
pub(super) const MODERN: &str = "2026-07-28";

/// In which era a message is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Era {
    Modern,
    Legacy,
}

/// A good message.
#[derive(Debug, Clone)]
pub(super) struct Good {
    pub(super) frame: Value,
    pub(super) era: Era,
    /// What stands in the arguments, if it is a call.
    pub(super) marker: String,
}

/// The marker of a message; other messages do not become it by chance.
pub(super) fn marker(number: u64) -> String {
    format!("m-{number:08}-{:016x}", number.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(17))
}

/// A good message; its id is its number.
pub(super) fn message(number: u64, lot: &mut Lot) -> Good {
    let era = if lot.up_to(1) == 0 { Era::Modern } else { Era::Legacy };
    let marker = marker(number);
    let (method, params, is_request) = match lot.up_to(15) {
        0..=6 => ("tools/call", call(&marker, lot), true),
        7 => ("tools/list", json!({}), true),
        8 => ("resources/list", json!({}), true),
        9 => ("prompts/get", json!({"name": "none", "arguments": {"a": marker}}), true),
        10 => ("notifications/cancelled", json!({"requestId": number.saturating_sub(lot.up_to(3))}), false),
        11 => ("notifications/progress", json!({"progressToken": number, "progress": 1}), false),
        12 => match era {
            Era::Modern => {
                ("subscriptions/listen", json!({"notifications": {"toolsListChanged": true}}), true)
            }
            Era::Legacy => ("initialize", initialize(), true),
        },
        13 => match era {
            Era::Modern => ("server/discover", json!({}), true),
            Era::Legacy => ("ping", json!({}), true),
        },
        14 => ("completion/complete", json!({"ref": {"type": "ref/prompt", "name": "x"}}), true),
        _ => {
            let answer =
                json!({"jsonrpc": "2.0", "id": number, "result": {"action": "accept", "content": {}}});
            return Good { frame: answer, era, marker };
        }
    };
    let mut frame = json!({"jsonrpc": "2.0", "method": method, "params": params});
    put(&mut frame, "id", is_request.then(|| json!(number)));
    if era == Era::Modern {
        let meta = json!({
            "io.modelcontextprotocol/protocolVersion": MODERN,
            "io.modelcontextprotocol/clientCapabilities": {},
            "progressToken": format!("t-{number}"),
        });
        if let Some(params) = frame.get_mut("params") {
            put(params, "_meta", Some(meta));
        }
    }
    Good { frame, era, marker }
}

/// A good call of the newer era, by a name that no other message has.
pub(super) fn plain_call(id: &str, tool: &str) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {
        "name": tool,
        "arguments": {"marker": id, "count": 7},
        "_meta": {
            "io.modelcontextprotocol/protocolVersion": MODERN,
            "io.modelcontextprotocol/clientCapabilities": {"elicitation": {}},
        },
    }})
}

pub(super) fn initialize() -> Value {
    json!({"protocolVersion": "2025-11-25", "capabilities": {"elicitation": {}}, "clientInfo": {"name": "raw", "version": "0"}})
}

fn call(marker: &str, lot: &mut Lot) -> Value {
    if lot.up_to(3) == 0 {
        return json!({"name": "free", "arguments": {"marker": marker, "deep": {"a": [1, 2.5, null, {"b": "\u{1f980}"}]}}});
    }
    // Some are bad as they stand: they break the schema and nothing else.
    let count = lot.up_to(11);
    let words = ["keel", "mast", "sail", "rope"].into_iter().take(usize::try_from(lot.up_to(4)).unwrap_or(0));
    json!({"name": "mark", "arguments": {"marker": marker, "count": count, "words": words.collect::<Vec<_>>()}})
}

fn put(object: &mut Value, name: &str, value: Option<Value>) {
    if let (Some(members), Some(value)) = (object.as_object_mut(), value) {
        members.insert(name.to_owned(), value);
    }
}
