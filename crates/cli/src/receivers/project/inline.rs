//! Putting what a reference leads to in its place.

use std::collections::HashMap;

use super::super::schemas::{annotates, walk};
use super::super::tree::Tree;

/// Values in a schema with its references put in place, so that definitions which use each other twice do not double it
/// for ever. The largest of about 4 000 public tool schemas has 5 000.
const INLINED_VALUES_MAX: usize = 20_000;

/// What the references of a schema lead to, as far as that can stand in their places.
#[derive(Debug)]
pub(super) struct Targets<'s> {
    schema: &'s Tree,
    /// Whether a part of it has a URI of its own, which references in it would be relative to.
    is_one_resource: bool,
    loops: HashMap<String, bool>,
    values: usize,
}

impl<'s> Targets<'s> {
    pub(super) fn of(schema: &'s Tree) -> Targets<'s> {
        let mut resources = 0;
        walk(schema, "", &mut |part: &Tree, pointer: &str| {
            resources += usize::from(!pointer.is_empty() && part.has("$id"));
        });
        Targets { schema, is_one_resource: resources == 0, loops: HashMap::new(), values: schema.size() }
    }

    /// The schema that stands in the place of one with a `$ref`: what that leads to, with the annotations that stood
    /// beside it. Nothing if it leads back to itself, elsewhere, or to too much.
    pub(super) fn in_place_of(&mut self, referring: &Tree) -> Option<Tree> {
        let reference = referring.get("$ref")?.as_text()?;
        let target = self.target(reference)?;
        if !target.is_object() || self.is_loop(reference) {
            return None;
        }
        self.values += target.size();
        if self.values > INLINED_VALUES_MAX {
            return None;
        }
        let mut inlined = target.clone();
        for name in ["$defs", "definitions"] {
            inlined.remove(name);
        }
        for (name, value) in referring.members() {
            if annotates(name) && name != "format" {
                inlined.set(name, value.clone());
            }
        }
        Some(inlined)
    }

    fn target(&self, reference: &str) -> Option<&'s Tree> {
        let pointer = reference.strip_prefix('#')?;
        let plain = self.is_one_resource
            && !pointer.contains('%')
            && (pointer.is_empty() || pointer.starts_with('/'));
        if plain { self.schema.at(pointer) } else { None }
    }

    /// Whether following references from here leads here again.
    fn is_loop(&mut self, reference: &str) -> bool {
        if let Some(known) = self.loops.get(reference) {
            return *known;
        }
        let mut ahead = vec![reference.to_owned()];
        let mut seen: Vec<String> = Vec::new();
        let mut found = false;
        while let Some(next) = ahead.pop() {
            let Some(target) = self.target(&next) else { continue };
            walk(target, "", &mut |part: &Tree, _: &str| {
                let Some(further) = part.get("$ref").and_then(Tree::as_text) else { return };
                found |= further == reference || contains(further, reference) || contains(reference, further);
                if !seen.iter().any(|known| known == further) {
                    seen.push(further.to_owned());
                    ahead.push(further.to_owned());
                }
            });
        }
        self.loops.insert(reference.to_owned(), found);
        found
    }
}

/// Whether one reference leads to a place around the other's.
fn contains(outer: &str, inner: &str) -> bool {
    inner.strip_prefix(outer).is_some_and(|rest| rest.starts_with('/'))
}
