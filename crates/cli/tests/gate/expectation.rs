//! What an answer must say. Every member is one demand; what no member speaks of is free.
//!
//! | member | demands |
//! |---|---|
//! | `id` | the answer's id (default: that of the last request that was sent); any JSON value |
//! | `line` | the whole line, byte for byte |
//! | `notification` | instead of an answer: the next line is a notification of this method |
//! | `nothing` | instead of an answer: nothing but answers that were passed over has come |
//! | `is_error` | whether the result says `isError` |
//! | `code`, `class`, `stage`, `side_effect` | what the refusal in the result's `_meta` says |
//! | `finding` | the code of the first finding of the refusal |
//! | `rpc_code` | the code of the JSON-RPC error |
//! | `error_code` | our own code in the data of the JSON-RPC error |
//! | `text` | a text within the first content |
//! | `lacks` | a text that is nowhere in the line |
//! | `tools` | the names that are listed, in order |
//! | `result` | the result, as JSON |

use std::collections::BTreeMap;

use anyhow::{Context as _, ensure};
use serde_json::Value;
use serde_json::value::RawValue;

/// The demands of one step.
pub(crate) struct Expectation {
    /// The answer's id as JSON text, if the row names one.
    pub(crate) id: Option<String>,
    demands: BTreeMap<String, Value>,
}

/// The key of our own part of a result's `_meta`.
const REFUSAL: &str = "dev.callgate/refusal";

impl Expectation {
    pub(crate) fn read(raw: &RawValue) -> anyhow::Result<Expectation> {
        let members: BTreeMap<String, &RawValue> = serde_json::from_str(raw.get())?;
        let mut demands: BTreeMap<String, Value> = serde_json::from_str(raw.get())?;
        demands.remove("id");
        Ok(Expectation { id: members.get("id").map(|id| id.get().to_owned()), demands })
    }

    /// The method of the notification that is expected instead of an answer.
    pub(crate) fn notification(&self) -> Option<&str> {
        self.demands.get("notification").and_then(Value::as_str)
    }

    /// Whether no line at all is expected.
    pub(crate) fn nothing(&self) -> bool {
        self.demands.contains_key("nothing")
    }

    /// Whether the line meets every demand.
    pub(crate) fn judge(&self, line: &[u8]) -> anyhow::Result<()> {
        let text = std::str::from_utf8(line).context("the answer is no UTF-8")?;
        let shown: String = text.chars().take(2000).collect();
        let answer: Value = serde_json::from_str(text).with_context(|| format!("no JSON: {shown}"))?;
        for (name, wanted) in &self.demands {
            let found = found(name, &answer, text).with_context(|| shown.clone())?;
            let met = match name.as_str() {
                "text" => contains(&found, wanted),
                "lacks" => !contains(&found, wanted),
                _ => found == *wanted,
            };
            ensure!(met, "`{name}` is {found}, expected {wanted}, in {shown}");
        }
        Ok(())
    }
}

fn contains(found: &Value, wanted: &Value) -> bool {
    found.as_str().zip(wanted.as_str()).is_some_and(|(found, wanted)| found.contains(wanted))
}

/// The part of the answer that a demand is about.
fn found(demand: &str, answer: &Value, text: &str) -> anyhow::Result<Value> {
    let result = &answer["result"];
    let refusal = &result["_meta"][REFUSAL];
    Ok(match demand {
        "line" | "lacks" => Value::from(text),
        "notification" => answer["method"].clone(),
        "is_error" => Value::from(result["isError"].as_bool().unwrap_or(false) && result.is_object()),
        "code" | "class" | "stage" | "side_effect" => refusal[demand].clone(),
        "finding" => refusal["errors"][0]["code"].clone(),
        "rpc_code" => answer["error"]["code"].clone(),
        "error_code" => answer["error"]["data"]["code"].clone(),
        "text" => result["content"][0]["text"].clone(),
        "tools" => {
            let tools = result["tools"].as_array().context("no tools")?;
            tools.iter().map(|tool| tool["name"].clone()).collect()
        }
        "result" => result.clone(),
        _ => anyhow::bail!("no demand `{demand}` is known"),
    })
}
