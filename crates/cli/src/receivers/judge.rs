//! What a receiver does to a schema.

use std::collections::HashSet;

use super::schemas::children;
use super::table::{LooksFor, Receiver, Rule};
use super::tree::{Tree, below};

/// One thing that a receiver does to this schema.
#[derive(Debug, Clone)]
pub(crate) struct Remark {
    pub(crate) rule: &'static Rule,
    /// JSON Pointer to what it is about, from the root of the schema. What is missing is named where it would stand.
    pub(crate) pointer: String,
    pub(crate) keyword: String,
}

/// Everything that a receiver does to this schema, in the order of the schema; nothing if it takes it as it is.
///
/// What stands within a keyword that it does not take is not looked at.
pub(crate) fn judge(schema: &Tree, receiver: &'static Receiver) -> Vec<Remark> {
    let mut remarks = Vec::new();
    judge_below(schema, "", receiver, &mut remarks);
    remarks
}

fn judge_below(schema: &Tree, pointer: &str, receiver: &'static Receiver, remarks: &mut Vec<Remark>) {
    remarks.extend(judge_one(schema, pointer, receiver));
    for (keyword, way, child) in children(schema) {
        if receiver.takes(keyword, pointer.is_empty()) {
            judge_below(child, &format!("{pointer}{way}"), receiver, remarks);
        }
    }
}

/// The same for this schema without those below it.
pub(super) fn judge_one(schema: &Tree, pointer: &str, receiver: &'static Receiver) -> Vec<Remark> {
    let is_root = pointer.is_empty();
    let mut remarks = Vec::new();
    // A keyword is told once, by the first rule that minds it.
    let mut told = HashSet::new();
    for rule in receiver.rules.iter().filter(|rule| rule.looks_at(is_root)) {
        let spots: Vec<(String, String)> = match &rule.looks_for {
            LooksFor::Keywords(keywords) => {
                let there = schema.members().iter().filter(|(name, _)| keywords.contains(name));
                there.map(|(name, _)| (below("", name), name.clone())).collect()
            }
            LooksFor::KeywordsBeyond(keywords) => {
                let there = schema.members().iter().filter(|(name, _)| !keywords.contains(name));
                there.map(|(name, _)| (below("", name), name.clone())).collect()
            }
            LooksFor::Shape(shape) => shape.spots(schema),
        };
        for (way, keyword) in spots {
            if told.insert(way.clone()) {
                remarks.push(Remark { rule, pointer: format!("{pointer}{way}"), keyword });
            }
        }
    }
    remarks
}
