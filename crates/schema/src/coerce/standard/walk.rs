//! One round: a value beside the subschemas that apply to it.

use std::borrow::Cow;

use crate::coerce::edits::Edits;
use crate::coerce::standard::kinds::{Alternatives, Flat};
use crate::coerce::standard::{Change, State};
use crate::coerce::{PLACE_WORK, Stop, decode, step_into};
use crate::json::{Kind, Member, Node, Number, Tape};
use crate::program::BlockId;
use crate::types::TypeSet;

pub(super) struct Walk<'s, 'p> {
    state: &'s mut State<'p>,
    edits: &'s mut Edits,
    changes: Vec<Change>,
    pointer: String,
}

impl<'s, 'p> Walk<'s, 'p> {
    pub(super) fn new(state: &'s mut State<'p>, edits: &'s mut Edits) -> Self {
        Walk { state, edits, changes: Vec::new(), pointer: String::new() }
    }

    pub(super) fn into_changes(self) -> Vec<Change> {
        self.changes
    }

    /// Changes texts in the value and below, as far as that needs no other change first.
    pub(super) fn value(&mut self, value: Node<'_>, blocks: &[BlockId]) -> Result<(), Stop> {
        self.state.work.charge(1)?;
        match value.kind() {
            Kind::String => self.text(value, blocks),
            Kind::Object | Kind::Array => {
                let maximum = self.state.limits.evaluation_depth_max;
                if self.state.depth == maximum {
                    return Err(Stop::Limit { name: "evaluation_depth", maximum });
                }
                self.state.depth += 1;
                self.state.nesting += 1;
                let outcome = self.container(value, blocks);
                self.state.nesting -= 1;
                self.state.depth -= 1;
                outcome
            }
            _ => Ok(()),
        }
    }

    /// What holds whatever is the case comes first; then what holds on a condition; then the alternatives. Each only
    /// once the one before has nothing to change any more.
    fn container(&mut self, value: Node<'_>, blocks: &[BlockId]) -> Result<(), Stop> {
        let before = self.changes.len();
        let kinds = self.state.kinds;
        let mut flat = Flat::default();
        for block in blocks {
            kinds.flatten(*block, value, &mut flat);
        }
        self.state.work.charge(flat.work())?;
        self.parts(value, &flat)?;
        let mut next = 0;
        while self.changes.len() == before
            && let Some(condition) = flat.conditions.get(next).copied()
        {
            next += 1;
            let applies =
                if self.state.valid(condition.when, value)? { condition.then } else { condition.otherwise };
            if let Some(block) = applies {
                kinds.flatten(block, value, &mut flat);
                self.parts(value, &flat)?;
            }
        }
        let mut alternatives = flat.alternatives.iter();
        while self.changes.len() == before
            && let Some(alternatives) = alternatives.next()
        {
            self.alternatives(value, *alternatives)?;
        }
        Ok(())
    }

    /// The members or items, each beside what applies to it.
    fn parts(&mut self, value: Node<'_>, flat: &Flat<'_>) -> Result<(), Stop> {
        let mut blocks = Vec::new();
        if !flat.objects.is_empty() {
            for member in value.members() {
                self.blocks_of(member, flat, &mut blocks)?;
                if !blocks.is_empty() {
                    let way = self.pointer.len();
                    step_into(&mut self.pointer, &member.name());
                    self.value(member.value(), &blocks)?;
                    self.pointer.truncate(way);
                }
            }
        }
        if !flat.items.is_empty() {
            for (index, item) in value.items().enumerate() {
                self.state.work.charge(flat.items.len() as u64)?;
                blocks.clear();
                let applying = flat.items.iter().map(|(prefix, rest)| prefix.get(index).copied().or(*rest));
                blocks.extend(applying.flatten());
                if !blocks.is_empty() {
                    let way = self.pointer.len();
                    step_into(&mut self.pointer, &index.to_string());
                    self.value(item, &blocks)?;
                    self.pointer.truncate(way);
                }
            }
        }
        Ok(())
    }

    /// The subschemas that apply to a member.
    fn blocks_of(
        &mut self,
        member: Member<'_>,
        flat: &Flat<'_>,
        blocks: &mut Vec<BlockId>,
    ) -> Result<(), Stop> {
        flat.of_member(self.state.kinds.parts(), member, &mut self.state.work, blocks)
    }

    /// A text that is not good where it stands becomes the value that it is the text of, if that is of a type that is
    /// wanted there; where texts are wanted, too, only if that value is then good.
    fn text(&mut self, value: Node<'_>, blocks: &[BlockId]) -> Result<(), Stop> {
        let types = self.state.kinds.types(blocks);
        if types == TypeSet::STRING
            || (types.overlaps(TypeSet::STRING) && self.state.all_valid(blocks, value)?)
        {
            return Ok(());
        }
        let text = value.as_str().unwrap_or_default();
        self.state.work.charge(text.len() as u64)?;
        if !may_be_json(&text) {
            return Ok(());
        }
        let mut tape = self.state.scratch.tapes.pop().unwrap_or_default();
        let outcome = self.json(&mut tape, value, &text, types, blocks);
        self.state.scratch.tapes.push(tape);
        outcome
    }

    fn json(
        &mut self,
        tape: &mut Tape,
        value: Node<'_>,
        text: &str,
        types: TypeSet,
        blocks: &[BlockId],
    ) -> Result<(), Stop> {
        let mut limits = self.state.limits.arguments_text();
        limits.depth_max = limits.depth_max.saturating_sub(self.state.nesting);
        let Some(inner) = decode(tape, text, &limits, &mut self.state.work, &self.pointer)? else {
            return Ok(());
        };
        if inner.kind() == Kind::String || !types.has(inner) {
            return Ok(());
        }
        let to = plain(inner, types);
        if !types.overlaps(TypeSet::STRING) {
            self.charge_places(1)?;
            self.edits.push(&self.pointer, value.raw_str(), Some(&to));
            self.changes.push(Change { span: value.span(), bytes: to.into_owned().into_bytes() });
            return Ok(());
        }
        let settled = self.state.settle(inner, blocks)?;
        if settled.valid {
            self.charge_places(1 + settled.edits.len())?;
            self.edits.push(&self.pointer, value.raw_str(), Some(&to));
            self.edits.append(&self.pointer, &settled.edits);
            let bytes = if settled.edits.is_empty() { to.into_owned().into_bytes() } else { settled.bytes };
            self.changes.push(Change { span: value.span(), bytes });
        }
        Ok(())
    }

    /// The work of so many edits that repeat the way to the value at hand.
    fn charge_places(&mut self, edits: usize) -> Result<(), Stop> {
        Ok(self.state.work.charge(PLACE_WORK * (edits * self.pointer.len()) as u64)?)
    }

    /// An object or array that no alternative takes as it stands becomes what the one alternative makes of it that takes
    /// the outcome; if several alternatives come to different outcomes, it stays.
    fn alternatives(&mut self, value: Node<'_>, alternatives: Alternatives<'_>) -> Result<(), Stop> {
        let Alternatives { blocks, exclusive } = alternatives;
        for block in blocks {
            if self.state.valid(*block, value)? {
                return Ok(());
            }
        }
        let mut outcome: Option<super::Settled> = None;
        for block in blocks {
            self.state.work.charge(1)?;
            if !self.state.kinds.types(&[*block]).has(value) || self.is_hopeless(*block, value)? {
                continue;
            }
            let settled = self.state.settle(value, &[*block])?;
            if !settled.valid {
                continue;
            }
            match &outcome {
                Some(other) if other.bytes != settled.bytes => return Ok(()),
                _ => outcome = Some(settled),
            }
        }
        if let Some(settled) = outcome
            && (!exclusive || self.is_taken_once(blocks, &settled.bytes)?)
        {
            self.charge_places(settled.edits.len())?;
            self.edits.append(&self.pointer, &settled.edits);
            self.changes.push(Change { span: value.span(), bytes: settled.bytes });
        }
        Ok(())
    }

    /// Exclusive alternatives that take one outcome refuse it together.
    fn is_taken_once(&mut self, blocks: &[BlockId], outcome: &[u8]) -> Result<bool, Stop> {
        let mut tape = Tape::new();
        let read = tape.read(outcome, &self.state.limits.arguments_text());
        let node = read.map_err(|fault| Stop::Text { at: self.pointer.clone(), fault })?;
        let mut taken = 0;
        for block in blocks {
            taken += usize::from(self.state.valid(*block, node)?);
        }
        Ok(taken == 1)
    }

    /// Whether an alternative refuses the value for something that no coercion changes: a member that is missing, or one
    /// that is and stays a scalar of a refused value, such as the tag of another alternative. Only what is plain to see:
    /// this keeps alternatives within alternatives from being tried in vain.
    fn is_hopeless(&mut self, block: BlockId, value: Node<'_>) -> Result<bool, Stop> {
        let mut flat = Flat::default();
        self.state.kinds.flatten(block, value, &mut flat);
        self.state.work.charge(flat.work())?;
        if value.kind() == Kind::Object {
            for names in &flat.required {
                self.state.work.charge((names.len() + value.len()) as u64)?;
                if names.iter().any(|name| value.member(name).is_none()) {
                    return Ok(true);
                }
            }
        }
        let mut blocks = Vec::new();
        for member in value.members() {
            self.blocks_of(member, &flat, &mut blocks)?;
            let types = self.state.kinds.types(&blocks);
            let stays = match member.value().kind() {
                Kind::String => types == TypeSet::STRING,
                Kind::Object | Kind::Array => false,
                _ => true,
            };
            if stays && !self.state.all_valid(&blocks, member.value())? {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// A quick look at whether a text can be JSON of another kind than a string. White space may stand around objects and
/// arrays, as JSON has it; a scalar is the whole text.
fn may_be_json(text: &str) -> bool {
    let first = |text: &str| text.as_bytes().first().copied();
    match first(text) {
        Some(b'-' | b'0'..=b'9') => Number::parse(text).is_some(),
        Some(b't' | b'f' | b'n') => matches!(text, "true" | "false" | "null"),
        _ => matches!(first(text.trim_start_matches([' ', '\t', '\n', '\r'])), Some(b'{' | b'[')),
    }
}

/// The JSON text of a value: whole numbers in plain decimal where only such are wanted.
fn plain(value: Node<'_>, types: TypeSet) -> Cow<'_, str> {
    let whole = value
        .as_number()
        .filter(|number| types.is_whole() && !number.raw().bytes().all(|b| b.is_ascii_digit()));
    match whole.and_then(Number::as_i64) {
        Some(whole) => Cow::Owned(whole.to_string()),
        None => Cow::Borrowed(value.raw_str()),
    }
}
