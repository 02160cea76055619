//! `nullable`, a word of OpenAPI 3.0: in JSON Schema `null` is one of the types.

use callgate_schema::json::{Kind, Node};

use super::object::{Object, push};
use super::{Fix, Splice};

/// With `true` the types, or the branches of an `anyOf`, and the choices get `null`; with `false` the word goes. Not
/// mended where something else decides, such as a reference.
pub(super) fn fix(object: &Object<'_>) -> Option<Fix> {
    let remove = object.remove("nullable")?;
    if !object.get("nullable")?.as_bool()? {
        return Some(Fix { what: "left out `nullable: false`".to_owned(), splices: vec![remove] });
    }
    if ["$ref", "const", "allOf", "oneOf", "not", "if"].iter().any(|name| object.has(name)) {
        return None;
    }
    let mut splices = vec![remove];
    match (object.get("type"), object.get("anyOf")) {
        (Some(types), None) => splices.extend(types_with_null(types)?),
        (None, Some(branches)) => splices.push(push(branches, r#"{"type": "null"}"#)?),
        _ => return None,
    }
    if let Some(choices) = object.get("enum") {
        let has_null = choices.items().any(Node::is_null);
        if !has_null {
            splices.push(push(choices, "null")?);
        }
    }
    Some(Fix { what: "wrote `nullable` as the type `null`".to_owned(), splices })
}

/// What adds `null`: nothing, if it is there; `None` if this is no list of types.
fn types_with_null(types: Node<'_>) -> Option<Vec<Splice>> {
    let is_null = |node: Node<'_>| node.as_str().as_deref() == Some("null");
    match types.kind() {
        Kind::String if is_null(types) => Some(Vec::new()),
        Kind::String => Some(vec![Splice::new(types.span(), format!("[{}, \"null\"]", types.raw_str()))]),
        Kind::Array if types.items().any(is_null) => Some(Vec::new()),
        Kind::Array => Some(vec![push(types, "\"null\"")?]),
        _ => None,
    }
}
