//! `definitions` and `$defs`: each dialect has one of them, and readers that know one alone do not find the other.

use callgate_schema::Dialect;
use callgate_schema::json::{Kind, Member, Node};

use super::object::text;
use super::{Fix, Splice};

/// Keywords whose values are data, in which `$ref` is a member like any other.
const DATA: &[&str] = &["const", "enum", "default", "example", "examples"];

/// Renames the container at the root, with all references into it. Not where a reference is written in another way, or
/// part of the schema has an identifier of its own: they could mean the container too.
pub(super) fn fix(root: Node<'_>) -> Option<Fix> {
    if root.kind() != Kind::Object {
        return None;
    }
    let declared = root.member("$schema").and_then(Node::as_str);
    let dialect = declared.map_or(Some(Dialect::default()), |uri| Dialect::from_uri(&uri))?;
    let (from, to) = match dialect {
        Dialect::Draft202012 => ("definitions", "$defs"),
        Dialect::Draft07 => ("$defs", "definitions"),
    };
    if root.member(to).is_some() {
        return references_only(root, to, from);
    }
    let container = root.members().find(|member| member.name_is(from))?;
    if container.value().kind() != Kind::Object {
        return None;
    }
    let mut splices = vec![Splice::new(container.name_span(), text(to))];
    references(root, from, to, &mut splices).then_some(())?;
    Some(Fix { what: format!("wrote `{from}` as `{to}`, the name in this dialect"), splices })
}

/// References that lead to the container by the other dialect's name, where there is none of that name.
fn references_only(root: Node<'_>, to: &str, from: &str) -> Option<Fix> {
    if root.member(from).is_some() {
        return None;
    }
    let mut splices = Vec::new();
    let are_plain = references(root, from, to, &mut splices);
    (are_plain && !splices.is_empty())
        .then(|| Fix { what: format!("let references lead to `{to}` instead of `{from}`"), splices })
}

/// Collects the splices of all references below; false if one is not plain.
fn references(root: Node<'_>, from: &str, to: &str, splices: &mut Vec<Splice>) -> bool {
    let mut waiting = vec![(root, false)];
    while let Some((node, is_map)) = waiting.pop() {
        for item in node.items() {
            waiting.push((item, false));
        }
        for member in node.members() {
            let name = member.name();
            // The members of `properties` and the like are names, not keywords.
            if !is_map
                && (name == "$id" || name == "$anchor" || name == "$dynamicRef")
                && node.id() != root.id()
            {
                return false;
            }
            if !is_map && name == "$ref" && !reference(member, from, to, splices) {
                return false;
            }
            if is_map || !DATA.contains(&&*name) {
                let holds_names =
                    ["properties", "patternProperties", "$defs", "definitions", "dependentSchemas"]
                        .contains(&&*name);
                waiting.push((member.value(), !is_map && holds_names));
            }
        }
    }
    true
}

/// Adds the splice of a reference into the container; false if it may lead there and is not plain.
fn reference(member: Member<'_>, from: &str, to: &str, splices: &mut Vec<Splice>) -> bool {
    let Some(reference) = member.value().as_str() else { return false };
    let prefix = format!("#/{from}/");
    match reference.strip_prefix(&prefix) {
        Some(rest) => {
            splices.push(Splice::new(member.value().span(), text(&format!("#/{to}/{rest}"))));
            !rest.contains(from)
        }
        None => !reference.contains(from.trim_start_matches('$')),
    }
}
