//! The canonical JSON form of a result: `ok`, `message`, `code`, `data`, `details`, `artifacts`, in this order; `code`
//! exactly on failure, the others always.

use callgate_schema::json::{Kind, Node, Tape};

use super::{AgentResult, Artifact, Content, Failure, FailureCode, MESSAGE_OK, Success, TEXT_PLAIN};
use crate::value::push_text;
use crate::{Json, Object, ValueCode, ValueError, ValueLimits};

impl AgentResult {
    /// The canonical form.
    pub fn to_json(&self) -> Json {
        let mut out = String::new();
        let empty = Object::new();
        let (code, data, details, artifacts) = match self {
            AgentResult::Success(success) => (None, &success.data, &empty, success.artifacts.as_slice()),
            AgentResult::Failure(failure) => (Some(&failure.code), &empty, &failure.details, &[][..]),
        };
        out.push_str(if code.is_none() { "{\"ok\":true" } else { "{\"ok\":false" });
        out.push_str(",\"message\":");
        push_text(&mut out, self.message());
        if let Some(code) = code {
            out.push_str(",\"code\":");
            push_text(&mut out, code.as_str());
        }
        out.push_str(",\"data\":");
        out.push_str(data.as_str());
        out.push_str(",\"details\":");
        out.push_str(details.as_str());
        out.push_str(",\"artifacts\":[");
        for (index, artifact) in artifacts.iter().enumerate() {
            if index > 0 {
                out.push(',');
            }
            write_artifact(&mut out, artifact);
        }
        out.push_str("]}");
        Json::written(out)
    }

    /// Reads the canonical form, within the limits by default.
    ///
    /// Tolerant where nothing is lost: a missing message is `ok`, missing or null data, details and artifacts are empty,
    /// a text artifact without a type is plain text, a failure without a code has [`FailureCode::AGENT_ERROR`], and
    /// members that the form does not have are passed over.
    ///
    /// # Errors
    /// The codes of the reader; `result-malformed`, with the field, for anything else that is not of the form: a success
    /// with a code or details, a failure with data or artifacts, an artifact that has both text and bytes or neither.
    pub fn parse(text: impl AsRef<[u8]>) -> Result<AgentResult, ValueError> {
        let mut tape = Tape::new();
        let limits = ValueLimits::default().text();
        AgentResult::of(tape.read(text.as_ref(), &limits).map_err(|fault| ValueError::read(&fault))?)
    }

    /// The result that a value is which was read.
    ///
    /// # Errors
    /// `result-malformed`, as [`AgentResult::parse`] says.
    pub fn of(node: Node<'_>) -> Result<AgentResult, ValueError> {
        if node.kind() != Kind::Object {
            return Err(malformed(format!("expected a result as an object, found {}", node.kind().name())));
        }
        let ok = node.member("ok").and_then(Node::as_bool);
        let ok = ok.ok_or_else(|| malformed("expected true or false, found neither").in_field("ok"))?;
        let message = text(node, "message")?;
        let code = text(node, "code")?;
        let (data, details) = (object(node, "data")?, object(node, "details")?);
        let artifacts = artifacts(node)?;
        if ok {
            absent("code", code.is_none(), "a success has no code")?;
            absent("details", details.is_empty(), "a success has no details")?;
            let message = message.unwrap_or_else(|| MESSAGE_OK.to_owned());
            return Ok(Success { message, data, artifacts }.into());
        }
        absent("data", data.is_empty(), "a failure has no data")?;
        absent("artifacts", artifacts.is_empty(), "a failure has no artifacts")?;
        let code = code.map_or(Ok(FailureCode::AGENT_ERROR), FailureCode::new)?;
        Ok(Failure { code, message: message.unwrap_or_default(), details }.into())
    }
}

fn write_artifact(out: &mut String, artifact: &Artifact) {
    out.push_str("{\"mimeType\":");
    push_text(out, artifact.media_type());
    match artifact.content() {
        Content::Text(text) => {
            out.push_str(",\"text\":");
            push_text(out, text);
        }
        Content::Bytes(_) => {
            out.push_str(",\"base64\":\"");
            out.push_str(&artifact.to_base64().unwrap_or_default());
            out.push('"');
        }
    }
    out.push('}');
}

fn artifacts(node: Node<'_>) -> Result<Vec<Artifact>, ValueError> {
    let Some(list) = node.member("artifacts").filter(|list| !list.is_null()) else { return Ok(Vec::new()) };
    if list.kind() != Kind::Array {
        return Err(wrong("artifacts", "a list", list));
    }
    list.items().map(artifact).collect()
}

fn artifact(node: Node<'_>) -> Result<Artifact, ValueError> {
    if node.kind() != Kind::Object {
        return Err(wrong("artifacts", "artifacts as objects", node));
    }
    let media_type = text(node, "mimeType")?;
    match (text(node, "text")?, text(node, "base64")?, media_type) {
        (Some(text), None, media_type) => {
            Ok(Artifact::text_as(media_type.unwrap_or_else(|| TEXT_PLAIN.to_owned()), text))
        }
        (None, Some(encoded), Some(media_type)) => Artifact::base64(media_type, &encoded)
            .ok_or_else(|| malformed("expected base64 with padding, found another text").in_field("base64")),
        (None, Some(_), None) => {
            Err(malformed("expected the media type of bytes, found none").in_field("mimeType"))
        }
        (Some(_), Some(_), _) => {
            Err(malformed("expected either `text` or `base64`, found both").in_field("artifacts"))
        }
        (None, None, _) => Err(malformed("expected `text` or `base64`, found neither").in_field("artifacts")),
    }
}

fn text(node: Node<'_>, name: &str) -> Result<Option<String>, ValueError> {
    let Some(value) = node.member(name).filter(|value| !value.is_null()) else { return Ok(None) };
    let text = value.as_str().ok_or_else(|| wrong(name, "a text", value))?;
    Ok(Some(text.into_owned()))
}

fn object(node: Node<'_>, name: &str) -> Result<Object, ValueError> {
    let Some(value) = node.member(name).filter(|value| !value.is_null()) else { return Ok(Object::new()) };
    Object::of(value).ok_or_else(|| wrong(name, "an object", value))
}

fn absent(field: &str, holds: bool, rule: &str) -> Result<(), ValueError> {
    if holds {
        return Ok(());
    }
    Err(malformed(format!("expected none, since {rule}, found some")).in_field(field))
}

fn wrong(field: &str, expected: &str, found: Node<'_>) -> ValueError {
    malformed(format!("expected {expected}, found {}", found.kind().name())).in_field(field)
}

fn malformed(message: impl Into<String>) -> ValueError {
    ValueError::new(ValueCode::ResultMalformed, message)
}
