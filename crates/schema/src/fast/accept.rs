//! Accepting a value at a glance.

use super::plan::{FastNode, FastObject, FastPath, Others};
use super::source::{Decimal, EXACT_MAX, Source};
use super::trail::{NO_PART, Trail};
use super::union::Union;
use crate::Work;
use crate::check::Stop;
use crate::json::{char_count, kind};
use crate::pattern::Pattern;
use crate::program::BlockId;

/// Who answers where the plan does not know.
pub(crate) trait Ask<'i, S: Source<'i>> {
    /// Whether the value keeps the block; `false` also where nobody knows. `depth` is that of the question.
    fn ask(
        &mut self,
        block: BlockId,
        value: S::Value,
        depth: u64,
        work: &mut Work,
        trail: &mut Trail,
    ) -> Result<bool, Stop>;

    /// A limit was reached within a member.
    fn stopped_in_member(&mut self, value: S::Value);

    /// A limit was reached within an item.
    fn stopped_in_item(&mut self, index: usize);
}

/// One glance: `Ok(true)` is certain, `Ok(false)` is not; an error is one that an answer had.
///
/// It has an allowance of its own. When that is spent it knows nothing any more.
pub(crate) struct Fast<'p, S, A> {
    pub(crate) path: &'p FastPath,
    pub(crate) patterns: &'p [Pattern],
    pub(crate) source: S,
    pub(crate) ask: A,
    pub(crate) work: Work,
    pub(crate) trail: Trail,
    pub(crate) depth: u64,
    pub(crate) depth_max: u64,
}

impl<'i, S: Source<'i>, A: Ask<'i, S>> Fast<'_, S, A> {
    /// Does the value keep the block?
    #[inline]
    pub(crate) fn accepts(&mut self, block: BlockId, value: S::Value) -> Result<bool, Stop> {
        let path = self.path;
        match path.node(block) {
            Some(node) => self.accepts_by(block, node, value),
            None => Ok(false),
        }
    }

    /// The same, by the block's node.
    #[inline]
    fn accepts_by(&mut self, block: BlockId, node: &FastNode, value: S::Value) -> Result<bool, Stop> {
        let found = self.source.kind(value);
        if node.done & found != 0 {
            return Ok(true);
        }
        if found == kind::STRING {
            // Escapes make the length larger than any span.
            if self.source.plain_length(value).wrapping_sub(node.text_low) < node.text_span {
                return Ok(!node.deep || self.deep(node, value));
            }
        } else if found == kind::NUMBER
            && let Some(whole) = self.source.small(value)
            && whole.wrapping_sub(node.int_low) < node.int_span
        {
            return Ok(true);
        }
        self.look(block, node, found, value)
    }

    /// The same, by everything that the node has.
    #[inline(never)]
    fn look(&mut self, block: BlockId, node: &FastNode, found: u8, value: S::Value) -> Result<bool, Stop> {
        if node.types & found == 0 || self.depth >= self.depth_max {
            return Ok(false);
        }
        if node.ask & found != 0 {
            return self.ask.ask(block, value, self.depth, &mut self.work, &mut self.trail);
        }
        self.depth += 1;
        let good = match found {
            kind::STRING => self.string(node, value),
            kind::NUMBER => match self.number(node, value) {
                Some(good) => good,
                None => return self.asked(block, value),
            },
            kind::ARRAY => self.array(block, node, value)?,
            kind::OBJECT => self.object(block, node, value)?,
            _ => true,
        };
        if good && node.has_more() && !self.also(block, node, value)? {
            self.depth -= 1;
            // All that the block asks of the parts itself is kept. Without the note, each reference on the way would have
            // the whole of the value looked at once more.
            if found & (kind::ARRAY | kind::OBJECT) != 0 {
                self.trail.note(block, self.source.index(value), NO_PART);
            }
            return Ok(false);
        }
        self.depth -= 1;
        Ok(good)
    }

    #[cold]
    fn asked(&mut self, block: BlockId, value: S::Value) -> Result<bool, Stop> {
        self.depth -= 1;
        self.ask.ask(block, value, self.depth, &mut self.work, &mut self.trail)
    }

    /// What is applied to the same value.
    #[inline]
    fn also(&mut self, block: BlockId, node: &FastNode, value: S::Value) -> Result<bool, Stop> {
        let (from, to) = node.also;
        let path = self.path;
        for other in path.also.get(from as usize..to as usize).unwrap_or_default() {
            if !self.charge(1) || !self.accepts(*other, value)? {
                return Ok(false);
            }
        }
        match node.union.and_then(|union| path.unions.get(union as usize)) {
            Some(union) => self.union(block, union, value),
            None => Ok(true),
        }
    }

    /// Notes how far a value was good; answers that it is not certain as a whole.
    #[cold]
    fn unsure(&mut self, block: BlockId, value: S::Value, part: u32) -> bool {
        self.trail.note(block, self.source.index(value), part);
        false
    }

    fn charge(&mut self, units: usize) -> bool {
        self.work.charge(units as u64).is_ok()
    }

    fn string(&mut self, node: &FastNode, value: S::Value) -> bool {
        let text = self.source.text(value);
        let bytes = text.bytes.len() as u64;
        // A character takes one byte at least, and at most four, or twelve where it is two escapes.
        let most = if text.escaped { 12 } else { 4 };
        let sure = bytes <= node.chars.most
            && (node.chars.least <= bytes / most || (node.chars.least == 1 && bytes > 0));
        if !sure {
            if !self.charge(text.bytes.len()) {
                return false;
            }
            if !node.chars.has(char_count(text.bytes, text.escaped) as u64) {
                return false;
            }
        }
        !node.deep || (!text.escaped && self.deep(node, value))
    }

    /// The words and the pattern of a text without escapes.
    #[inline(never)]
    fn deep(&mut self, node: &FastNode, value: S::Value) -> bool {
        let text = self.source.text(value);
        if let Some(words) = node.words {
            let (low, high) = self.source.head(value);
            let words = self.path.words.get(words as usize);
            if words.is_none_or(|words| words.position(text.bytes, low, high).is_none()) {
                return false;
            }
        }
        let Some(pattern) = node.pattern else { return true };
        let Some(pattern) = self.patterns.get(pattern.0 as usize) else { return false };
        pattern.is_match_in(text.bytes, &mut self.work) == Ok(true)
    }

    /// `None` if the number is not one that the node can judge.
    fn number(&mut self, node: &FastNode, value: S::Value) -> Option<bool> {
        match self.source.decimal(value) {
            Decimal::Scaled(digits, 0) => Some(node.low <= digits && digits <= node.high),
            Decimal::Scaled(digits, scale) => {
                let power = 10i64.pow(u32::from(scale));
                if node.integer && digits % power != 0 {
                    return Some(false);
                }
                // A product that does not fit is past every number of eighteen digits.
                let (low, high) = (node.low.saturating_mul(power), node.high.saturating_mul(power));
                Some(low <= digits && digits <= high)
            }
            Decimal::Float(float) => {
                let low = float_bound(node.low, f64::NEG_INFINITY)?;
                let high = float_bound(node.high, f64::INFINITY)?;
                Some((!node.integer || float.fract() == 0.0) && low <= float && float <= high)
            }
            Decimal::Other => None,
        }
    }

    fn array(&mut self, block: BlockId, node: &FastNode, value: S::Value) -> Result<bool, Stop> {
        let count = self.source.count(value);
        if !node.items_count.has(count as u64) {
            return Ok(false);
        }
        let Some(items) = node.items else { return Ok(true) };
        if !self.charge(count + 1) {
            return Ok(false);
        }
        let path = self.path;
        let Some(node) = path.node(items) else { return Ok(false) };
        for (index, item) in self.source.items(value).enumerate() {
            match self.accepts_by(items, node, item) {
                Ok(true) => {}
                Ok(false) => return Ok(self.unsure(block, value, self.source.index(item))),
                Err(stop) => {
                    self.ask.stopped_in_item(index);
                    return Err(stop);
                }
            }
        }
        Ok(true)
    }

    fn object(&mut self, block: BlockId, node: &FastNode, value: S::Value) -> Result<bool, Stop> {
        let count = self.source.count(value);
        if !node.members_count.has(count as u64) {
            return Ok(false);
        }
        let path = self.path;
        let Some(object) = node.object.and_then(|object| path.objects.get(object as usize)) else {
            return Ok(true);
        };
        if !self.charge(count + 1) {
            return Ok(false);
        }
        self.members(block, object, value)
    }

    fn members(&mut self, block: BlockId, object: &FastObject, value: S::Value) -> Result<bool, Stop> {
        let source = self.source;
        let mut seen = 0;
        let mut due = 0;
        for (name, key, member) in source.members(value) {
            let child = match object.names.find_due(source, &name, key, &mut due) {
                Some(slot) => {
                    seen |= slot.bit;
                    BlockId(slot.child)
                }
                None => match object.others {
                    Others::Good => continue,
                    Others::Refused => return Ok(self.unsure(block, value, source.index(member))),
                    Others::Schema(child) => child,
                },
            };
            match self.accepts(child, member) {
                Ok(true) => {}
                Ok(false) => return Ok(self.unsure(block, value, source.index(member))),
                Err(stop) => {
                    self.ask.stopped_in_member(member);
                    return Err(stop);
                }
            }
        }
        Ok(seen == object.required || self.unsure(block, value, NO_PART))
    }

    #[inline(never)]
    fn union(&mut self, block: BlockId, union: &Union, value: S::Value) -> Result<bool, Stop> {
        let left = union.candidates(self.source, value);
        let count = left.count_left();
        if union.one && count > 1 {
            // That no other branch holds is for the instructions to say.
            return self.ask.ask(block, value, self.depth, &mut self.work, &mut self.trail);
        }
        if !self.charge(count + 1) {
            return Ok(false);
        }
        let noted = self.trail.len();
        for branch in left {
            let Some(block) = union.branches.get(branch) else { return Ok(false) };
            if self.accepts(*block, value)? {
                self.trail.truncate(noted);
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// A whole bound as a float, if it is one exactly; none is infinite.
#[expect(clippy::cast_precision_loss, reason = "numbers of that size lose nothing")]
fn float_bound(bound: i64, none: f64) -> Option<f64> {
    match bound {
        i64::MIN | i64::MAX => Some(none),
        bound if bound.abs() < EXACT_MAX => Some(bound as f64),
        _ => None,
    }
}
