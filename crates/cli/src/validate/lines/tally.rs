//! Counts of what was found.

use std::collections::{BTreeMap, HashMap};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use callgate_schema::{Class, Finding};

/// Violations that are told apart; of those that come after, only the number is known.
const VIOLATIONS_MAX: usize = 10_000;
/// Violations that a summary names.
pub(super) const FREQUENT: usize = 10;

/// Counts of lines and findings.
#[derive(Debug, Default)]
pub(super) struct Tally {
    pub(super) lines: u64,
    pub(super) blank: u64,
    pub(super) valid: u64,
    /// Lines by the class of their first finding.
    pub(super) by_class: BTreeMap<&'static str, u64>,
    /// Findings by code.
    pub(super) by_code: BTreeMap<&'static str, u64>,
    /// In the order in which they were first seen.
    violations: Vec<(Violation, Seen)>,
    /// Their places in the list by their hashes.
    known: HashMap<u64, usize>,
    /// Findings that are none of the violations told apart.
    pub(super) others: u64,
}

/// One way of breaking one schema.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Violation {
    pub(super) tool: Option<Box<str>>,
    pub(super) code: &'static str,
    /// JSON Pointer into the schema.
    pub(super) schema_location: Box<str>,
}

/// How often, and how the first one was told.
#[derive(Debug)]
pub(super) struct Seen {
    pub(super) count: u64,
    pub(super) message: Box<str>,
    pub(super) place: Box<str>,
}

impl Tally {
    /// Counts one line's findings; the line itself is counted already.
    pub(super) fn count(&mut self, tool: Option<&str>, findings: &[Finding]) {
        if let Some(first) = findings.first() {
            *self.by_class.entry(first.class().as_str()).or_default() += 1;
        }
        for finding in findings {
            *self.by_code.entry(finding.code.as_str()).or_default() += 1;
            let code = finding.code.as_str();
            let schema_location = finding.schema_location.as_deref().unwrap_or_default();
            let hash = hash(tool, code, schema_location);
            if let Some(seen) = self.seen(hash) {
                seen.count += 1;
                continue;
            }
            let violation =
                Violation { tool: tool.map(Into::into), code, schema_location: schema_location.into() };
            let place = finding.instance_location.as_ref().map(callgate_schema::Location::arguments_path);
            let place = place.unwrap_or_default().into();
            self.see(hash, violation, Seen { count: 1, message: finding.message.as_str().into(), place });
        }
    }

    /// Adds the counts of the lines that follow.
    pub(super) fn add(&mut self, next: Tally) {
        self.lines += next.lines;
        self.blank += next.blank;
        self.valid += next.valid;
        self.others += next.others;
        for (class, count) in &next.by_class {
            *self.by_class.entry(class).or_default() += count;
        }
        for (code, count) in &next.by_code {
            *self.by_code.entry(code).or_default() += count;
        }
        for (violation, seen) in next.violations {
            let hash = hash(violation.tool.as_deref(), violation.code, &violation.schema_location);
            match self.seen(hash) {
                Some(known) => known.count += seen.count,
                None => self.see(hash, violation, seen),
            }
        }
    }

    fn seen(&mut self, hash: u64) -> Option<&mut Seen> {
        self.violations.get_mut(*self.known.get(&hash)?).map(|(_, seen)| seen)
    }

    fn see(&mut self, hash: u64, violation: Violation, seen: Seen) {
        if self.violations.len() < VIOLATIONS_MAX {
            self.known.insert(hash, self.violations.len());
            self.violations.push((violation, seen));
        } else {
            self.others += seen.count;
        }
    }

    /// Lines that were refused or could not be decided.
    pub(super) fn refused(&self) -> u64 {
        self.lines - self.blank - self.valid
    }

    /// Lines that a limit kept from being decided.
    pub(super) fn undecided(&self) -> u64 {
        self.by_class.get(Class::ExecutionFailure.as_str()).copied().unwrap_or_default()
    }

    pub(super) fn is_good(&self) -> bool {
        self.refused() == 0
    }

    /// The most frequent violations; of equally frequent ones those that sort first.
    pub(super) fn frequent(&self) -> Vec<(&Violation, &Seen)> {
        let mut all: Vec<(&Violation, &Seen)> =
            self.violations.iter().map(|(violation, seen)| (violation, seen)).collect();
        all.sort_by(|a, b| b.1.count.cmp(&a.1.count).then_with(|| a.0.cmp(b.0)));
        all.truncate(FREQUENT);
        all
    }
}

/// Sixty-four bits tell ten thousand violations apart; if two shared them once, they would be counted as one.
fn hash(tool: Option<&str>, code: &str, schema_location: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    (tool, code, schema_location).hash(&mut hasher);
    hasher.finish()
}
