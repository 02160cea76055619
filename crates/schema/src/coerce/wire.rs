//! Profile `wire`: one walk along the declared members, which writes the outcome as it goes.
//!
//! The rules are those of the text-map transports that the profile is for, with five differences that make a coercion
//! idempotent and harmless: text that is not JSON stays text, and so does text in braces; no number is infinite; no
//! hexadecimal number wraps; and an object that was a text is coerced inside like any other.

use crate::coerce::edits::Edits;
use crate::coerce::plan::{ObjectPlan, Plan, Plans};
use crate::coerce::{PLACE_WORK, Scratch, Stop, decode, step_into};
use crate::json::{Kind, Node, Tape};
use crate::text_map::{boolean, number, trimmed, whole};
use crate::{Limits, Work};

pub(super) fn coerce<'p>(
    plans: &'p Plans,
    limits: &'p Limits,
    work: Work,
    scratch: &'p mut Scratch,
    arguments: Node<'_>,
) -> Result<(Vec<u8>, Edits), Stop> {
    let mut walk = Walk {
        plans,
        limits,
        work,
        scratch,
        pointer: String::new(),
        out: Vec::new(),
        copied: arguments.span().start,
        edits: Edits::default(),
        depth: 0,
        levels: 0,
    };
    if let (Some(root), Kind::Object) = (&plans.root, arguments.kind()) {
        walk.members(root, arguments)?;
    }
    if !walk.edits.is_empty() {
        walk.copy(arguments, arguments.span().end);
    }
    Ok((walk.out, walk.edits))
}

struct Walk<'p> {
    plans: &'p Plans,
    limits: &'p Limits,
    work: Work,
    scratch: &'p mut Scratch,
    /// The way to the value at hand, as it will stand in the outcome.
    pointer: String,
    out: Vec<u8>,
    /// How far the text at hand has been copied, or left out.
    copied: usize,
    edits: Edits,
    depth: u64,
    /// Texts within texts around the value at hand.
    levels: u64,
}

/// Whether a value is still there.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fate {
    Kept,
    Dropped,
}

/// What is to be done with an entry.
#[derive(Clone, Copy)]
enum Rule<'p> {
    As(&'p Plan),
    /// An entry of an object that is open: see [`Walk::expand`].
    Expand,
    Leave,
}

impl Rule<'_> {
    /// Whether something of a value can change, so that its place matters.
    const fn may_edit(self) -> bool {
        !matches!(self, Rule::As(Plan::Untyped | Plan::String) | Rule::Leave)
    }
}

impl<'p> Walk<'p> {
    fn value(&mut self, plan: &'p Plan, value: Node<'_>) -> Result<Fate, Stop> {
        match (plan, value.kind()) {
            (Plan::Untyped, _) => Ok(Fate::Kept),
            (_, Kind::String) => self.text(plan, value),
            (Plan::Object(object), Kind::Object) => self.members(object, value),
            (Plan::Array { items: Some(_) }, Kind::Array) => self.items(plan, value),
            _ => Ok(Fate::Kept),
        }
    }

    fn text(&mut self, plan: &'p Plan, value: Node<'_>) -> Result<Fate, Stop> {
        if let Plan::String = plan {
            return Ok(Fate::Kept);
        }
        let text = value.as_str().unwrap_or_default();
        self.work.charge(text.len() as u64)?;
        let text = trimmed(&text);
        if text.is_empty() {
            return Ok(Fate::Dropped);
        }
        match plan {
            Plan::Integer => {
                if let Some(integer) = whole(text) {
                    self.replace(value, &integer)?;
                }
            }
            Plan::Number => {
                if let Some(number) = number(text) {
                    self.is_readable(&number)?;
                    self.replace(value, &number)?;
                }
            }
            Plan::Boolean => {
                if let Some(boolean) = boolean(text) {
                    self.replace(value, if boolean { "true" } else { "false" })?;
                }
            }
            Plan::Object(_) => self.json(Rule::As(plan), Kind::Object, value, text)?,
            Plan::Array { .. } => self.json(Rule::As(plan), Kind::Array, value, text)?,
            Plan::Untyped | Plan::Unknown | Plan::String => {}
        }
        Ok(Fate::Kept)
    }

    /// A number of many digits may be more than what is read again.
    fn is_readable(&mut self, number: &str) -> Result<(), Stop> {
        let exponent = number.bytes().any(|byte| matches!(byte, b'e' | b'E'));
        if exponent || number.len() as u64 > self.limits.number_digits_max {
            let limits = self.limits.arguments_text();
            decode(&mut Tape::new(), number, &limits, &mut self.work, &self.pointer)?;
        }
        Ok(())
    }

    /// Text that may be a JSON object or array: it becomes that, and is then coerced like one that was sent as such.
    fn json(&mut self, rule: Rule<'p>, kind: Kind, value: Node<'_>, text: &str) -> Result<(), Stop> {
        let opening = if kind == Kind::Object { '{' } else { '[' };
        if !text.trim_start_matches([' ', '\t', '\n', '\r']).starts_with(opening) {
            return Ok(());
        }
        let maximum = self.limits.coercion_rounds_max;
        if self.levels == maximum {
            return Err(Stop::Limit { name: "coercion_rounds", maximum });
        }
        let mut tape = self.scratch.tapes.pop().unwrap_or_default();
        let outcome = self.decoded(&mut tape, rule, value, text);
        self.scratch.tapes.push(tape);
        outcome
    }

    fn decoded(&mut self, tape: &mut Tape, rule: Rule<'p>, value: Node<'_>, text: &str) -> Result<(), Stop> {
        let mut limits = self.limits.arguments_text();
        // The outcome is to be read again, so what is around the text counts.
        limits.depth_max = limits.depth_max.saturating_sub(self.depth);
        let Some(inner) = decode(tape, text, &limits, &mut self.work, &self.pointer)? else {
            return Ok(());
        };
        self.work.charge(PLACE_WORK * self.pointer.len() as u64)?;
        self.edits.push(&self.pointer, value.raw_str(), Some(inner.raw_str()));
        self.copy(value, value.span().start);
        self.copied = inner.span().start;
        self.levels += 1;
        match rule {
            Rule::As(plan) => _ = self.value(plan, inner)?,
            Rule::Expand => self.expand(inner)?,
            Rule::Leave => {}
        }
        self.levels -= 1;
        self.copy(inner, inner.span().end);
        self.copied = value.span().end;
        Ok(())
    }

    fn members(&mut self, plan: &'p ObjectPlan, value: Node<'_>) -> Result<Fate, Stop> {
        if !plan.declares() && !plan.open {
            return Ok(Fate::Kept);
        }
        let plans = self.plans;
        self.deeper()?;
        let mut before = None;
        let mut members = value.members().peekable();
        while let Some(member) = members.next() {
            self.work.charge(1)?;
            let rule = match plan.field(member) {
                Some(field) => Rule::As(plans.get(field)),
                None if plan.open => Rule::Expand,
                None => Rule::Leave,
            };
            let way = self.pointer.len();
            if rule.may_edit() {
                step_into(&mut self.pointer, &member.name());
            }
            let (start, end) = (member.name_span().start, member.value().span().end);
            if self.entry(rule, member.value())? == Fate::Dropped {
                let next = members.peek().map(|next| next.name_span().start);
                self.drop(member.value(), start, end, before, next)?;
            } else {
                before = Some(end);
            }
            self.pointer.truncate(way);
        }
        self.depth -= 1;
        Ok(Fate::Kept)
    }

    /// Items that are dropped make the later ones move up, and their places in edits are those that they then have.
    fn items(&mut self, plan: &'p Plan, value: Node<'_>) -> Result<Fate, Stop> {
        let Plan::Array { items: Some(items) } = plan else { return Ok(Fate::Kept) };
        let rule = Rule::As(self.plans.get(*items));
        self.deeper()?;
        let (mut before, mut index) = (None, 0usize);
        let mut rest = value.items().peekable();
        while let Some(item) = rest.next() {
            self.work.charge(1)?;
            let way = self.pointer.len();
            step_into(&mut self.pointer, &index.to_string());
            let span = item.span();
            if self.entry(rule, item)? == Fate::Dropped {
                let next = rest.peek().map(|next| next.span().start);
                self.drop(item, span.start, span.end, before, next)?;
            } else {
                (before, index) = (Some(span.end), index + 1);
            }
            self.pointer.truncate(way);
        }
        self.depth -= 1;
        Ok(Fate::Kept)
    }

    fn entry(&mut self, rule: Rule<'p>, value: Node<'_>) -> Result<Fate, Stop> {
        match rule {
            Rule::As(plan) => self.value(plan, value),
            Rule::Expand => self.expand(value).map(|()| Fate::Kept),
            Rule::Leave => Ok(Fate::Kept),
        }
    }

    /// An entry of an open object: text in braces is read as an object, and objects are entered; lists are not.
    fn expand(&mut self, value: Node<'_>) -> Result<(), Stop> {
        if let Some(text) = value.as_str() {
            self.work.charge(text.len() as u64)?;
            let text = trimmed(&text);
            if text.starts_with('{') && text.ends_with('}') {
                self.json(Rule::Expand, Kind::Object, value, text)?;
            }
            return Ok(());
        }
        if value.kind() == Kind::Object {
            self.deeper()?;
            for member in value.members() {
                self.work.charge(1)?;
                let way = self.pointer.len();
                step_into(&mut self.pointer, &member.name());
                self.expand(member.value())?;
                self.pointer.truncate(way);
            }
            self.depth -= 1;
        }
        Ok(())
    }

    fn deeper(&mut self) -> Result<(), Stop> {
        let maximum = self.limits.evaluation_depth_max;
        if self.depth == maximum {
            return Err(Stop::Limit { name: "evaluation_depth", maximum });
        }
        self.depth += 1;
        Ok(())
    }

    fn replace(&mut self, value: Node<'_>, to: &str) -> Result<(), Stop> {
        self.work.charge(PLACE_WORK * self.pointer.len() as u64)?;
        self.edits.push(&self.pointer, value.raw_str(), Some(to));
        self.copy(value, value.span().start);
        self.out.extend_from_slice(to.as_bytes());
        self.copied = value.span().end;
        Ok(())
    }

    /// Leaves out what is from `start` to `end`, with the comma before it or, where nothing stands before, after it.
    fn drop(
        &mut self,
        value: Node<'_>,
        start: usize,
        end: usize,
        before: Option<usize>,
        next: Option<usize>,
    ) -> Result<(), Stop> {
        self.work.charge(PLACE_WORK * self.pointer.len() as u64)?;
        self.edits.push(&self.pointer, value.raw_str(), None);
        let (from, to) = match (before, next) {
            // What stands between two that were dropped is left out already.
            (Some(before), _) => (before.max(self.copied), end),
            (None, Some(next)) => (start, next),
            (None, None) => (start, end),
        };
        self.copy(value, from);
        self.copied = to;
        Ok(())
    }

    /// Copies the text that `part` stands in, up to a place.
    fn copy(&mut self, part: Node<'_>, to: usize) {
        let text = part.text_bytes();
        if self.out.capacity() == 0 {
            self.out.reserve(text.len());
        }
        self.out.extend_from_slice(text.get(self.copied..to).unwrap_or_default());
        self.copied = to;
    }
}
