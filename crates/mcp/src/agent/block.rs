//! One block of content, and the artifact that it is.

use callgate_schema::json::Node;
use callgate_wire::{Artifact, Content, Json, Object, TEXT_PLAIN};

use super::{Form, META_MEDIA_TYPE};

/// The block of an artifact, which is the `index`th of its result.
pub(super) fn of_artifact(artifact: &Artifact, index: usize, form: Form) -> Object {
    let media_type = artifact.media_type();
    match artifact.content() {
        Content::Text(text) if is_picture(artifact, form) => binary("image", text, media_type),
        Content::Text(text) if form == Form::Faithful && artifact.is_a("image/") => {
            embedded(index, media_type, "text", text)
        }
        Content::Text(text) => {
            let block = text_block(text);
            if form == Form::Plain || media_type == TEXT_PLAIN {
                return block;
            }
            block.with("_meta", Object::new().with(META_MEDIA_TYPE, media_type))
        }
        Content::Bytes(_) => {
            let data = artifact.to_base64().unwrap_or_default();
            if artifact.is_a("image/") {
                binary("image", &data, media_type)
            } else if artifact.is_a("audio/") {
                binary("audio", &data, media_type)
            } else {
                embedded(index, media_type, "blob", &data)
            }
        }
    }
}

/// Whether a text is taken for a picture in base64.
pub(super) fn is_picture(artifact: &Artifact, form: Form) -> bool {
    let is_base64 = |text| form == Form::Plain || Artifact::base64("", text).is_some();
    artifact.is_a("image/") && artifact.as_text().is_some_and(is_base64)
}

pub(super) fn text_block(text: &str) -> Object {
    Object::new().with("type", "text").with("text", text)
}

fn binary(kind: &str, data: &str, media_type: &str) -> Object {
    Object::new().with("type", kind).with("data", data).with("mimeType", media_type)
}

/// An embedded resource. Its URI says which artifact it is, since an artifact has none of its own.
fn embedded(index: usize, media_type: &str, member: &str, content: &str) -> Object {
    let resource = Object::new()
        .with("uri", format!("artifact://{index}"))
        .with("mimeType", media_type)
        .with(member, content);
    Object::new().with("type", "resource").with("resource", resource)
}

/// The artifact that a block is; none of a link, of an unknown kind, and of one without content.
pub(super) fn artifact(block: Node<'_>, form: Form) -> Option<Artifact> {
    let text = |node: Node<'_>, name: &str| Some(node.member(name)?.as_str()?.into_owned());
    match &*block.member("type")?.as_str()? {
        "text" => {
            let stated = block.member("_meta").and_then(|meta| text(meta, META_MEDIA_TYPE));
            let media_type = stated.filter(|_| form == Form::Faithful);
            Some(Artifact::text_as(media_type.unwrap_or_else(|| TEXT_PLAIN.to_owned()), text(block, "text")?))
        }
        "image" | "audio" => {
            let media_type = text(block, "mimeType").unwrap_or_else(|| OCTETS.to_owned());
            Some(of_base64(media_type, text(block, "data")?, form))
        }
        "resource" => {
            let resource = block.member("resource")?;
            let media_type = text(resource, "mimeType");
            if let Some(content) = text(resource, "text") {
                let media_type = media_type.unwrap_or_else(|| TEXT_PLAIN.to_owned());
                return Some(Artifact::text_as(media_type, content));
            }
            let media_type = media_type.unwrap_or_else(|| OCTETS.to_owned());
            Some(of_base64(media_type, text(resource, "blob")?, form))
        }
        _ => None,
    }
}

/// The media type of bytes that name none.
pub(super) const OCTETS: &str = "application/octet-stream";

/// Base64 as bytes, or as the text that it is: in the plain form always, else where it is not base64.
pub(super) fn of_base64(media_type: String, data: String, form: Form) -> Artifact {
    let bytes = (form == Form::Faithful).then(|| Artifact::base64(media_type.as_str(), &data)).flatten();
    bytes.unwrap_or_else(|| Artifact::text_as(media_type, data))
}

/// A block without what its artifact holds in base64, which would stand there twice. All else of it stays.
pub(super) fn listed(block: Node<'_>) -> Json {
    let is_text =
        |node: Node<'_>, name: &str| node.member(name).is_some_and(|value| value.as_str().is_some());
    match block.member("type").and_then(Node::as_str).as_deref() {
        Some("image" | "audio") if is_text(block, "data") => without(block, "data").into(),
        Some("resource") => match block.member("resource") {
            // Of a text and a blob, the text is the artifact.
            Some(resource) if is_text(resource, "blob") && !is_text(resource, "text") => {
                let mut listed = Object::of(block).unwrap_or_default();
                listed.set("resource", without(resource, "blob"));
                listed.into()
            }
            _ => Json::of(block),
        },
        _ => Json::of(block),
    }
}

fn without(node: Node<'_>, heavy: &str) -> Object {
    let members = node.members().filter(|member| !member.name_is(heavy));
    members.map(|member| (member.name().into_owned(), Json::of(member.value()))).collect()
}
