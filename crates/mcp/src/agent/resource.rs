//! `resources/read`.

use callgate_schema::json::{Kind, Node, Tape};
use callgate_wire::{
    APPLICATION_JSON, AgentResult, Artifact, Failure, Json, MESSAGE_OK, Object, Success, ValueCode,
    ValueError,
};

use super::Form;
use super::block::{OCTETS, is_picture, of_base64};
use super::tool::body;
use crate::rpc;

/// A read that failed, as an error of the protocol: a read has no `isError`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResourceError {
    /// The JSON-RPC code: the one given for what is not there, else -32603.
    pub rpc: i64,
    /// The failure's message.
    pub message: String,
    /// The failure's code and details.
    pub data: Object,
}

/// What is asked for.
#[derive(Clone, Copy)]
struct Asked<'a> {
    uri: &'a str,
    media_type: &'a str,
    form: Form,
}

/// The `result` of a `resources/read` that a handler's result is, in the faithful form.
///
/// `media_type` is what the resource declares. The contents are the first of these that there is: the usable entries of
/// a list under `contents`, the artifacts, the text of an object under `resource`, the text under `text`, and the JSON
/// of the data.
///
/// # Errors
/// [`ResourceError`] for a failure; its code is `not_found` where the failure's is `not_found` or `intent_not_found`:
/// -32002 up to the revision 2025-11-25, -32602 after it.
pub fn read_resource(
    result: &AgentResult,
    uri: &str,
    media_type: Option<&str>,
    not_found: i64,
) -> Result<Json, ResourceError> {
    match result {
        AgentResult::Success(success) => {
            let media_type = media_type.unwrap_or(APPLICATION_JSON);
            Ok(answer(of_success(success, Asked { uri, media_type, form: Form::Faithful })))
        }
        AgentResult::Failure(failure) => {
            let missing = ["not_found", "intent_not_found"].contains(&failure.code.as_str());
            Err(ResourceError {
                rpc: if missing { not_found } else { rpc::INTERNAL_ERROR },
                message: failure.message.clone(),
                data: Object::new()
                    .with("code", failure.code.as_str())
                    .with("details", failure.details.clone()),
            })
        }
    }
}

/// The same in the plain form, where a failure looks like a read: one text, the JSON of its code, message and details.
pub fn resource_contents(result: &AgentResult, uri: &str) -> Json {
    let asked = Asked { uri, media_type: APPLICATION_JSON, form: Form::Plain };
    answer(match result {
        AgentResult::Success(success) => of_success(success, asked),
        AgentResult::Failure(failure) => vec![of_failure(failure, asked)],
    })
}

fn answer(contents: Vec<Object>) -> Json {
    Object::new().with("contents", contents).into()
}

fn of_failure(failure: &Failure, asked: Asked<'_>) -> Object {
    entry(asked.uri, "text", body(failure).as_str(), asked.media_type)
}

fn of_success(success: &Success, asked: Asked<'_>) -> Vec<Object> {
    let mut tape = Tape::new();
    let data = success.data.read(&mut tape);
    let listed: Vec<Object> = data
        .member("contents")
        .into_iter()
        .flat_map(Node::items)
        .filter_map(|given| entry_of(given, asked))
        .collect();
    if !listed.is_empty() {
        return listed;
    }
    if !success.artifacts.is_empty() {
        return success.artifacts.iter().map(|artifact| entry_of_artifact(artifact, asked)).collect();
    }
    let single = data.member("resource").filter(|resource| text(*resource, "text").is_some());
    if let Some(entry) = single.and_then(|resource| entry_of(resource, asked)) {
        return vec![entry];
    }
    let content = text(data, "text").unwrap_or_else(|| success.data.as_str().to_owned());
    // The JSON of the data is JSON, whatever the resource declares.
    let media_type = if text(data, "text").is_some() { asked.media_type } else { APPLICATION_JSON };
    vec![entry(asked.uri, "text", &content, media_type)]
}

/// An entry as data gives it, with what it leaves out; none without content.
fn entry_of(given: Node<'_>, asked: Asked<'_>) -> Option<Object> {
    let usable = |data: &String| asked.form == Form::Plain || Artifact::base64("", data).is_some();
    let (member, content) = match text(given, "text") {
        Some(content) => ("text", content),
        None => ("blob", text(given, "blob").filter(usable)?),
    };
    let uri = text(given, "uri").unwrap_or_else(|| asked.uri.to_owned());
    let media_type = text(given, "mimeType").unwrap_or_else(|| asked.media_type.to_owned());
    Some(entry(&uri, member, &content, &media_type))
}

fn entry_of_artifact(artifact: &Artifact, asked: Asked<'_>) -> Object {
    let media_type = artifact.media_type();
    match (artifact.as_text(), artifact.to_base64()) {
        (Some(text), _) => {
            let member = if is_picture(artifact, asked.form) { "blob" } else { "text" };
            entry(asked.uri, member, text, media_type)
        }
        (None, encoded) => entry(asked.uri, "blob", &encoded.unwrap_or_default(), media_type),
    }
}

fn entry(uri: &str, member: &str, content: &str, media_type: &str) -> Object {
    Object::new().with("uri", uri).with(member, content).with("mimeType", media_type)
}

/// The result that the `result` of a `resources/read` is: its contents are listed in the data, and their texts and bytes
/// are the artifacts. Entries without either are passed over.
///
/// # Errors
/// `result-malformed` if it is no object with a list under `contents`.
pub fn result_of_resource(result: Node<'_>, form: Form) -> Result<AgentResult, ValueError> {
    let contents = result.member("contents").filter(|contents| contents.kind() == Kind::Array);
    let contents = contents.ok_or_else(|| {
        let message = "expected an object with a list of contents, found another value";
        ValueError::new(ValueCode::ResultMalformed, message).in_field("contents")
    })?;
    let (mut listed, mut artifacts) = (Vec::new(), Vec::new());
    for given in contents.items() {
        let media_type = text(given, "mimeType");
        let head = |kind: &str| {
            Object::new()
                .with("type", kind)
                .with("uri", text(given, "uri"))
                .with("mimeType", media_type.clone())
        };
        if let Some(content) = text(given, "text") {
            listed.push(head("text").with("text", content.as_str()));
            let media_type = media_type.unwrap_or_else(|| APPLICATION_JSON.to_owned());
            artifacts.push(Artifact::text_as(media_type, content));
        } else if let Some(data) = text(given, "blob") {
            listed.push(head("blob"));
            let default = if form == Form::Plain { APPLICATION_JSON } else { OCTETS };
            artifacts.push(of_base64(media_type.unwrap_or_else(|| default.to_owned()), data, form));
        }
    }
    let data = Object::new().with("contents", listed);
    Ok(Success { message: MESSAGE_OK.to_owned(), data, artifacts }.into())
}

fn text(node: Node<'_>, name: &str) -> Option<String> {
    Some(node.member(name)?.as_str()?.into_owned())
}
