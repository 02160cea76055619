//! A compiled pattern: which matcher it has, and what a match costs.

use std::sync::Arc;

use regex_automata::meta::Regex;

use super::backtrack::Backtrack;
use super::threads::Threads;
use super::weigh::{compiled_bytes, weigh};
use super::{PatternFault, lower, parse};
use crate::{Exhausted, Limits, Work};

/// States up to which a pattern is given to the byte automaton. In the worst case each byte visits all of them, which
/// is charged beforehand; above, the matcher counts what it really visits.
pub(super) const STATES_MAX: usize = 250;

/// States for which a byte costs one unit more.
const STATES_PER_UNIT: u64 = 8;

// No pattern may cost more a byte than the allowance grows by, or large inputs would be refused for their size.
const _: () = assert!(STATES_MAX as u64 / STATES_PER_UNIT < 32);

/// The language that a pattern is written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Language {
    /// The subset of profile `portable`, which means the same in every engine.
    Portable,
    /// ECMA-262 regular expressions with the `u` flag, and `\-` for a hyphen anywhere.
    Standard,
}

/// A compiled pattern. Cheap to clone.
///
/// ```
/// use callgate_schema::pattern::{Language, Pattern};
/// use callgate_schema::{Limits, Work};
///
/// let pattern = Pattern::compile(r"^\(?[0-9]+\)?$", Language::Portable, &Limits::default()).unwrap();
/// let mut work = Work::new(1_000);
/// assert_eq!(pattern.is_match("(42)", &mut work), Ok(true));
/// assert_eq!(pattern.is_match("42\n", &mut work), Ok(false));
/// ```
#[derive(Debug, Clone)]
pub struct Pattern(Arc<Compiled>);

#[derive(Debug)]
struct Compiled {
    text: Box<str>,
    matcher: Matcher,
}

#[derive(Debug)]
enum Matcher {
    Automaton { regex: Regex, units_per_byte: u64 },
    Threads(Threads),
    Backtrack(Backtrack),
}

impl Pattern {
    /// Reads, weighs and compiles a pattern. The time is linear in the text, or in the compiled form where counts are
    /// written out, which has a limit.
    ///
    /// # Errors
    /// `pattern-syntax` if the text is not in the language, `pattern-limit` if its length, nesting, counts or compiled
    /// form exceed a limit, `pattern-unsupported` if it is right but cannot be enforced.
    pub fn compile(text: &str, language: Language, limits: &Limits) -> Result<Pattern, PatternFault> {
        let tree = parse::parse(text, language, limits)?;
        let facts = weigh(&tree);
        let root = *facts.get(tree.root());
        if !tree.regular {
            let matcher = Matcher::Backtrack(Backtrack::new(&tree, &facts));
            return Ok(Pattern(Arc::new(Compiled { text: text.into(), matcher })));
        }
        let maximum = limits.pattern_compiled_bytes_max;
        let bytes = compiled_bytes(&tree, &facts);
        if bytes > maximum {
            let message =
                format!("expected a compiled form of at most {maximum} bytes, found one of about {bytes}");
            return Err(PatternFault::limit(0, message, "pattern_compiled_bytes", maximum)
                .with_help("use smaller counts, and none within each other"));
        }
        let small = root.states <= STATES_MAX as u64;
        let matcher = match small.then(|| lower::automaton(&tree)).flatten() {
            Some(regex) => Matcher::Automaton { regex, units_per_byte: 1 + root.states / STATES_PER_UNIT },
            None => Matcher::Threads(Threads::new(&tree, root.anchored)),
        };
        Ok(Pattern(Arc::new(Compiled { text: text.into(), matcher })))
    }

    /// The text that was compiled.
    pub fn text(&self) -> &str {
        &self.0.text
    }

    /// Whether the pattern matches anywhere in `subject`. What is charged depends on the pattern and the subject alone.
    ///
    /// # Errors
    /// [`Exhausted`] if the allowance is spent first.
    pub fn is_match(&self, subject: &str, work: &mut Work) -> Result<bool, Exhausted> {
        match &self.0.matcher {
            Matcher::Automaton { regex, units_per_byte } => {
                work.charge((subject.len() as u64).saturating_mul(*units_per_byte).saturating_add(1))?;
                Ok(regex.is_match(subject))
            }
            Matcher::Threads(threads) => threads.is_match(subject, work),
            Matcher::Backtrack(backtrack) => backtrack.is_match(subject, work),
        }
    }

    /// Whether the matcher takes linear time.
    pub fn is_linear(&self) -> bool {
        match self.0.matcher {
            Matcher::Automaton { .. } | Matcher::Threads(_) => true,
            Matcher::Backtrack(_) => false,
        }
    }
}
