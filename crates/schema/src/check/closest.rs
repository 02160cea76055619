//! Which branch of a union a value was meant for, and what that branch asks of it.

use crate::Code;
use crate::check::{Reason, Run, Site};
use crate::json::Node;
use crate::location::push_index;
use crate::program::BlockId;

/// Branches that are tried.
const BRANCHES_MAX: usize = 32;
/// Of the closest branch, the requests that are repeated.
const REQUESTS_MAX: usize = 2;
/// What the sentence has beside the requests, about.
const SENTENCE_BYTES: usize = 40;

/// What is known of a union of which one branch alone can hold.
pub(crate) enum OnlyBranch {
    Holds,
    /// It does not, and this is what it asks of the value, in a sentence.
    Asks(String),
    /// There is no such branch, or it takes too long to tell.
    Unknown,
}

impl<'i> Run<'_, 'i> {
    /// What the branch that is closest to the value asks of it, in a sentence.
    ///
    /// Where the first look leaves branches that could hold, one of them is the closest.
    pub(crate) fn closest(
        &mut self,
        at: Site,
        one: bool,
        blocks: &[BlockId],
        value: Node<'i>,
    ) -> Option<String> {
        if self.is_explaining() {
            return None;
        }
        let mut candidates: Vec<_> = self.candidates(at, one, blocks, value).take(BRANCHES_MAX).collect();
        if candidates.is_empty() {
            candidates = blocks.iter().copied().enumerate().take(BRANCHES_MAX).collect();
        }
        let mut closest: Option<(u64, usize, Vec<Reason>)> = None;
        for (index, block) in candidates {
            let Some(reasons) = self.attempt(block, value) else { continue };
            let distance = reasons.iter().map(|reason| distance(reason, self.path_length())).sum();
            if closest.as_ref().is_none_or(|(least, _, _)| distance < *least) {
                closest = Some((distance, index, reasons));
            }
        }
        let (_, index, reasons) = closest?;
        Some(sentence(index, &reasons))
    }

    /// If the first look leaves one branch that can hold: whether it does, or what it asks.
    pub(crate) fn only_branch(
        &mut self,
        at: Site,
        one: bool,
        blocks: &[BlockId],
        value: Node<'i>,
    ) -> OnlyBranch {
        // Who must know what was evaluated looks at every branch.
        if self.is_tracking() || self.is_explaining() {
            return OnlyBranch::Unknown;
        }
        let mut candidates = self.candidates(at, one, blocks, value);
        let (Some((index, block)), None) = (candidates.next(), candidates.next()) else {
            return OnlyBranch::Unknown;
        };
        match self.attempt(block, value) {
            Some(reasons) if reasons.is_empty() => OnlyBranch::Holds,
            Some(reasons) => OnlyBranch::Asks(sentence(index, &reasons)),
            None => OnlyBranch::Unknown,
        }
    }
}

fn sentence(index: usize, reasons: &[Reason]) -> String {
    let told = reasons.get(..REQUESTS_MAX).unwrap_or(reasons);
    let length = told.iter().map(|reason| reason.request.len() + 2).sum::<usize>();
    let mut sentence = String::with_capacity(length + SENTENCE_BYTES);
    sentence.push_str("the closest is alternative ");
    push_index(&mut sentence, index);
    sentence.push_str(": ");
    for (place, reason) in told.iter().enumerate() {
        sentence.push_str(if place == 0 { "" } else { "; " });
        sentence.push_str(&reason.request);
    }
    if let more @ 1.. = reasons.len() - told.len() {
        sentence.push_str("; and ");
        push_index(&mut sentence, more);
        sentence.push_str(" more");
    }
    sentence
}

/// How much a violation tells against a branch. A value of another type was not meant for it, nor one whose tag, a
/// constant, is another's; a missing or misspelt member may be a slip.
fn distance(reason: &Reason, outer: usize) -> u64 {
    match (reason.code, reason.steps.saturating_sub(outer)) {
        (Code::TypeMismatch | Code::NeverValid, 0) => 100,
        (Code::ConstMismatch | Code::EnumMismatch, 0 | 1) => 20,
        (Code::TypeMismatch, 1) => 4,
        _ => 2,
    }
}
