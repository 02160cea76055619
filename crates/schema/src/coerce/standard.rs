//! The other profiles: by the program, round after round, until a round changes nothing.
//!
//! ```text
//! settle    read ─▶ valid? ─▶ walk ─▶ splice the changes ─┐     a round; with no change, or when valid, that is the outcome
//!            ▲─────────────────────────────────────────────┘
//! walk      the value beside the subschemas that apply to it; texts change, alternatives are tried by settling a copy
//! ```
//!
//! A text within a text is read in the round after, and so is whatever a change makes possible: the outcome is one that
//! a round leaves alone, which is what makes a coercion idempotent. A valid value ends it at once, and so stays as it is.

mod kinds;
mod walk;

use crate::check::Run;
use crate::coerce::edits::Edits;
use crate::coerce::{DECODING_WORK, Scratch, Stop};
use crate::json::{Node, Tape};
use crate::program::BlockId;
use crate::{Limits, Work};

pub(super) use kinds::{Flat, Kinds};
use walk::Walk;

/// The root of every program.
const ROOT: BlockId = BlockId(0);

/// The work of settling a value, beside that of its checks: texts are copied and lists of what applies are made.
const SETTLING_WORK: u64 = 64;

/// What a copy that is being settled counts among the values within each other.
const SETTLING_DEPTH: u64 = 8;

pub(super) fn coerce<'p>(
    kinds: &'p Kinds,
    limits: &'p Limits,
    work: Work,
    scratch: &'p mut Scratch,
    arguments: Node<'_>,
) -> Result<(Vec<u8>, Edits), Stop> {
    let mut state = State { kinds, limits, work, scratch, depth: 0, nesting: 0 };
    let settled = state.settle(arguments, &[ROOT])?;
    Ok((settled.bytes, settled.edits))
}

/// What all rounds share.
struct State<'p> {
    kinds: &'p Kinds,
    limits: &'p Limits,
    work: Work,
    scratch: &'p mut Scratch,
    /// Containers within each other, and copies of values that are being settled, which cost the stack more.
    depth: u64,
    /// Containers around the text at hand in the arguments.
    nesting: u64,
}

/// A value after its last round.
struct Settled {
    /// Empty if there were no edits.
    bytes: Vec<u8>,
    edits: Edits,
    valid: bool,
}

/// A splice.
struct Change {
    span: std::ops::Range<usize>,
    bytes: Vec<u8>,
}

impl State<'_> {
    /// Takes rounds until the value is valid against all blocks, or nothing changes.
    fn settle(&mut self, value: Node<'_>, blocks: &[BlockId]) -> Result<Settled, Stop> {
        self.work.charge(SETTLING_WORK)?;
        let maximum = self.limits.evaluation_depth_max;
        if self.depth + SETTLING_DEPTH > maximum {
            return Err(Stop::Limit { name: "evaluation_depth", maximum });
        }
        self.depth += SETTLING_DEPTH;
        let outcome = self.rounds(value, blocks);
        self.depth -= SETTLING_DEPTH;
        outcome
    }

    fn rounds(&mut self, value: Node<'_>, blocks: &[BlockId]) -> Result<Settled, Stop> {
        let mut edits = Edits::default();
        let Some(bytes) = self.round(value, blocks, &mut edits)? else {
            return Ok(Settled { bytes: Vec::new(), edits, valid: true });
        };
        let mut tape = self.scratch.tapes.pop().unwrap_or_default();
        let outcome = self.further_rounds(&mut tape, bytes, blocks, edits);
        self.scratch.tapes.push(tape);
        outcome
    }

    fn further_rounds(
        &mut self,
        tape: &mut Tape,
        mut bytes: Vec<u8>,
        blocks: &[BlockId],
        mut edits: Edits,
    ) -> Result<Settled, Stop> {
        let maximum = self.limits.coercion_rounds_max;
        for _ in 0..maximum {
            if bytes.is_empty() {
                return Ok(Settled { bytes, edits, valid: false });
            }
            self.work.charge(DECODING_WORK * bytes.len() as u64)?;
            let read = tape.read(&bytes, &self.limits.arguments_text());
            let node = read.map_err(|fault| Stop::Text { at: String::new(), fault })?;
            match self.round(node, blocks, &mut edits)? {
                None => return Ok(Settled { bytes, edits, valid: true }),
                Some(next) if next.is_empty() => return Ok(Settled { bytes, edits, valid: false }),
                Some(next) => bytes = next,
            }
        }
        Err(Stop::Limit { name: "coercion_rounds", maximum })
    }

    /// One round: `None` if the value is valid, an empty text if nothing changed, else the text with the changes.
    fn round(
        &mut self,
        value: Node<'_>,
        blocks: &[BlockId],
        edits: &mut Edits,
    ) -> Result<Option<Vec<u8>>, Stop> {
        if self.all_valid(blocks, value)? {
            return Ok(None);
        }
        let mut walk = Walk::new(self, edits);
        walk.value(value, blocks)?;
        let changes = walk.into_changes();
        Ok(Some(spliced(value, &changes)))
    }

    fn all_valid(&mut self, blocks: &[BlockId], value: Node<'_>) -> Result<bool, Stop> {
        for block in blocks {
            if !self.valid(*block, value)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Whether a value keeps a subschema, at the cost of this coercion's allowance.
    fn valid(&mut self, block: BlockId, value: Node<'_>) -> Result<bool, Stop> {
        let work = std::mem::replace(&mut self.work, Work::new(0));
        let before = work.used();
        let mut run = Run::new(self.kinds.parts(), work);
        let answer = run.block::<false>(block, value);
        self.work = std::mem::replace(run.work(), Work::new(0));
        // Here nothing is accepted at a glance, so that each unit takes twice as long.
        self.work.charge(self.work.used() - before)?;
        Ok(answer?)
    }
}

/// The text of a value with the changes, which are in order and apart; empty if there are none.
fn spliced(value: Node<'_>, changes: &[Change]) -> Vec<u8> {
    if changes.is_empty() {
        return Vec::new();
    }
    let text = value.text_bytes();
    let mut out = Vec::with_capacity(value.raw().len());
    let mut copied = value.span().start;
    for change in changes {
        out.extend_from_slice(text.get(copied..change.span.start).unwrap_or_default());
        out.extend_from_slice(&change.bytes);
        copied = change.span.end;
    }
    out.extend_from_slice(text.get(copied..value.span().end).unwrap_or_default());
    out
}
