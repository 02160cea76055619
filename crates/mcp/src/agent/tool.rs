//! `tools/call`.

use callgate_schema::json::{Kind, Node};
use callgate_wire::{
    AgentResult, Failure, FailureCode, Json, MESSAGE_OK, Object, Success, ValueCode, ValueError,
};

use super::block::{artifact, listed, of_artifact, text_block};
use super::{Form, META_MESSAGE};

/// The message of a failure that has no text.
const MESSAGE_NONE: &str = "the tool reported an error without a text";

/// The `result` of a `tools/call` that a handler's result is.
///
/// A failure is one text, the JSON of its code, message and details, with `isError`. A success with artifacts is one
/// block for each, and an object under `meta` of its data becomes `_meta`; without artifacts it is one text: that of
/// `text` if its data has nothing else, else the JSON of its data. `structuredContent` is the data, and is there only
/// where the tool declares an output schema, which the data has to keep.
///
/// ```
/// use callgate_mcp::agent::{Form, tool_result};
/// use callgate_wire::{AgentResult, Object};
/// let result = AgentResult::success(Object::new().with("id", "note-42"));
/// assert_eq!(
///     tool_result(&result, Form::Faithful, false).as_str(),
///     r#"{"content":[{"type":"text","text":"{\"id\":\"note-42\"}"}]}"#
/// );
/// ```
pub fn tool_result(result: &AgentResult, form: Form, has_output_schema: bool) -> Json {
    let success = match result {
        AgentResult::Failure(failure) => {
            let content = vec![text_block(body(failure).as_str())];
            return Object::new().with("content", content).with("isError", true).into();
        }
        AgentResult::Success(success) => success,
    };
    let mut meta = Object::new();
    let content: Json = if success.artifacts.is_empty() {
        vec![text_block(&text_of(&success.data))].into()
    } else {
        if let Some(own) = success.data.get("meta").and_then(Json::into_object) {
            meta = own;
        }
        let blocks = success.artifacts.iter().enumerate();
        blocks.map(|(index, artifact)| of_artifact(artifact, index, form)).collect()
    };
    if form == Form::Faithful && success.message != MESSAGE_OK {
        meta.set(META_MESSAGE, success.message.as_str());
    }
    let mut answer = Object::new().with("content", content);
    if has_output_schema {
        answer.set("structuredContent", success.data.clone());
    }
    if !meta.is_empty() {
        answer.set("_meta", meta);
    }
    answer.into()
}

/// The JSON of a failure in a text.
pub(super) fn body(failure: &Failure) -> Object {
    Object::new()
        .with("code", failure.code.as_str())
        .with("message", failure.message.as_str())
        .with("details", failure.details.clone())
}

/// The text of data: that under `text` if there is nothing else, else its JSON.
pub(super) fn text_of(data: &Object) -> String {
    let alone = (data.len() == 1).then(|| data.get_text("text")).flatten();
    alone.unwrap_or_else(|| data.as_str().to_owned())
}

/// The result that the `result` of a `tools/call` is.
///
/// An error has the code `mcp_tool_error`, the first text as its message and the blocks in its details; in the faithful
/// form a single text that is the JSON of a failure gives that failure back, and structured content stands in the
/// details. A success has in its data the blocks under `content`, the first text under `text` and, in the faithful form,
/// structured content under `structured`; what blocks hold is in the artifacts.
///
/// # Errors
/// `result-malformed` if it is no object, its `content` no list, or its `isError` neither true nor false.
pub fn result_of_tool(result: Node<'_>, form: Form) -> Result<AgentResult, ValueError> {
    if result.kind() != Kind::Object {
        let message = format!("expected a result as an object, found {}", result.kind().name());
        return Err(ValueError::new(ValueCode::ResultMalformed, message));
    }
    let content = result.member("content").filter(|content| !content.is_null());
    if let Some(content) = content
        && content.kind() != Kind::Array
    {
        let message = format!("expected a list of blocks, found {}", content.kind().name());
        return Err(ValueError::new(ValueCode::ResultMalformed, message).in_field("content"));
    }
    let blocks = || content.into_iter().flat_map(Node::items);
    let text = blocks().find_map(text);
    let mut seen = Object::new().with("content", blocks().map(listed).collect::<Json>());
    let structured = result.member("structuredContent").filter(|_| form == Form::Faithful).map(Json::of);
    if is_error(result)? {
        let told =
            text.as_deref().filter(|_| form == Form::Faithful && blocks().count() == 1).and_then(failure);
        if let Some(told) = told {
            return Ok(told.into());
        }
        if let Some(structured) = structured {
            seen.set("structured", structured);
        }
        let message = text.unwrap_or_else(|| MESSAGE_NONE.to_owned());
        return Ok(Failure { code: FailureCode::MCP_TOOL_ERROR, message, details: seen }.into());
    }
    if let Some(text) = text {
        seen.set("text", text);
    }
    if let Some(structured) = structured {
        seen.set("structured", structured);
    }
    let told = result.member("_meta").and_then(|meta| meta.member(META_MESSAGE)?.as_str());
    let message = told
        .filter(|_| form == Form::Faithful)
        .map_or_else(|| MESSAGE_OK.to_owned(), std::borrow::Cow::into_owned);
    let artifacts = blocks().filter_map(|block| artifact(block, form)).collect();
    Ok(Success { message, data: seen, artifacts }.into())
}

/// What is not said outright is no failure; what is said in another way than true or false is not guessed at.
fn is_error(result: Node<'_>) -> Result<bool, ValueError> {
    let Some(flag) = result.member("isError").filter(|flag| !flag.is_null()) else { return Ok(false) };
    flag.as_bool().ok_or_else(|| {
        let message = format!("expected true or false, found {}", flag.kind().name());
        ValueError::new(ValueCode::ResultMalformed, message).in_field("isError")
    })
}

fn text(block: Node<'_>) -> Option<String> {
    (block.member("type")?.as_str()? == "text")
        .then(|| block.member("text")?.as_str())
        .flatten()
        .map(Into::into)
}

/// The failure whose JSON a text is.
fn failure(text: &str) -> Option<Failure> {
    let body = Object::parse(text).ok()?;
    let code = FailureCode::new(body.get_text("code")?).ok()?;
    let details = body.get("details").map_or(Some(Object::new()), Json::into_object)?;
    Some(Failure { code, message: body.get_text("message")?, details })
}
