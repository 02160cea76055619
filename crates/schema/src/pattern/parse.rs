//! Reads the text of a pattern: alternatives, groups, repetitions and group names. Linear, and with a stack of its own.

use std::collections::{BTreeSet, HashMap};

use regex_syntax::hir::ClassUnicode;

use super::escape::Reference;
use super::tree::{Assertion, Captures, Look, Node, NodeId, Repeat, SetId, Tree, TreeBuilder};
use super::{Language, PatternFault};
use crate::Limits;

/// Groups within groups beyond which no limit can go: what builds the matchers calls itself once a group.
const NESTING_CEILING: u64 = 250;

pub(super) fn parse(text: &str, language: Language, limits: &Limits) -> Result<Tree, PatternFault> {
    within(text, language, limits)?;
    Parser::new(text, language, limits).parse()
}

/// The same without the tree: the classes in brackets are not put together, which is most of the work.
pub(super) fn judge(text: &str, language: Language, limits: &Limits) -> Result<(), PatternFault> {
    within(text, language, limits)?;
    let parser = Parser { unites: false, ..Parser::new(text, language, limits) };
    parser.parse().map(|_| ())
}

fn within(text: &str, language: Language, limits: &Limits) -> Result<(), PatternFault> {
    let (name, maximum) = match language {
        Language::Portable => ("portable_pattern_bytes", limits.portable_pattern_bytes_max),
        Language::Standard => ("pattern_bytes", limits.pattern_bytes_max),
    };
    if text.len() as u64 > maximum {
        let message = format!("expected at most {maximum} bytes, found {}", text.len());
        return Err(PatternFault::limit(0, message, name, maximum));
    }
    Ok(())
}

/// What is being read.
pub(super) struct Parser<'t> {
    pub(super) text: &'t str,
    pub(super) at: usize,
    pub(super) language: Language,
    pub(super) limits: &'t Limits,
    pub(super) tree: TreeBuilder,
    /// Whether the classes that stand in brackets are put together.
    pub(super) unites: bool,
    /// Sets that were made before, by the text that names them.
    pub(super) named_sets: HashMap<String, SetId>,
    /// Bytes of all sets, which count toward the compiled form.
    pub(super) set_bytes: u64,
    pub(super) references: Vec<(NodeId, usize, Reference)>,
    captures: u32,
    /// Group names in the order of their first use, and the groups that bear each.
    names: HashMap<String, u32>,
    bearers: Vec<Vec<u32>>,
}

/// An open group, or the pattern as a whole.
struct Frame {
    kind: Kind,
    offset: usize,
    /// The first capturing group that can stand in it.
    first_capture: u32,
    alternatives: Vec<NodeId>,
    items: Vec<NodeId>,
    /// Names of groups in the alternatives before, and in the present one.
    names_before: BTreeSet<u32>,
    names: BTreeSet<u32>,
}

#[derive(Debug, Clone, Copy)]
enum Kind {
    Whole,
    Plain,
    Capture(u32),
    Look { ahead: bool, negative: bool },
}

impl Frame {
    fn new(kind: Kind, offset: usize, first_capture: u32) -> Self {
        Frame {
            kind,
            offset,
            first_capture,
            alternatives: Vec::new(),
            items: Vec::new(),
            names_before: BTreeSet::new(),
            names: BTreeSet::new(),
        }
    }
}

impl<'t> Parser<'t> {
    fn new(text: &'t str, language: Language, limits: &'t Limits) -> Self {
        Parser {
            text,
            at: 0,
            unites: true,
            language,
            limits,
            tree: TreeBuilder::default(),
            named_sets: HashMap::new(),
            set_bytes: 0,
            references: Vec::new(),
            captures: 0,
            names: HashMap::new(),
            bearers: Vec::new(),
        }
    }

    fn parse(mut self) -> Result<Tree, PatternFault> {
        let mut open: Vec<Frame> = Vec::new();
        let mut frame = Frame::new(Kind::Whole, 0, 1);
        while let Some(c) = self.peek() {
            let offset = self.at;
            match c {
                '|' => {
                    self.at += 1;
                    let items = std::mem::take(&mut frame.items);
                    frame.alternatives.push(self.tree.concat(items));
                    frame.names_before.append(&mut frame.names);
                }
                '(' => {
                    let nesting_max = self.limits.pattern_nesting_max.min(NESTING_CEILING);
                    if open.len() as u64 >= nesting_max {
                        let message =
                            format!("expected at most {nesting_max} groups within each other, found more");
                        return Err(PatternFault::limit(offset, message, "pattern_nesting", nesting_max));
                    }
                    open.push(frame);
                    frame = self.open_group(&mut open)?;
                }
                ')' => {
                    self.at += 1;
                    let Some(mut parent) = open.pop() else {
                        return Err(PatternFault::syntax(
                            offset,
                            "expected no `)` outside a group, found one",
                        )
                        .with_help("write `\\)` for the character itself"));
                    };
                    let (first_capture, kind) = (frame.first_capture, frame.kind);
                    let names = if frame.names_before.is_empty() {
                        std::mem::take(&mut frame.names)
                    } else {
                        frame.names_before.append(&mut frame.names);
                        std::mem::take(&mut frame.names_before)
                    };
                    let mut node = self.close_group(frame);
                    if matches!(kind, Kind::Look { .. }) {
                        self.refuse_quantifier("a lookaround")?;
                    } else {
                        node = self.quantified(node, first_capture)?;
                    }
                    parent.items.push(node);
                    parent.names.extend(names);
                    frame = parent;
                }
                _ => {
                    let item = self.item(c)?;
                    frame.items.push(item);
                }
            }
        }
        if !open.is_empty() {
            let message = format!(
                "expected `)` to close the group that opens at byte {}, found the end of the pattern",
                frame.offset
            );
            return Err(
                PatternFault::syntax(self.at, message).with_help("write `\\(` for the character itself")
            );
        }
        let root = self.close_group(frame);
        self.resolve_references()?;
        Ok(self.tree.finish(root, self.captures))
    }

    /// Reads what neither opens nor closes a group.
    fn item(&mut self, c: char) -> Result<NodeId, PatternFault> {
        let offset = self.at;
        let node = match c {
            '^' | '$' => {
                self.at += 1;
                let assertion = if c == '^' { Assertion::Start } else { Assertion::End };
                self.refuse_quantifier("an anchor")?;
                return Ok(self.tree.add(Node::Assert(assertion)));
            }
            '*' | '+' | '?' | '{' => {
                return Err(PatternFault::syntax(
                    offset,
                    format!("expected something to repeat before `{c}`, found nothing"),
                )
                .with_help(format!("write `\\{c}` for the character itself")));
            }
            ']' | '}' => {
                return Err(PatternFault::syntax(offset, format!("expected no bare `{c}`, found one"))
                    .with_help(format!("write `\\{c}` for the character itself")));
            }
            '[' => self.bracket()?,
            '.' => {
                self.at += 1;
                let set = self.named_set(".", super::property::dot, offset)?;
                self.tree.add(Node::Set(set))
            }
            '\\' => {
                let (node, is_assertion) = self.escape_outside_bracket()?;
                if is_assertion {
                    self.refuse_quantifier("an assertion")?;
                    return Ok(node);
                }
                node
            }
            _ => {
                self.at += c.len_utf8();
                self.tree.add(Node::Literal(c))
            }
        };
        self.quantified(node, self.captures + 1)
    }

    fn open_group(&mut self, open: &mut [Frame]) -> Result<Frame, PatternFault> {
        let offset = self.at;
        let first_capture = self.captures + 1;
        let rest = self.rest();
        let standard = self.language == Language::Standard;
        let (length, kind) = if rest.starts_with("(?:") {
            (3, Kind::Plain)
        } else if standard && rest.starts_with("(?=") {
            (3, Kind::Look { ahead: true, negative: false })
        } else if standard && rest.starts_with("(?!") {
            (3, Kind::Look { ahead: true, negative: true })
        } else if standard && rest.starts_with("(?<=") {
            (4, Kind::Look { ahead: false, negative: false })
        } else if standard && rest.starts_with("(?<!") {
            (4, Kind::Look { ahead: false, negative: true })
        } else if standard && rest.starts_with("(?<") {
            self.at += 2;
            let name = self.group_name()?;
            let group = self.new_capture();
            self.name_group(name, group, open, offset)?;
            return Ok(Frame::new(Kind::Capture(group), offset, first_capture));
        } else if rest.starts_with("(?") {
            return Err(self.unknown_group(offset));
        } else {
            (1, Kind::Capture(self.new_capture()))
        };
        self.at += length;
        Ok(Frame::new(kind, offset, first_capture))
    }

    #[cold]
    fn unknown_group(&self, offset: usize) -> PatternFault {
        let found = self.rest().chars().nth(2);
        let after = match self.language {
            Language::Portable => "`:`",
            Language::Standard => "`:`, `=`, `!`, `<=`, `<!` or `<name>`",
        };
        let fault =
            PatternFault::syntax(offset, format!("expected {after} after `(?`, found {}", describe(found)));
        match found {
            Some('P') => {
                fault.with_help("a named group is written `(?<name>…)`, and only where ECMA-262 is taken")
            }
            Some('i' | 'm' | 's' | 'x' | '-') => {
                fault.with_help("flags are not taken; write both cases in a class, as in `[aA]`")
            }
            Some('!' | '=' | '<') if self.language == Language::Portable => fault.with_help(
                "lookaround and names are not taken; leave them out, or check with profile `standard`",
            ),
            _ => fault.with_help("a group is written `(…)` or `(?:…)`"),
        }
    }

    fn new_capture(&mut self) -> u32 {
        self.captures += 1;
        self.captures
    }

    /// Gives a group its name. SPEC: ECMA-262 22.2.1.1: one name may stand twice only where at most one of the two
    /// groups can take part, that is in different alternatives.
    fn name_group(
        &mut self,
        name: String,
        group: u32,
        open: &mut [Frame],
        offset: usize,
    ) -> Result<(), PatternFault> {
        let fresh = u32::try_from(self.bearers.len()).unwrap_or(u32::MAX);
        let id = *self.names.entry(name).or_insert(fresh);
        if id == fresh {
            self.bearers.push(Vec::new());
        }
        if open.iter().any(|frame| frame.names.contains(&id)) {
            return Err(PatternFault::syntax(
                offset,
                "expected a group name of its own, found one that is taken",
            ));
        }
        if let Some(bearers) = self.bearers.get_mut(id as usize) {
            bearers.push(group);
        }
        // The innermost open frame holds the group itself; a group within it may not bear the name either.
        if let Some(parent) = open.last_mut() {
            parent.names.insert(id);
        }
        Ok(())
    }

    fn close_group(&mut self, mut frame: Frame) -> NodeId {
        let last = self.tree.concat(frame.items);
        frame.alternatives.push(last);
        let body = self.tree.alternate(frame.alternatives);
        match frame.kind {
            Kind::Whole | Kind::Plain => body,
            Kind::Capture(group) => self.tree.add(Node::Capture(group, body)),
            Kind::Look { ahead, negative } => self.tree.add(Node::Look(Look { body, ahead, negative })),
        }
    }

    fn resolve_references(&mut self) -> Result<(), PatternFault> {
        for (node, offset, reference) in std::mem::take(&mut self.references) {
            let groups = match &reference {
                Reference::Number(number) => {
                    let group = u32::try_from(*number).ok().filter(|group| *group <= self.captures);
                    group.map(|group| vec![group])
                }
                Reference::Name(name) => {
                    self.names.get(name).and_then(|id| self.bearers.get(*id as usize)).cloned()
                }
            };
            let Some(groups) = groups else {
                let message = match reference {
                    Reference::Number(number) => {
                        format!("expected a number of one of {} groups, found `\\{number}`", self.captures)
                    }
                    Reference::Name(name) => format!("expected the name of a group, found `{name}`"),
                };
                return Err(PatternFault::syntax(offset, message));
            };
            self.tree.resolve(node, groups);
        }
        Ok(())
    }

    fn refuse_quantifier(&self, what: &str) -> Result<(), PatternFault> {
        match self.peek() {
            Some(c @ ('*' | '+' | '?' | '{')) => Err(PatternFault::syntax(
                self.at,
                format!("expected something that can be repeated before `{c}`, found {what}"),
            )),
            _ => Ok(()),
        }
    }

    /// Reads the quantifier after `body`, if there is one.
    fn quantified(&mut self, body: NodeId, first_capture: u32) -> Result<NodeId, PatternFault> {
        let offset = self.at;
        let (min, max) = match self.peek() {
            Some('*') => (0, None),
            Some('+') => (1, None),
            Some('?') => (0, Some(1)),
            Some('{') => self.counts()?,
            _ => return Ok(body),
        };
        self.at += 1;
        let greedy = !self.take('?');
        if let Some(c @ ('*' | '+' | '?' | '{')) = self.peek() {
            return Err(PatternFault::syntax(
                self.at,
                format!("expected one quantifier, found `{c}` after another"),
            )
            .with_help("put what is repeated twice into a group"));
        }
        let maximum = self.limits.pattern_count_max.min(u64::from(u32::MAX));
        let count = |count: u64| match u32::try_from(count) {
            Ok(small) if count <= maximum => Ok(small),
            _ => {
                let message = format!("expected a count of at most {maximum}, found a larger one");
                Err(PatternFault::limit(offset, message, "pattern_count", maximum))
            }
        };
        let repeat = Repeat {
            body,
            min: count(min)?,
            max: max.map(count).transpose()?,
            greedy,
            captures: Captures { first: first_capture, end: self.captures + 1 },
        };
        Ok(self.tree.add(Node::Repeat(repeat)))
    }

    /// Reads `{n}`, `{n,}` or `{n,m}` up to its closing brace.
    fn counts(&mut self) -> Result<(u64, Option<u64>), PatternFault> {
        let offset = self.at;
        self.at += 1;
        let min = self.number();
        let max = if self.take(',') {
            if self.peek() == Some('}') { Some(None) } else { self.number().map(Some) }
        } else {
            min.map(Some)
        };
        let (Some(min), Some(max), Some('}')) = (min, max, self.peek()) else {
            return Err(PatternFault::syntax(
                offset,
                "expected `{n}`, `{n,}` or `{n,m}`, found another form",
            )
            .with_help("write `\\{` for the character itself"));
        };
        if max.is_some_and(|max| max < min) {
            return Err(PatternFault::syntax(
                offset,
                "expected a smaller count before a larger one, found the reverse",
            ));
        }
        Ok((min, max))
    }

    /// Reads decimal digits; a number past 64 bits stays the largest.
    pub(super) fn number(&mut self) -> Option<u64> {
        let mut number = None;
        while let Some(digit) = self.peek().and_then(|c| c.to_digit(10)) {
            self.at += 1;
            number = Some(number.unwrap_or(0_u64).saturating_mul(10).saturating_add(u64::from(digit)));
        }
        number
    }

    pub(super) fn rest(&self) -> &'t str {
        self.text.get(self.at..).unwrap_or_default()
    }

    pub(super) fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    /// Steps over `c` if it is next.
    pub(super) fn take(&mut self, c: char) -> bool {
        let found = self.peek() == Some(c);
        if found {
            self.at += c.len_utf8();
        }
        found
    }

    /// A set that is made once a pattern.
    pub(super) fn named_set(
        &mut self,
        name: &str,
        make: impl FnOnce() -> ClassUnicode,
        offset: usize,
    ) -> Result<SetId, PatternFault> {
        if let Some(set) = self.named_sets.get(name) {
            return Ok(*set);
        }
        let set = self.new_set(make(), offset)?;
        self.named_sets.insert(name.to_owned(), set);
        Ok(set)
    }

    pub(super) fn new_set(&mut self, set: ClassUnicode, offset: usize) -> Result<SetId, PatternFault> {
        self.weigh_ranges(set.ranges().len(), offset)?;
        Ok(self.tree.add_set(set))
    }

    /// Counts ranges of a set before they are kept.
    pub(super) fn weigh_ranges(&mut self, ranges: usize, offset: usize) -> Result<(), PatternFault> {
        self.set_bytes = self.set_bytes.saturating_add(8 * ranges as u64);
        let maximum = self.limits.pattern_compiled_bytes_max;
        if self.set_bytes > maximum {
            let message = format!("expected classes of at most {maximum} bytes in all, found more");
            return Err(PatternFault::limit(offset, message, "pattern_compiled_bytes", maximum));
        }
        Ok(())
    }
}

/// A code point as it stands in a message.
pub(super) fn describe(found: Option<char>) -> String {
    match found {
        Some(c) if c.is_control() => format!("U+{:04X}", u32::from(c)),
        Some(c) => format!("`{c}`"),
        None => "the end of the pattern".to_owned(),
    }
}
