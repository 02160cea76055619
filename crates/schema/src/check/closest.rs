//! Which branch of a union a value was meant for, and what that branch asks of it.

use crate::check::{Run, Site};
use crate::json::Node;
use crate::program::BlockId;
use crate::{Code, Finding};

/// Branches that are tried.
const BRANCHES_MAX: usize = 32;
/// Of the closest branch, the requests that are repeated.
const REQUESTS_MAX: usize = 2;

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
        let mut closest: Option<(u64, usize, Vec<Finding>)> = None;
        for (index, block) in candidates {
            let Some(findings) = self.attempt(block, value) else { continue };
            let distance = findings.iter().map(|finding| distance(finding, self.path_length())).sum();
            if closest.as_ref().is_none_or(|(least, _, _)| distance < *least) {
                closest = Some((distance, index, findings));
            }
        }
        let (_, index, findings) = closest?;
        Some(sentence(index, &findings))
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
            Some(findings) if findings.is_empty() => OnlyBranch::Holds,
            Some(findings) => OnlyBranch::Asks(sentence(index, &findings)),
            None => OnlyBranch::Unknown,
        }
    }
}

fn sentence(index: usize, findings: &[Finding]) -> String {
    let requests: Vec<_> = findings.iter().take(REQUESTS_MAX).map(request).collect();
    let more = match findings.len().saturating_sub(REQUESTS_MAX) {
        0 => String::new(),
        more => format!("; and {more} more"),
    };
    ["the closest is alternative ", &index.to_string(), ": ", &requests.join("; "), &more].concat()
}

/// How much a violation tells against a branch. A value of another type was not meant for it, nor one whose tag, a
/// constant, is another's; a missing or misspelt member may be a slip.
fn distance(finding: &Finding, outer: usize) -> u64 {
    let inner =
        finding.instance_location.as_ref().map_or(0, |location| location.0.len().saturating_sub(outer));
    match (finding.code, inner) {
        (Code::TypeMismatch | Code::NeverValid, 0) => 100,
        (Code::ConstMismatch | Code::EnumMismatch, 0 | 1) => 20,
        (Code::TypeMismatch, 1) => 4,
        _ => 2,
    }
}

fn request(finding: &Finding) -> String {
    match &finding.instance_location {
        Some(location) if !location.0.is_empty() => {
            let mut request = String::from("at ");
            location.push_to(&mut request);
            request.push_str(", ");
            request.push_str(&finding.message);
            request
        }
        _ => finding.message.clone(),
    }
}
