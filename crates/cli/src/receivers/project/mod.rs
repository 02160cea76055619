//! The schema that a receiver takes as it is, and what is lost on the way to it.
//!
//! Two laws hold, and tests make them up and try them. What is *relaxed* is never stricter than the original: every
//! object that the original accepts is accepted. Where a receiver demands more (objects that are closed, properties that
//! are all there), the relaxed schema is *tightened*: what the result accepts and that has no null is accepted by the
//! relaxed one. The gate goes on enforcing the original in either case.

mod inline;

mod mend;

mod relax;

mod tighten;

use callgate_schema::{Options, Profile, Program, UnknownKeywords};

use super::judge::judge;
use super::schemas::{annotates, walk};
use super::table::Receiver;
use super::tree::Tree;

/// Rounds of mending after which a schema is given up. Each round mends all that it finds, and what it brings in anew
/// comes from references, one deeper each time.
const ROUNDS_MAX: usize = 24;

/// A schema for one receiver.
#[derive(Debug)]
pub(crate) struct Projection {
    pub(crate) schema: Tree,
    /// The schema before it was tightened: never stricter than the original.
    #[cfg_attr(not(test), expect(dead_code, reason = "what the laws are about"))]
    pub(crate) relaxed: Tree,
    pub(crate) changes: Vec<Change>,
}

/// One difference between a schema and what is written for a receiver.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Change {
    pub(crate) effect: Effect,
    /// JSON Pointer into the schema as it stood.
    pub(crate) pointer: String,
    pub(crate) keyword: String,
    /// What was done: a fragment.
    pub(crate) what: String,
}

/// What a change means for calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Effect {
    /// The receiver does not enforce it; the gate does.
    Unenforced,
    /// The receiver demands more than the schema does.
    Demanded,
    /// Says the same, or only told people and models something.
    Said,
}

impl Effect {
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Effect::Unenforced => "unenforced",
            Effect::Demanded => "demanded",
            Effect::Said => "said",
        }
    }
}

/// The changes as they are made.
#[derive(Debug, Default)]
struct Log(Vec<Change>);

impl Log {
    fn note(&mut self, effect: Effect, pointer: &str, keyword: &str, what: impl Into<String>) {
        let (pointer, keyword) = (pointer.to_owned(), keyword.to_owned());
        let change = Change { effect, pointer, keyword, what: what.into() };
        if !self.0.contains(&change) {
            self.0.push(change);
        }
    }

    /// A keyword is left out, which loses something if it is no annotation.
    fn dropped(&mut self, pointer: &str, keyword: &str) {
        let effect = if annotates(keyword) { Effect::Said } else { Effect::Unenforced };
        self.note(effect, &super::tree::below(pointer, keyword), keyword, "left out");
    }
}

/// The schema for a receiver; the schema itself if that takes it as it is.
pub(crate) fn project(schema: &Tree, receiver: &'static Receiver) -> Projection {
    let mut log = Log::default();
    let relaxed = relax::relax(schema, receiver, &mut log)
        .filter(|relaxed| still_means_something(schema, relaxed))
        .unwrap_or_else(|| give_up(schema, &mut log));
    let tightened = tighten::tighten(relaxed.clone(), receiver, &mut log).filter(|tightened| {
        judge(tightened, receiver).is_empty() && still_means_something(&relaxed, tightened)
    });
    let Some(tightened) = tightened else {
        // Nothing of what was relaxed is in the result, so that all of it is given up.
        let relaxed = give_up(schema, &mut log);
        let schema = closed_if_needed(relaxed.clone(), receiver);
        return Projection { schema, relaxed, changes: log.0 };
    };
    Projection { schema: tightened, relaxed, changes: log.0 }
}

/// Whether a schema that compiles still does: references can have lost what they led to.
fn still_means_something(before: &Tree, after: &Tree) -> bool {
    let options = Options { unknown_keywords: UnknownKeywords::Annotate, ..Options::tool(Profile::Standard) };
    let compiles = |schema: &Tree| Program::compile(schema.written().as_bytes(), &options).is_ok();
    before == after || compiles(after) || !compiles(before)
}

/// What accepts every object, where nothing better can be said.
fn give_up(schema: &Tree, log: &mut Log) -> Tree {
    log.0.clear();
    walk(schema, "", &mut |part: &Tree, pointer: &str| {
        for (keyword, _) in part.members() {
            log.dropped(pointer, keyword);
        }
    });
    any_object()
}

fn any_object() -> Tree {
    Tree::object([("type", Tree::text("object"))])
}

fn closed_if_needed(mut schema: Tree, receiver: &Receiver) -> Tree {
    if tighten::is_needed(receiver) {
        schema.set("properties", Tree::Object(Vec::new()));
        schema.set("required", Tree::Array(Vec::new()));
        schema.set("additionalProperties", Tree::Raw("false".into()));
    }
    schema
}

#[cfg(test)]
mod laws;
