//! Reads what follows a backslash.

use super::parse::{Parser, describe};
use super::property::{self, NoProperty};
use super::tree::{Assertion, Node, NodeId, SetId};
use super::{Language, PatternFault};

/// What a backreference names.
pub(super) enum Reference {
    Number(u64),
    Name(String),
}

/// An escape that stands for code points.
pub(super) enum Escape {
    /// A code point, perhaps a surrogate, which no subject has.
    One(u32),
    Many(SetId),
}

impl Parser<'_> {
    /// Reads an escape outside a bracket; says whether it is an assertion, which cannot be repeated.
    pub(super) fn escape_outside_bracket(&mut self) -> Result<(NodeId, bool), PatternFault> {
        let offset = self.at;
        if self.language == Language::Standard {
            match self.rest().chars().nth(1) {
                Some(c @ ('b' | 'B')) => {
                    self.at += 2;
                    let assertion = if c == 'b' { Assertion::Boundary } else { Assertion::NoBoundary };
                    return Ok((self.tree.add(Node::Assert(assertion)), true));
                }
                Some('1'..='9') => {
                    self.at += 1;
                    let number = self.number().unwrap_or_default();
                    return Ok((self.reference(offset, Reference::Number(number)), false));
                }
                Some('k') => {
                    self.at += 2;
                    if self.peek() != Some('<') {
                        let message =
                            format!("expected `<name>` after `\\k`, found {}", describe(self.peek()));
                        return Err(PatternFault::syntax(self.at, message));
                    }
                    let name = self.group_name()?;
                    return Ok((self.reference(offset, Reference::Name(name)), false));
                }
                _ => {}
            }
        }
        let node = match self.escape(false)? {
            Escape::Many(set) => Node::Set(set),
            Escape::One(code) => match char::from_u32(code) {
                Some(c) => Node::Literal(c),
                None => Node::Set(self.named_set("[]", regex_syntax::hir::ClassUnicode::empty, offset)?),
            },
        };
        Ok((self.tree.add(node), false))
    }

    fn reference(&mut self, offset: usize, reference: Reference) -> NodeId {
        let node = self.tree.add(Node::BackReference(Vec::new()));
        self.references.push((node, offset, reference));
        node
    }

    /// Reads an escape that stands for code points, in a bracket or outside.
    pub(super) fn escape(&mut self, in_bracket: bool) -> Result<Escape, PatternFault> {
        let offset = self.at;
        self.at += 1;
        let Some(c) = self.peek() else {
            return Err(PatternFault::syntax(
                offset,
                "expected a character after `\\`, found the end of the pattern",
            )
            .with_help("write `\\\\` for a backslash"));
        };
        self.at += c.len_utf8();
        match c {
            '\\' | '.' | '^' | '$' | '|' | '?' | '*' | '+' | '(' | ')' | '[' | ']' | '{' | '}' | '/'
            | '-' => Ok(Escape::One(c.into())),
            _ if self.language == Language::Portable => Err(not_portable(offset, c)),
            'd' => self.named_set("d", property::digit, offset).map(Escape::Many),
            'D' => self.named_set("D", || negated(property::digit()), offset).map(Escape::Many),
            'w' => self.named_set("w", property::word, offset).map(Escape::Many),
            'W' => self.named_set("W", || negated(property::word()), offset).map(Escape::Many),
            's' => self.named_set("s", property::space, offset).map(Escape::Many),
            'S' => self.named_set("S", || negated(property::space()), offset).map(Escape::Many),
            'p' | 'P' => self.property(offset, c == 'P').map(Escape::Many),
            'b' if in_bracket => Ok(Escape::One(0x08)),
            't' => Ok(Escape::One(0x09)),
            'n' => Ok(Escape::One(0x0a)),
            'v' => Ok(Escape::One(0x0b)),
            'f' => Ok(Escape::One(0x0c)),
            'r' => Ok(Escape::One(0x0d)),
            '0' if !self.peek().is_some_and(|next| next.is_ascii_digit()) => Ok(Escape::One(0)),
            'c' => match self.peek() {
                Some(letter) if letter.is_ascii_alphabetic() => {
                    self.at += 1;
                    Ok(Escape::One(u32::from(letter) % 32))
                }
                other => Err(PatternFault::syntax(
                    self.at,
                    format!("expected a letter after `\\c`, found {}", describe(other)),
                )),
            },
            'x' => self.hex(2, "\\x").map(Escape::One),
            'u' => self.code_point().map(Escape::One),
            _ => Err(unknown_escape(offset, c)),
        }
    }

    /// Reads exactly `digits` hexadecimal digits.
    fn hex(&mut self, digits: usize, after: &str) -> Result<u32, PatternFault> {
        let mut value = 0;
        for _ in 0..digits {
            let Some(digit) = self.peek().and_then(|c| c.to_digit(16)) else {
                let found = describe(self.peek());
                let message = format!("expected {digits} hexadecimal digits after `{after}`, found {found}");
                return Err(PatternFault::syntax(self.at, message));
            };
            self.at += 1;
            value = value * 16 + digit;
        }
        Ok(value)
    }

    /// Reads what follows `\u`: `{…}`, four digits, or four digits and the other half of a surrogate pair.
    fn code_point(&mut self) -> Result<u32, PatternFault> {
        if self.take('{') {
            let offset = self.at;
            let mut value: Option<u32> = None;
            while let Some(digit) = self.peek().and_then(|c| c.to_digit(16)) {
                self.at += 1;
                value = Some(value.unwrap_or(0).saturating_mul(16).saturating_add(digit));
            }
            return match value {
                Some(value @ 0..=0x10_ffff) if self.take('}') => Ok(value),
                _ => Err(PatternFault::syntax(
                    offset,
                    "expected hexadecimal digits up to 10FFFF and `}` after `\\u{`, found something else",
                )),
            };
        }
        let lead = self.hex(4, "\\u")?;
        if (0xd800..0xdc00).contains(&lead) && self.rest().starts_with("\\u") {
            let after_lead = self.at;
            self.at += 2;
            if let Ok(trail @ 0xdc00..=0xdfff) = self.hex(4, "\\u") {
                return Ok(0x1_0000 + ((lead - 0xd800) << 10) + (trail - 0xdc00));
            }
            self.at = after_lead;
        }
        Ok(lead)
    }

    /// Reads `{name}` or `{name=value}` after `\p` or `\P`.
    fn property(&mut self, offset: usize, negative: bool) -> Result<SetId, PatternFault> {
        let inner =
            self.rest().strip_prefix('{').and_then(|rest| rest.split_once('}')).map(|(inner, _)| inner);
        let Some(inner) = inner else {
            let message = "expected `{property}` after `\\p` or `\\P`, found something else";
            return Err(PatternFault::syntax(self.at, message).with_help("letters are `\\p{L}`"));
        };
        let key = format!("p{negative}{inner}");
        if let Some(set) = self.named_sets.get(&key) {
            self.at += inner.len() + 2;
            return Ok(*set);
        }
        let (name, value) = match inner.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (inner, None),
        };
        let set = property::property(name, value).map_err(|why| match why {
            NoProperty::Unknown => PatternFault::syntax(
                offset,
                format!("expected a property of ECMA-262, found `{}`", inner.escape_debug()),
            )
            .with_help("such as `\\p{L}`, `\\p{Lu}`, `\\p{Alphabetic}` or `\\p{Script=Greek}`; case matters"),
            NoProperty::Missing => PatternFault::unsupported(
                offset,
                format!("expected a property whose table is here, found `{}`", inner.escape_debug()),
            ),
        })?;
        self.at += inner.len() + 2;
        self.named_set(&key, || if negative { negated(set) } else { set }, offset)
    }

    /// Reads `<name>`, the name of a group.
    pub(super) fn group_name(&mut self) -> Result<String, PatternFault> {
        self.at += 1;
        let mut name = String::new();
        loop {
            let offset = self.at;
            let Some(c) = self.peek() else {
                return Err(PatternFault::syntax(
                    offset,
                    "expected `>` after a group's name, found the end of the pattern",
                ));
            };
            self.at += c.len_utf8();
            let c = match c {
                '>' if !name.is_empty() => return Ok(name),
                '\\' if self.take('u') => char::from_u32(self.code_point()?),
                _ => Some(c),
            };
            let Some(c) = c.filter(|c| property::in_name(*c, name.is_empty())) else {
                let found = describe(self.text.get(offset..).and_then(|rest| rest.chars().next()));
                let message =
                    format!("expected a group's name of letters, digits, `$` and `_`, found {found}");
                return Err(PatternFault::syntax(offset, message));
            };
            name.push(c);
        }
    }
}

fn negated(mut set: regex_syntax::hir::ClassUnicode) -> regex_syntax::hir::ClassUnicode {
    set.negate();
    set
}

#[cold]
fn not_portable(offset: usize, c: char) -> PatternFault {
    let message = format!(
        "expected one of `\\ . ^ $ | ? * + ( ) [ ] {{ }} - /` after `\\`, found {}",
        describe(Some(c))
    );
    let fault = PatternFault::syntax(offset, message);
    match c {
        'd' => fault.with_help("write `[0-9]`"),
        'D' => fault.with_help("write `[^0-9]`"),
        'w' => fault.with_help("write `[A-Za-z0-9_]`"),
        'W' => fault.with_help("write `[^A-Za-z0-9_]`"),
        's' => fault.with_help("write the white space that is meant as a class, such as `[ ]`"),
        'a'..='z' | 'A'..='Z' | '0'..='9' => {
            fault.with_help("write the characters themselves, or a class of them")
        }
        _ => fault.with_help("leave the backslash out"),
    }
}

#[cold]
fn unknown_escape(offset: usize, c: char) -> PatternFault {
    let fault = PatternFault::syntax(
        offset,
        format!("expected an escape of ECMA-262, found `\\` and {}", describe(Some(c))),
    );
    match c {
        'A' => fault.with_help("the start is `^`"),
        'z' | 'Z' => fault.with_help("the end is `$`"),
        'h' => fault.with_help("white space is `\\s`"),
        'a'..='z' | 'A'..='Z' | '0'..='9' => fault,
        _ => fault.with_help("leave the backslash out"),
    }
}
