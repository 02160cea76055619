//! From a schema to one that is never stricter and that a receiver takes.

use std::collections::HashSet;

use super::super::judge::{Remark, judge, judge_one};
use super::super::schemas::{annotates, for_each_child, types, walk};
use super::super::shape::Shape;
use super::super::table::{LooksFor, Receiver};
use super::super::tree::{Tree, below};
use super::inline::Targets;
use super::mend::{drop_keyword, omit_property};
use super::{Effect, Log, ROUNDS_MAX, tighten};

/// What is known while a schema is relaxed.
struct Relaxing<'s, 'l> {
    receiver: &'static Receiver,
    draft_07: bool,
    targets: Targets<'s>,
    log: &'l mut Log,
    /// The parts that cannot be said at all, by their places; whoever holds them lets them go.
    unsayable: HashSet<String>,
}

/// The relaxed schema; nothing if that cannot be found.
pub(super) fn relax(schema: &Tree, receiver: &'static Receiver, log: &mut Log) -> Option<Tree> {
    if relaxable(schema, receiver).is_empty() {
        return Some(schema.clone());
    }
    let draft_07 = schema.get("$schema").and_then(Tree::as_text).is_some_and(|uri| uri.contains("draft-07"));
    let mut relaxing =
        Relaxing { receiver, draft_07, targets: Targets::of(schema), log, unsayable: HashSet::new() };
    let mut relaxed = schema.clone();
    relaxing.settle(&mut relaxed, "");
    for _ in 0..ROUNDS_MAX {
        if relaxable(&relaxed, receiver).is_empty() {
            return Some(relaxed);
        }
        relaxing.unsayable.clear();
        relaxing.round(&mut relaxed, "");
        if relaxing.unsayable.contains("") {
            return None;
        }
    }
    None
}

/// What of a receiver's remarks is mended here, not by tightening.
fn relaxable(schema: &Tree, receiver: &'static Receiver) -> Vec<Remark> {
    let mut remarks = judge(schema, receiver);
    remarks.retain(|remark| !tighten::mends(receiver, remark));
    remarks
}

impl Relaxing<'_, '_> {
    /// Lets go of what a smaller schema below could make stricter: a change under `not`, `if`, `oneOf` or a counted
    /// `contains` works the other way round, and `unevaluated…` looks at everything beside it.
    fn settle(&mut self, schema: &mut Tree, pointer: &str) {
        let counted = schema.has("minContains") || schema.has("maxContains");
        for keyword in ["not", "if", "oneOf", "contains"] {
            if keyword == "contains" && !counted {
                continue;
            }
            let Some(value) = schema.get(keyword) else { continue };
            let is_fragile = match value {
                Tree::Array(branches) => branches.iter().any(|branch| self.is_fragile(branch)),
                part => self.is_fragile(part),
            };
            if is_fragile {
                self.let_go(schema, keyword, pointer);
            }
        }
        for keyword in ["unevaluatedItems", "unevaluatedProperties"] {
            drop_keyword(schema, keyword, self.draft_07, pointer, self.log);
        }
        for_each_child(schema, |way, child| self.settle(child, &format!("{pointer}{way}")));
    }

    fn is_fragile(&self, part: &Tree) -> bool {
        const LOOKS_ELSEWHERE: [&str; 4] =
            ["$ref", "$dynamicRef", "unevaluatedItems", "unevaluatedProperties"];
        // What breaks the dialect is found from the root, wherever it is, and left out there.
        let mut found =
            self.receiver.minds(&Shape::Breaks202012) && !Shape::Breaks202012.spots(part).is_empty();
        walk(part, "", &mut |schema: &Tree, _: &str| {
            found |= LOOKS_ELSEWHERE.iter().any(|keyword| schema.has(keyword));
            // No root: the rules for that do not apply here.
            found |= !judge_one(schema, "/", self.receiver).is_empty();
        });
        found
    }

    /// One of the branches is at least one of them.
    fn let_go(&mut self, schema: &mut Tree, keyword: &str, pointer: &str) {
        let union_is_taken =
            keyword == "oneOf" && !schema.has("anyOf") && self.receiver.takes("anyOf", pointer.is_empty());
        if !union_is_taken {
            drop_keyword(schema, keyword, self.draft_07, pointer, self.log);
        } else if let Some(branches) = schema.remove(keyword) {
            schema.set("anyOf", branches);
            let what = "written as `anyOf`: more than one branch may hold";
            self.log.note(Effect::Unenforced, &below(pointer, keyword), keyword, what);
        }
    }

    /// Mends everything once, the inner schemas first.
    fn round(&mut self, schema: &mut Tree, pointer: &str) {
        // What is not taken goes as a whole; what is in it need not be looked at.
        for remark in self.remarks(schema, pointer) {
            if matches!(remark.rule.looks_for, LooksFor::Keywords(_) | LooksFor::KeywordsBeyond(_)) {
                self.keyword(schema, &remark.keyword, pointer);
            }
        }
        for_each_child(schema, |way, child| self.round(child, &format!("{pointer}{way}")));
        self.release(schema, pointer);
        for remark in self.remarks(schema, pointer) {
            if let LooksFor::Shape(shape) = &remark.rule.looks_for {
                let (before, unsayable) = (self.log.0.len(), self.unsayable.len());
                self.shape(schema, shape, &remark, pointer);
                if (before, unsayable) == (self.log.0.len(), self.unsayable.len()) {
                    // It means what it meant.
                    self.log.note(Effect::Said, &remark.pointer, &remark.keyword, "said in other words");
                }
            }
        }
    }

    fn remarks(&self, schema: &Tree, pointer: &str) -> Vec<Remark> {
        let mut remarks = judge_one(schema, pointer, self.receiver);
        remarks.retain(|remark| !tighten::mends(self.receiver, remark));
        remarks
    }

    fn keyword(&mut self, schema: &mut Tree, keyword: &str, pointer: &str) {
        match keyword {
            "oneOf" => self.let_go(schema, keyword, pointer),
            "const" => self.constant(schema, pointer),
            "$ref" => {
                if let Some(inlined) = self.targets.in_place_of(schema) {
                    let lost: Vec<String> = self.siblings(schema);
                    for keyword in lost {
                        self.log.dropped(pointer, &keyword);
                    }
                    self.log.note(Effect::Said, &below(pointer, "$ref"), "$ref", "put in place");
                    *schema = inlined;
                } else {
                    drop_keyword(schema, keyword, self.draft_07, pointer, self.log);
                }
            }
            _ => drop_keyword(schema, keyword, self.draft_07, pointer, self.log),
        }
    }

    /// The keywords beside a `$ref` that constrain something: none in draft-07.
    fn siblings(&self, schema: &Tree) -> Vec<String> {
        let names = schema.members().iter().map(|(name, _)| name);
        let constrain = names.filter(|name| !annotates(name) && *name != "$ref" && !self.draft_07);
        constrain.cloned().collect()
    }

    /// A text that is fixed is a choice of one.
    fn constant(&mut self, schema: &mut Tree, pointer: &str) {
        let is_text = matches!(schema.get("const"), Some(Tree::Text(_)));
        let can_be_choice = is_text && !schema.has("enum") && self.receiver.takes("enum", pointer.is_empty());
        match schema.remove("const") {
            Some(value) if can_be_choice => {
                schema.set("enum", Tree::Array(vec![value]));
                self.log.note(
                    Effect::Said,
                    &below(pointer, "const"),
                    "const",
                    "written as `enum` of one value",
                );
            }
            _ => self.log.dropped(pointer, "const"),
        }
    }

    /// Lets go of the parts that cannot be said.
    fn release(&mut self, schema: &mut Tree, pointer: &str) {
        let properties = schema.get("properties").map(Tree::members).unwrap_or_default();
        let unsayable =
            |name: &&String| self.unsayable.contains(&below(&format!("{pointer}/properties"), name));
        let names: Vec<String> = properties.iter().map(|(name, _)| name).filter(unsayable).cloned().collect();
        for name in names {
            omit_property(schema, &name, pointer, self.log);
        }
        for keyword in ["items", "anyOf"] {
            let prefix = format!("{pointer}/{keyword}");
            let within = |place: &String| {
                place.strip_prefix(&prefix).is_some_and(|rest| {
                    rest.is_empty() || rest.strip_prefix('/').is_some_and(|at| !at.contains('/'))
                })
            };
            if schema.has(keyword) && self.unsayable.iter().any(within) {
                drop_keyword(schema, keyword, self.draft_07, pointer, self.log);
            }
        }
    }

    fn shape(&mut self, schema: &mut Tree, shape: &Shape, remark: &Remark, pointer: &str) {
        match shape {
            Shape::RootNotObject => schema.set("type", Tree::text("object")),
            Shape::ArrayWithoutItems if self.receiver.minds(&Shape::WithoutType) => self.give_up(pointer),
            Shape::ArrayWithoutItems => schema.set("items", Tree::Object(Vec::new())),
            Shape::ItemsList | Shape::ItemsOfNoArray => self.let_go(schema, "items", pointer),
            Shape::PatternLookaround => self.let_go(schema, "pattern", pointer),
            Shape::FormatBeyond(_) => self.let_go(schema, "format", pointer),
            Shape::ReferenceWithSiblings => self.reference_alone(schema, pointer),
            Shape::WithoutType => self.typeless(schema, pointer),
            Shape::TypeList => self.split(schema, pointer),
            Shape::EnumOfNoTexts => self.enum_of_texts(schema, pointer),
            Shape::PropertyNoObject => spell_out(schema, &remark.keyword),
            Shape::PropertyKeyBeyond(..) => omit_property(schema, &remark.keyword, pointer, self.log),
            Shape::RequiredUndefined => self.required_defined(schema, pointer),
            Shape::PropertiesOfNoObject => self.let_go(schema, &remark.keyword, pointer),
            Shape::HeaderMisplaced | Shape::Breaks202012 => self.at_remark(schema, remark),
            Shape::EnumValuesOver(_) | Shape::PropertiesOver(_) | Shape::ObjectsNestedOver(_) => {
                self.give_up(pointer);
            }
            Shape::ObjectNotClosed | Shape::PropertyNotRequired => {}
        }
    }

    fn give_up(&mut self, pointer: &str) {
        self.unsayable.insert(pointer.to_owned());
    }

    /// Leaves out the keyword that a remark about the whole schema names.
    fn at_remark(&mut self, schema: &mut Tree, remark: &Remark) {
        let Some((holder, _)) = remark.pointer.rsplit_once('/') else { return self.give_up("") };
        let mut done = false;
        let mut visit = |part: &mut Tree, place: &str, relaxing: &mut Self| {
            if place == holder && part.has(&remark.keyword) {
                drop_keyword(part, &remark.keyword, relaxing.draft_07, place, relaxing.log);
                done = true;
            }
        };
        visit_all(schema, "", &mut |part, place| visit(part, place, self));
        if !done {
            self.give_up("");
        }
    }

    /// In draft-07 what stands beside counts for nothing; otherwise it is lost. At the root, where a type must stand, the
    /// reference gives way instead.
    fn reference_alone(&mut self, schema: &mut Tree, pointer: &str) {
        if pointer.is_empty() {
            let definitions: Vec<_> = ["$schema", "$id", "$defs", "definitions"]
                .iter()
                .filter_map(|name| Some((*name, schema.get(name)?.clone())))
                .collect();
            match self.targets.in_place_of(schema) {
                Some(inlined) => *schema = inlined,
                None => drop_keyword(schema, "$ref", self.draft_07, pointer, self.log),
            }
            for (name, value) in definitions {
                schema.set(name, value);
            }
            return;
        }
        for keyword in self.siblings(schema) {
            self.log.dropped(pointer, &keyword);
        }
        schema.retain(|name| matches!(name, "$ref" | "$defs" | "definitions" | "$schema" | "$id"));
    }

    /// A choice of texts is a text. What else has no type cannot be said by a receiver that wants one.
    fn typeless(&mut self, schema: &mut Tree, pointer: &str) {
        let choices = schema.get("enum").map(Tree::items).unwrap_or_default();
        if !choices.is_empty() && choices.iter().all(|choice| choice.as_text().is_some()) {
            schema.set("type", Tree::text("string"));
            self.log.note(Effect::Said, &below(pointer, "type"), "type", "written out: it is a text");
        } else {
            self.give_up(pointer);
        }
    }

    /// One type each, as the branches of a union.
    fn split(&mut self, schema: &mut Tree, pointer: &str) {
        let names: Vec<String> = types(schema).into_iter().map(str::to_owned).collect();
        if let [only] = names.as_slice() {
            schema.set("type", Tree::text(only.as_str()));
            return;
        }
        if schema.has("anyOf") || names.is_empty() {
            return drop_keyword(schema, "type", self.draft_07, pointer, self.log);
        }
        let choices = schema.remove("enum");
        let mut branches = Vec::new();
        for name in &names {
            let mut branch = Tree::object([("type", Tree::text(name.as_str()))]);
            for keyword in keywords_of(name) {
                if let Some(value) = schema.get(keyword) {
                    branch.set(keyword, value.clone());
                }
            }
            if let Some(own) = choices.as_ref().map(|choices| choices_of(name, choices)) {
                if own.is_empty() {
                    continue;
                }
                branch.set("enum", Tree::Array(own));
            }
            branches.push(branch);
        }
        for keyword in names.iter().flat_map(|name| keywords_of(name)) {
            schema.remove(keyword);
        }
        schema.remove("type");
        schema.set("anyOf", Tree::Array(branches));
        self.log.note(Effect::Said, &below(pointer, "type"), "type", "written as `anyOf` of one type each");
    }

    fn enum_of_texts(&mut self, schema: &mut Tree, pointer: &str) {
        let is_text = schema.get("type").and_then(Tree::as_text) == Some("string");
        let Some(Tree::Array(choices)) = schema.get_mut("enum") else { return };
        choices.retain(|choice| choice.as_text().is_some());
        if !is_text || choices.is_empty() {
            drop_keyword(schema, "enum", self.draft_07, pointer, self.log);
        }
    }

    fn required_defined(&mut self, schema: &mut Tree, pointer: &str) {
        let properties = schema.get("properties").cloned();
        let is_defined = |name: &str| properties.as_ref().is_some_and(|properties| properties.has(name));
        let Some(Tree::Array(required)) = schema.get_mut("required") else { return };
        required.retain(|name| {
            let keep = name.as_text().is_some_and(is_defined);
            if !keep {
                let what = format!("`{}` is not demanded", name.as_text().unwrap_or_default());
                self.log.note(Effect::Unenforced, &below(pointer, "required"), "required", what);
            }
            keep
        });
    }
}

/// Calls `see` with each schema, the outer ones first.
fn visit_all(schema: &mut Tree, pointer: &str, see: &mut impl FnMut(&mut Tree, &str)) {
    see(schema, pointer);
    for_each_child(schema, |way, child| visit_all(child, &format!("{pointer}{way}"), see));
}

/// `true` and `false` as objects that mean the same.
fn spell_out(schema: &mut Tree, property: &str) {
    let Some(value) = schema.get_mut("properties").and_then(|properties| properties.get_mut(property)) else {
        return;
    };
    *value = match value {
        Tree::Raw(raw) if raw == "false" => Tree::object([("not", Tree::Object(Vec::new()))]),
        _ => Tree::Object(Vec::new()),
    };
}

/// The keywords that look at values of one type alone.
fn keywords_of(name: &str) -> &'static [&'static str] {
    match name {
        "string" => &["minLength", "maxLength", "pattern", "format"],
        "number" | "integer" => &["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"],
        "array" => &[
            "items",
            "prefixItems",
            "additionalItems",
            "minItems",
            "maxItems",
            "uniqueItems",
            "contains",
            "minContains",
            "maxContains",
        ],
        "object" => &[
            "properties",
            "required",
            "additionalProperties",
            "patternProperties",
            "minProperties",
            "maxProperties",
            "propertyNames",
            "dependentRequired",
            "dependentSchemas",
            "dependencies",
        ],
        _ => &[],
    }
}

/// The choices that can be of this type.
fn choices_of(name: &str, choices: &Tree) -> Vec<Tree> {
    let of_type = |choice: &&Tree| match (name, choice) {
        ("string", Tree::Text(_)) | ("array", Tree::Array(_)) | ("object", Tree::Object(_)) => true,
        ("null", Tree::Raw(raw)) => raw == "null",
        ("boolean", Tree::Raw(raw)) => raw == "true" || raw == "false",
        ("number" | "integer", Tree::Raw(raw)) => raw.starts_with(|c: char| c == '-' || c.is_ascii_digit()),
        _ => false,
    };
    choices.items().iter().filter(of_type).cloned().collect()
}
