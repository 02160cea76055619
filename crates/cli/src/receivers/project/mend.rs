//! Small changes of one schema, each with everything that has to go with it.

use super::super::schemas::annotates;
use super::super::tree::Tree;
use super::Log;

/// Leaves a keyword out together with those that would mean more without it.
///
/// `additionalProperties` is about what its neighbours do not name, `items` about what follows `prefixItems`, the counts
/// of `contains` and the branches of `if` mean nothing, or something else, alone. In draft-07 the neighbours of a `$ref`
/// count for nothing while it is there.
pub(super) fn drop_keyword(schema: &mut Tree, keyword: &str, draft_07: bool, pointer: &str, log: &mut Log) {
    let with: &[&str] = match keyword {
        "properties" | "patternProperties" => &["additionalProperties"],
        "prefixItems" => &["items"],
        "contains" | "minContains" | "maxContains" => &["contains", "minContains", "maxContains"],
        "if" | "then" | "else" => &["if", "then", "else"],
        "items" if matches!(schema.get("items"), Some(Tree::Array(_))) => &["additionalItems"],
        _ => &[],
    };
    for name in std::iter::once(keyword).chain(with.iter().copied()) {
        match schema.remove(name) {
            // What allows everything constrains nothing.
            Some(value) if value.is_raw("true") => {
                log.note(super::Effect::Said, &super::super::tree::below(pointer, name), name, "left out");
            }
            Some(_) => log.dropped(pointer, name),
            None => {}
        }
    }
    if keyword == "$ref" && draft_07 {
        schema.retain(annotates);
    }
}

/// Leaves out one property, so that the model is not told of it and calls may have it all the same.
pub(super) fn omit_property(schema: &mut Tree, name: &str, pointer: &str, log: &mut Log) {
    if let Some(properties) = schema.get_mut("properties") {
        properties.remove(name);
    }
    let way = super::super::tree::below(&format!("{pointer}/properties"), name);
    log.note(super::Effect::Unenforced, &way, "properties", "the property is not shown to the model");
    if schema.get("additionalProperties").is_some_and(|value| !value.is_raw("true")) {
        drop_keyword(schema, "additionalProperties", false, pointer, log);
    }
}
