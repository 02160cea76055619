//! A compiled pattern: which matcher it has, and what a match costs.

use std::sync::Arc;

use super::automaton::{Automaton, STATES_MAX};
use super::backtrack::Backtrack;
use super::threads::{INSTRUCTION_BYTES, Threads};
use super::weigh::weigh;
use super::{PatternFault, parse};
use crate::{Code, Exhausted, Limits, Work};

/// The language that a pattern is written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Language {
    /// The subset of profile `portable`, which means the same in every engine.
    Portable,
    /// ECMA-262 regular expressions with the `u` flag, and `\-` for a hyphen anywhere.
    Standard,
}

/// Whether a text is a pattern of the language, within the limits of a pattern's text; nothing is built. What cannot be
/// matched here for want of a table of Unicode is a pattern all the same.
pub(crate) fn is_pattern(text: &str, language: Language, limits: &Limits) -> bool {
    match parse::judge(text, language, limits) {
        Ok(()) => true,
        Err(fault) => fault.code == Code::PatternUnsupported,
    }
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
    bytes: u64,
    matcher: Matcher,
}

#[derive(Debug)]
enum Matcher {
    Automaton(Automaton),
    Threads(Threads),
    Backtrack(Backtrack),
}

impl Pattern {
    /// Reads, weighs and compiles a pattern. The time is linear in the text, or in the compiled form where counts are
    /// written out, which has a limit.
    ///
    /// # Errors
    /// `pattern-syntax` if the text is not in the language, `pattern-limit` if its length, nesting, counts or compiled
    /// form exceed a limit, `pattern-unsupported` if it names a property of Unicode whose table is not here.
    pub fn compile(text: &str, language: Language, limits: &Limits) -> Result<Pattern, PatternFault> {
        let tree = parse::parse(text, language, limits)?;
        let facts = weigh(&tree);
        if !tree.regular {
            return Ok(Pattern::of(text, Matcher::Backtrack(Backtrack::new(&tree, &facts))));
        }
        let root = *facts.get(tree.root());
        let sets: u64 = tree.sets().iter().map(|set| 8 * set.ranges().len() as u64).sum();
        let maximum = limits.pattern_compiled_bytes_max;
        let bytes =
            root.instructions.saturating_add(1).saturating_mul(INSTRUCTION_BYTES).saturating_add(sets);
        if bytes > maximum {
            let message =
                format!("expected a compiled form of at most {maximum} bytes, found one of about {bytes}");
            return Err(PatternFault::limit(0, message, "pattern_compiled_bytes", maximum)
                .with_help("use smaller counts, and none within each other"));
        }
        Ok(Pattern::of(
            text,
            if root.states <= STATES_MAX as u64 {
                Matcher::Automaton(Automaton::new(tree, root.states, root.anchored))
            } else {
                Matcher::Threads(Threads::new(&tree, root.anchored))
            },
        ))
    }

    fn of(text: &str, matcher: Matcher) -> Pattern {
        let matcher_bytes = match &matcher {
            Matcher::Automaton(automaton) => automaton.bytes(),
            Matcher::Threads(threads) => threads.bytes(),
            Matcher::Backtrack(backtrack) => backtrack.bytes(),
        };
        let bytes = (size_of::<Compiled>() + text.len() + matcher_bytes) as u64;
        Pattern(Arc::new(Compiled { text: text.into(), bytes, matcher }))
    }

    /// The text that was compiled.
    pub fn text(&self) -> &str {
        &self.0.text
    }

    /// Whether the pattern matches anywhere in `subject`. What is charged depends on the pattern and the subject
    /// alone.
    ///
    /// # Errors
    /// [`Exhausted`] if the allowance is spent first.
    pub fn is_match(&self, subject: &str, work: &mut Work) -> Result<bool, Exhausted> {
        match &self.0.matcher {
            Matcher::Automaton(automaton) => automaton.is_match(subject, work),
            Matcher::Threads(threads) => threads.is_match(subject, work),
            Matcher::Backtrack(backtrack) => backtrack.is_match(subject, work),
        }
    }

    /// The same for the bytes of a text.
    pub(crate) fn is_match_in(&self, subject: &[u8], work: &mut Work) -> Result<bool, Exhausted> {
        if let Matcher::Automaton(automaton) = &self.0.matcher
            && let Some(answer) = automaton.is_match_at_once(subject, work)
        {
            return answer;
        }
        // INVARIANT: it is a part of a text that was read.
        self.is_match(simdutf8::basic::from_utf8(subject).unwrap_or_default(), work)
    }

    /// Whether the matcher takes linear time: there is neither lookaround nor a backreference.
    pub fn is_linear(&self) -> bool {
        match self.0.matcher {
            Matcher::Automaton(_) | Matcher::Threads(_) => true,
            Matcher::Backtrack(_) => false,
        }
    }

    /// How many bytes of memory the pattern takes, what is built at its first long match included, so that many
    /// patterns can be bounded together. An automaton whose states multiply can take several times as much once it is
    /// used; its cache is bounded by itself.
    pub fn compiled_bytes(&self) -> u64 {
        self.0.bytes
    }
}
