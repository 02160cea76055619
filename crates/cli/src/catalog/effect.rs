//! Whether a change of a schema lets more calls pass or fewer, where its keyword alone tells.

use std::cmp::Ordering;

use callgate_schema::json::{Kind, Node};

use crate::render::json_diff::{Change, Difference};

/// What a change of a schema does to the values that it takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Effect {
    /// It takes more.
    Loosens,
    /// It takes fewer.
    Tightens,
    /// It takes the same.
    Nothing,
    /// The keyword alone does not tell.
    Unknown,
}

/// What the difference between two schemas does.
pub(super) fn effect(before: Node<'_>, now: Node<'_>, difference: &Difference<'_>) -> Effect {
    let steps: Vec<&str> = difference.steps.iter().map(String::as_str).collect();
    at_schema(Some(before), Some(now), &steps, difference.change)
}

/// Keywords that say something and enforce nothing.
const ANNOTATIONS: &[&str] = &[
    "title",
    "description",
    "default",
    "examples",
    "example",
    "deprecated",
    "readOnly",
    "writeOnly",
    "$comment",
    "format",
    "contentEncoding",
    "contentMediaType",
    "contentSchema",
];
/// Larger is looser.
const UPPER: &[&str] = &["maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties"];
/// Smaller is looser.
const LOWER: &[&str] = &["minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties"];
/// Each demands something by itself, so that one more takes fewer values and one less takes more.
const DEMANDS: &[&str] = &[
    "type",
    "enum",
    "const",
    "pattern",
    "multipleOf",
    "required",
    "uniqueItems",
    "propertyNames",
    "allOf",
    "anyOf",
    "oneOf",
    "not",
    "dependentRequired",
    "dependentSchemas",
];
/// Their subschemas are asked of a value or of a part of it, and what passes them passes more.
const LISTS: &[&str] = &["allOf", "anyOf"];
const SINGLE: &[&str] = &["items", "additionalProperties", "propertyNames", "then", "else"];
/// What stands beside these does not mean what it says by itself.
const ENTANGLING: &[&str] =
    &["$ref", "$dynamicRef", "unevaluatedProperties", "unevaluatedItems", "prefixItems"];

fn at_schema(before: Option<Node<'_>>, now: Option<Node<'_>>, steps: &[&str], change: Change<'_>) -> Effect {
    let entangled = |node: Node<'_>| ENTANGLING.iter().any(|keyword| node.member(keyword).is_some());
    let Some((keyword, rest)) = steps.split_first() else { return whole(change) };
    let (Some(before), Some(now)) = (before, now) else { return Effect::Unknown };
    if ANNOTATIONS.contains(keyword) || keyword.starts_with("x-") {
        return Effect::Nothing;
    }
    if entangled(before) || entangled(now) {
        return Effect::Unknown;
    }
    let (was, is) = (before.member(keyword), now.member(keyword));
    match (*keyword, rest) {
        ("properties", []) => properties(before, now, None, change),
        ("properties", [name]) => properties(before, now, Some(name), change),
        ("properties", [name, rest @ ..]) => at_schema(child(was, name), child(is, name), rest, change),
        ("additionalProperties", []) => by_order(openness(was).cmp(&openness(is))),
        ("type", _) => types(was, is),
        ("enum" | "required", [_]) => items(keyword, change),
        (list, [_]) if LISTS.contains(&list) && !matches!(change, Change::Changed(..)) => items(list, change),
        (list, [at, rest @ ..]) if LISTS.contains(&list) => {
            at_schema(child(was, at), child(is, at), rest, change)
        }
        (single, rest) if SINGLE.contains(&single) && !rest.is_empty() => at_schema(was, is, rest, change),
        (bound, []) if UPPER.contains(&bound) => bounds(was, is, Ordering::Less),
        (bound, []) if LOWER.contains(&bound) => bounds(was, is, Ordering::Greater),
        ("uniqueItems", []) => {
            let demands = |node: Option<Node<'_>>| node.and_then(Node::as_bool) == Some(true);
            by_order(demands(is).cmp(&demands(was)))
        }
        (demand, []) if DEMANDS.contains(&demand) => presence(change),
        _ => Effect::Unknown,
    }
}

fn child<'a>(node: Option<Node<'a>>, step: &str) -> Option<Node<'a>> {
    let node = node?;
    match node.kind() {
        Kind::Object => node.member(step),
        Kind::Array => node.items().nth(step.parse().ok()?),
        _ => None,
    }
}

/// A subschema that is another one as a whole.
fn whole(change: Change<'_>) -> Effect {
    match change {
        Change::Changed(before, now) => by_order(openness(Some(before)).cmp(&openness(Some(now)))),
        Change::Added(_) | Change::Removed(_) => Effect::Unknown,
    }
}

/// How much a subschema takes: everything, something, nothing. One that is not there takes everything.
fn openness(schema: Option<Node<'_>>) -> u8 {
    match schema {
        None => 2,
        Some(node) => match node.as_bool() {
            Some(true) => 2,
            Some(false) => 0,
            None if node.len() == 0 => 2,
            None => 1,
        },
    }
}

/// `Less`: it takes more than before.
fn by_order(order: Ordering) -> Effect {
    match order {
        Ordering::Less => Effect::Loosens,
        Ordering::Greater => Effect::Tightens,
        Ordering::Equal => Effect::Unknown,
    }
}

fn presence(change: Change<'_>) -> Effect {
    match change {
        Change::Added(_) => Effect::Tightens,
        Change::Removed(_) => Effect::Loosens,
        Change::Changed(..) => Effect::Unknown,
    }
}

fn bounds(was: Option<Node<'_>>, is: Option<Node<'_>>, looser: Ordering) -> Effect {
    match (was.map(Node::as_number), is.map(Node::as_number)) {
        (Some(Some(was)), Some(Some(is))) => {
            let order = was.cmp(&is);
            by_order(if looser == Ordering::Less { order } else { order.reverse() })
        }
        (None, Some(Some(_))) => Effect::Tightens,
        (Some(Some(_)), None) => Effect::Loosens,
        _ => Effect::Unknown,
    }
}

/// Items of lists of which one or all are asked.
fn items(keyword: &str, change: Change<'_>) -> Effect {
    let one_is_enough = matches!(keyword, "enum" | "anyOf");
    match (change, one_is_enough) {
        (Change::Added(_), true) | (Change::Removed(_), false) => Effect::Loosens,
        (Change::Added(_), false) | (Change::Removed(_), true) => Effect::Tightens,
        (Change::Changed(..), _) => Effect::Unknown,
    }
}

fn types(was: Option<Node<'_>>, is: Option<Node<'_>>) -> Effect {
    let names = |node: Node<'_>| -> Vec<String> {
        let own = node.as_str().into_iter();
        own.chain(node.items().filter_map(Node::as_str)).map(std::borrow::Cow::into_owned).collect()
    };
    let (was, is) = match (was, is) {
        (Some(was), Some(is)) => (names(was), names(is)),
        (None, Some(_)) => return Effect::Tightens,
        (Some(_), None) => return Effect::Loosens,
        (None, None) => return Effect::Unknown,
    };
    let takes = |all: &[String], name: &String| {
        all.contains(name) || (name == "integer" && all.contains(&"number".to_owned()))
    };
    let grows = was.iter().all(|name| takes(&is, name));
    let shrinks = is.iter().all(|name| takes(&was, name));
    match (grows, shrinks) {
        (true, true) => Effect::Nothing,
        (true, false) => Effect::Loosens,
        (false, true) => Effect::Tightens,
        (false, false) => Effect::Unknown,
    }
}

/// A property that is named or not named any more: in an object that takes no others it is let in or shut out, in an open
/// one it is asked of or asked of no more.
fn properties(before: Node<'_>, now: Node<'_>, name: Option<&&str>, change: Change<'_>) -> Effect {
    let others = |node: Node<'_>| {
        (openness(node.member("additionalProperties")), node.member("patternProperties").is_some())
    };
    let schema = match change {
        Change::Added(schema) | Change::Removed(schema) => schema,
        Change::Changed(..) if name.is_some() => return whole(change),
        Change::Changed(..) => return Effect::Unknown,
    };
    let added = matches!(change, Change::Added(_));
    let open = match name {
        Some(_) => openness(Some(schema)) == 2,
        None => schema.members().all(|member| openness(Some(member.value())) == 2),
    };
    match (others(before), others(now)) {
        ((0, false), (0, false)) => {
            if added {
                Effect::Loosens
            } else {
                Effect::Tightens
            }
        }
        ((2, false), (2, false)) if open => Effect::Nothing,
        ((2, false), (2, false)) => presence(change),
        _ => Effect::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use callgate_schema::Limits;
    use callgate_schema::json::Document;

    use super::*;
    use crate::render::json_diff::differences;

    fn effects(before: &str, now: &str) -> Vec<Effect> {
        let read = |text: &str| Document::read(text.as_bytes(), &Limits::default().schema_text()).unwrap();
        let (before, now) = (read(before), read(now));
        let all = differences(before.root(), now.root());
        all.iter().map(|it| effect(before.root(), now.root(), it)).collect()
    }

    #[test]
    fn simple_keywords_tell() {
        use Effect::{Loosens, Nothing, Tightens, Unknown};
        for (before, now, expected) in [
            (r#"{"maximum":1}"#, r#"{"maximum":1.5}"#, Loosens),
            (r#"{"minLength":1}"#, r#"{"minLength":3}"#, Tightens),
            (r#"{"minimum":1}"#, "{}", Loosens),
            ("{}", r#"{"pattern":"a"}"#, Tightens),
            (r#"{"pattern":"a"}"#, r#"{"pattern":"b"}"#, Unknown),
            (r#"{"type":"integer"}"#, r#"{"type":"number"}"#, Loosens),
            (r#"{"type":["string","null"]}"#, r#"{"type":["null"]}"#, Tightens),
            (r#"{"type":"string"}"#, r#"{"type":"object"}"#, Unknown),
            (r#"{"enum":[1,2]}"#, r#"{"enum":[2,1,3]}"#, Loosens),
            (r#"{"required":["a","b"]}"#, r#"{"required":["b"]}"#, Loosens),
            (r#"{"required":["b"]}"#, r#"{"required":["b","a"]}"#, Tightens),
            (r#"{"additionalProperties":false}"#, r#"{"additionalProperties":{"type":"string"}}"#, Loosens),
            ("{}", r#"{"additionalProperties":false}"#, Tightens),
            (r#"{"properties":{}}"#, r#"{"properties":{"a":{"type":"string"}}}"#, Tightens),
            (
                r#"{"additionalProperties":false,"properties":{}}"#,
                r#"{"additionalProperties":false,"properties":{"a":{"type":"string"}}}"#,
                Loosens,
            ),
            (
                r#"{"properties":{"a":{"items":{"maxLength":2}}}}"#,
                r#"{"properties":{"a":{"items":{"maxLength":1}}}}"#,
                Tightens,
            ),
            (r#"{"anyOf":[{"type":"null"}]}"#, r#"{"anyOf":[{"type":"null"},{"type":"string"}]}"#, Loosens),
            (r#"{"not":{"maximum":1}}"#, r#"{"not":{"maximum":2}}"#, Unknown),
            (r#"{"$ref":"x","maximum":1}"#, r#"{"$ref":"x","maximum":2}"#, Unknown),
            (
                r#"{"properties":{"a":{"description":"x"}}}"#,
                r#"{"properties":{"a":{"description":"y"}}}"#,
                Nothing,
            ),
            (
                r#"{"properties":{"description":{"type":"null"}}}"#,
                r#"{"properties":{"description":{}}}"#,
                Loosens,
            ),
            (r#"{"uniqueItems":true}"#, r#"{"uniqueItems":false}"#, Loosens),
        ] {
            assert_eq!(effects(before, now), [expected], "{before} → {now}");
        }
    }

    /// What is said of a change is what the engine does: a value that passed a schema passes the one that was loosened.
    mod law {
        use callgate_schema::json::Document;
        use callgate_schema::{Limits, Options, Program};
        use proptest::prelude::*;

        use super::super::{Effect, effect};
        use crate::render::json_diff::differences;

        fn scalar() -> impl Strategy<Value = String> {
            prop_oneof![
                Just("null"),
                Just("true"),
                Just("1"),
                Just("2.5"),
                Just("\"\""),
                Just("\"ab\""),
                Just("\"abc\"")
            ]
            .prop_map(str::to_owned)
        }

        fn value() -> impl Strategy<Value = String> {
            scalar().prop_recursive(2, 8, 3, |inner| {
                prop_oneof![
                    prop::collection::vec(inner.clone(), 0..3)
                        .prop_map(|items| format!("[{}]", items.join(","))),
                    prop::collection::btree_map("[abc]", inner, 0..3).prop_map(|members| {
                        let members: Vec<String> =
                            members.iter().map(|(name, value)| format!("\"{name}\":{value}")).collect();
                        format!("{{{}}}", members.join(","))
                    }),
                ]
            })
        }

        fn keyword() -> impl Strategy<Value = (&'static str, String)> {
            prop_oneof![
                prop::sample::subsequence(
                    vec!["null", "string", "number", "integer", "object", "array"],
                    1..4
                )
                .prop_map(|types| ("type", format!("{types:?}"))),
                (prop::sample::select(vec!["maximum", "minimum"]), 0..4)
                    .prop_map(|(k, n): (&'static str, i32)| (k, n.to_string())),
                (
                    prop::sample::select(vec![
                        "maxLength",
                        "minLength",
                        "maxItems",
                        "minItems",
                        "maxProperties"
                    ]),
                    0..4
                )
                    .prop_map(|(k, n): (&'static str, i32)| (k, n.to_string())),
                prop::sample::subsequence(vec!["a", "b", "c"], 0..3)
                    .prop_map(|names| ("required", format!("{names:?}"))),
                prop::sample::subsequence(vec!["null", "1", "\"ab\"", "[1]"], 1..4)
                    .prop_map(|values| ("enum", format!("[{}]", values.join(",")))),
                any::<bool>().prop_map(|yes| ("uniqueItems", yes.to_string())),
                any::<bool>().prop_map(|yes| ("additionalProperties", yes.to_string())),
                Just(("pattern", "\"^a\"".to_owned())),
            ]
        }

        fn object(members: &std::collections::BTreeMap<&'static str, String>) -> String {
            let members: Vec<String> =
                members.iter().map(|(name, value)| format!("\"{name}\":{value}")).collect();
            format!("{{{}}}", members.join(","))
        }

        fn schema() -> impl Strategy<Value = String> {
            let leaf = prop::collection::vec(keyword(), 0..3)
                .prop_map(|keywords| object(&keywords.into_iter().collect()));
            leaf.prop_recursive(2, 8, 2, |inner| {
                let container = prop_oneof![
                    prop::collection::btree_map("[abc]", inner.clone(), 1..3).prop_map(|members| {
                        let members: Vec<String> =
                            members.iter().map(|(name, value)| format!("\"{name}\":{value}")).collect();
                        ("properties", format!("{{{}}}", members.join(",")))
                    }),
                    (prop::sample::select(vec!["items", "additionalProperties", "not"]), inner.clone()),
                    (prop::sample::select(vec!["anyOf", "allOf"]), prop::collection::vec(inner, 1..3))
                        .prop_map(|(k, all)| (k, format!("[{}]", all.join(",")))),
                ];
                (prop::collection::vec(keyword(), 0..3), prop::collection::vec(container, 0..3)).prop_map(
                    |(keywords, containers)| object(&keywords.into_iter().chain(containers).collect()),
                )
            })
        }

        proptest! {
            #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]

            #[test]
            fn what_is_said_of_a_change_is_what_the_engine_does(
                before in schema(),
                now in schema(),
                values in prop::collection::vec(value(), 8),
            ) {
                let limits = Limits::default();
                let read = |text: &str| Document::read(text.as_bytes(), &limits.schema_text()).unwrap();
                let (old, new) = (read(&before), read(&now));
                let effects: Vec<Effect> = differences(old.root(), new.root())
                    .iter()
                    .map(|it| effect(old.root(), new.root(), it))
                    .collect();
                let only = |allowed: &[Effect]| effects.iter().all(|effect| allowed.contains(effect));
                let program = |text: &str| Program::compile(text.as_bytes(), &Options::value()).unwrap();
                let (old, new) = (program(&before), program(&now));
                for value in &values {
                    let passes = |program: &Program| {
                        let value = Document::read(value.as_bytes(), &limits.arguments_text()).unwrap();
                        program.is_valid(value.root()).unwrap()
                    };
                    let (was, is) = (passes(&old), passes(&new));
                    if only(&[Effect::Loosens, Effect::Nothing]) {
                        prop_assert!(is || !was, "{value} passed {before} and not {now}");
                    }
                    if only(&[Effect::Tightens, Effect::Nothing]) {
                        prop_assert!(was || !is, "{value} passes {now} and did not pass {before}");
                    }
                }
            }
        }
    }
}
