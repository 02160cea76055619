//! Reads a class in brackets.

use regex_syntax::hir::{ClassUnicode, ClassUnicodeRange};

use super::escape::Escape;
use super::parse::Parser;
use super::tree::{Node, NodeId};
use super::{Language, PatternFault};

/// The half-open range of surrogates, which a range may cross though no subject has one.
const SURROGATES: std::ops::Range<u32> = 0xd800..0xe000;

impl Parser<'_> {
    /// Reads a class from its opening bracket to its closing one.
    pub(super) fn bracket(&mut self) -> Result<NodeId, PatternFault> {
        let offset = self.at;
        self.at += 1;
        let negative = self.take('^');
        let mut ranges: Vec<ClassUnicodeRange> = Vec::new();
        let first_member = self.at;
        while !self.take(']') {
            let member_offset = self.at;
            let first = self.member(offset)?;
            // A hyphen between two members makes a range, one before the end is itself.
            if !self.rest().starts_with('-') || self.rest().starts_with("-]") {
                self.push(&mut ranges, &first, offset)?;
                continue;
            }
            self.at += 1;
            match (first, self.member(offset)?) {
                (Escape::One(first), Escape::One(last)) if first <= last => {
                    push_range(&mut ranges, first, last);
                }
                (Escape::One(_), Escape::One(_)) => {
                    let message = "expected a range from a lower to a higher character, found the reverse";
                    return Err(PatternFault::syntax(member_offset, message));
                }
                _ => {
                    let message = "expected a character on each side of `-`, found a class";
                    return Err(PatternFault::syntax(member_offset, message)
                        .with_help("put the hyphen last, or write `\\-`"));
                }
            }
        }
        if self.language == Language::Portable && self.at == first_member + 1 {
            return Err(PatternFault::syntax(offset, "expected a class with members, found an empty one")
                .with_help("write `\\]` for a bracket in a class"));
        }
        let mut set = ClassUnicode::new(ranges);
        if negative {
            set.negate();
        }
        let literal = match set.ranges() {
            [only] if only.start() == only.end() => Some(only.start()),
            _ => None,
        };
        let node = match literal {
            Some(c) => Node::Literal(c),
            None => Node::Set(self.new_set(set, offset)?),
        };
        Ok(self.tree.add(node))
    }

    fn member(&mut self, bracket: usize) -> Result<Escape, PatternFault> {
        match self.peek() {
            Some('\\') => self.escape(true),
            Some(c) => {
                self.at += c.len_utf8();
                Ok(Escape::One(c.into()))
            }
            None => {
                let message = format!(
                    "expected `]` to close the class that opens at byte {bracket}, found the end of the pattern"
                );
                Err(PatternFault::syntax(self.at, message).with_help("write `\\[` for the character itself"))
            }
        }
    }

    fn push(
        &mut self,
        ranges: &mut Vec<ClassUnicodeRange>,
        member: &Escape,
        offset: usize,
    ) -> Result<(), PatternFault> {
        match *member {
            Escape::One(code) => push_range(ranges, code, code),
            Escape::Many(set) => {
                let count = self.tree.set(set).map_or(0, |set| set.ranges().len());
                // The work is weighed before it is done: a short text can name a large set many times.
                self.weigh_ranges(count, offset)?;
                if self.unites
                    && let Some(set) = self.tree.set(set)
                {
                    ranges.extend_from_slice(set.ranges());
                }
            }
        }
        Ok(())
    }
}

/// Adds a range of code points, without the surrogates in it.
fn push_range(ranges: &mut Vec<ClassUnicodeRange>, first: u32, last: u32) {
    let below = (first, last.min(SURROGATES.start - 1));
    let above = (first.max(SURROGATES.end), last);
    for (first, last) in [below, above] {
        if first > last {
            continue;
        }
        if let (Some(first), Some(last)) = (char::from_u32(first), char::from_u32(last)) {
            ranges.push(ClassUnicodeRange::new(first, last));
        }
    }
}
