//! The reader: bytes onto a tape in one pass, without recursion.
//!
//! UTF-8, grammar, depth, counts, sizes of numbers and repeated names in every object are settled here. When the tape
//! is full the walk stops, the tape grows, and the walk goes on where it was; so its state is small and copied.
#![expect(clippy::cast_possible_truncation, reason = "text and values are bounded by what an entry holds")]

use super::fault::{ReadFault, ReadFaultKind, ReadLimits};
use super::names::{Head, NameTable, earlier};
use super::number::Spelling;
use super::place::pointer_at;
use super::scan::{HIGH, StringFault, below, byte, space, stops, string_end, string_fault, word};
use super::skim;
use super::text::unescaped;
use super::token::{Escapes, NODES_MAX, Short, TEXT_BYTES_MAX, Token, kind};
use crate::location::write_escaped;

/// What reading needs besides the text, used again and again.
#[derive(Debug, Clone, Default)]
pub(super) struct Scratch {
    pub(super) tokens: Vec<Token>,
    frames: Vec<Frame>,
    names: NameTable,
}

/// Digits of a number that its entry holds, so that they fit 32 bits.
const SHORT_DIGITS_MAX: u64 = 9;
/// Objects up to this many members are searched for repeated names while they are read, larger ones at their end.
const EAGER_MEMBERS_MAX: u32 = 16;

/// Reads `text` and says how many entries it has.
pub(super) fn read(scratch: &mut Scratch, text: &[u8], limits: &ReadLimits) -> Result<usize, ReadFault> {
    let bytes_max = limits.bytes_max.min(TEXT_BYTES_MAX);
    if text.len() as u64 > bytes_max {
        return Err(ReadFault {
            kind: limit(limits.subject, "bytes", bytes_max),
            offset: bytes_max as usize,
            pointer: String::new(),
        });
    }
    if scratch.tokens.is_empty() {
        scratch.tokens.resize(64, Token::default());
    }
    let mut state = State { at: space(text, 0), ..State::default() };
    let Scratch { tokens, frames, names } = scratch;
    loop {
        let mut walk = Walk { text, tokens, frames, names, limits };
        match walk.run(state) {
            Ok(Pause::Done(entries)) => return Ok(entries),
            Ok(Pause::Full(at)) => {
                state = at;
                tokens.resize(tokens.len() * 2, Token::default());
            }
            Err(fault) => return Err(fault.describe(text, limits)),
        }
    }
}

fn limit(subject: &str, what: &str, maximum: u64) -> ReadFaultKind {
    let name = if subject.is_empty() { what.to_owned() } else { format!("{subject}_{what}") };
    ReadFaultKind::Limit { name, maximum }
}

/// Where a walk stands: at the first byte of a member, an item or the root value.
#[derive(Clone, Copy, Default)]
struct State {
    at: usize,
    /// Entries written.
    entries: usize,
    depth: usize,
    /// Values begun.
    nodes: u64,
    /// Has its highest bits set if any string has bytes beyond ASCII.
    bits: u64,
    frame: Frame,
}

enum Pause {
    Done(usize),
    Full(State),
}

/// An array or object that is open; at depth 0 the text.
#[derive(Debug, Clone, Copy, Default)]
struct Frame {
    /// Its entry.
    entry: u32,
    /// Members or items begun.
    count: u32,
    /// One bit a name, by its hash.
    seen: u64,
    /// Its closing bracket, 0 for the text.
    close: u8,
}

struct Walk<'r> {
    text: &'r [u8],
    tokens: &'r mut [Token],
    frames: &'r mut Vec<Frame>,
    names: &'r mut NameTable,
    limits: &'r ReadLimits,
}

impl Walk<'_> {
    /// Reads on to the end of the text or of the tape.
    fn run(&mut self, state: State) -> Result<Pause, Fault> {
        let text = self.text;
        let nodes_max = self.limits.nodes_max.min(NODES_MAX);
        let State { mut at, mut entries, mut depth, mut nodes, mut bits, mut frame } = state;
        'value: loop {
            // A member takes at most three entries.
            if entries + 3 > self.tokens.len() {
                return Ok(Pause::Full(State { at, entries, depth, nodes, bits, frame }));
            }
            frame.count += 1;
            if frame.close == b'}' {
                let (name, head, end, name_bits) = name(text, at)?;
                self.put(entries, name);
                self.put(entries + 1, Token::head(head.low, head.high));
                self.check_name(&mut frame, entries, head.hash)?;
                entries += 2;
                bits |= name_bits;
                at = end;
            }
            nodes += 1;
            if nodes > nodes_max {
                return Err(Fault { why: Why::Nodes(nodes_max), at });
            }
            let slot = entries;
            entries += 1;
            match byte(text, at) {
                b'"' => {
                    let (token, end, string_bits) = string(text, at)?;
                    self.put(slot, token);
                    bits |= string_bits;
                    at = end;
                }
                open @ (b'{' | b'[') => {
                    // Where the container begins, until its end is known.
                    self.put(slot, Token::number(at, 0));
                    self.save(depth, frame, at)?;
                    depth += 1;
                    // The closing brackets are two after the opening ones in ASCII.
                    frame = Frame { entry: slot as u32, count: 0, seen: 0, close: open + 2 };
                    at = space(text, at + 1);
                    if byte(text, at) != frame.close {
                        continue 'value;
                    }
                    at += 1;
                    depth -= 1;
                    frame = self.close(entries, frame, at, depth)?;
                }
                b'-' | b'0'..=b'9' => {
                    let (token, end) = self.number(at)?;
                    self.put(slot, token);
                    at = end;
                }
                _ => {
                    let token = literal(text, at)?;
                    self.put(slot, token);
                    at = token.end();
                }
            }
            // After a value: the next one, or the ends of what is open.
            loop {
                at = space(text, at);
                let next = byte(text, at);
                if next == b',' && depth > 0 {
                    at = space(text, at + 1);
                    continue 'value;
                }
                if next != frame.close || depth == 0 {
                    break;
                }
                at += 1;
                depth -= 1;
                frame = self.close(entries, frame, at, depth)?;
            }
            return self.finish(frame, at, entries, bits);
        }
    }

    #[inline]
    fn put(&mut self, entry: usize, token: Token) {
        if let Some(slot) = self.tokens.get_mut(entry) {
            *slot = token;
        }
    }

    /// Keeps the frame of what stays open around a container that opens at `at`.
    #[inline]
    fn save(&mut self, depth: usize, frame: Frame, at: usize) -> Result<(), Fault> {
        if depth as u64 >= self.limits.depth_max {
            return Err(Fault { why: Why::Depth, at });
        }
        match self.frames.get_mut(depth) {
            Some(slot) => *slot = frame,
            None => self.frames.push(frame),
        }
        Ok(())
    }

    /// Writes the entry of a container that ends before `end`; the frame of what is around it, which is at `depth`.
    #[inline]
    fn close(&mut self, entries: usize, frame: Frame, end: usize, depth: usize) -> Result<Frame, Fault> {
        let first = frame.entry as usize;
        let kind = if frame.close == b'}' { kind::OBJECT } else { kind::ARRAY };
        if kind == kind::OBJECT && frame.count > EAGER_MEMBERS_MAX {
            let tokens = self.tokens.get(..entries).unwrap_or_default();
            let repeated = self.names.repeated(tokens, self.text, first + 1, frame.count as usize);
            if let Some((first, second)) = repeated {
                return Err(self.duplicate(first, second));
            }
        }
        if let Some(slot) = self.tokens.get_mut(first) {
            let offset = slot.offset();
            *slot = Token::container(offset, end - offset, kind, frame.count, entries);
        }
        Ok(self.frames.get(depth).copied().unwrap_or_default())
    }

    /// Has the name at `entry` been in its object before?
    #[inline]
    fn check_name(&self, frame: &mut Frame, entry: usize, hash: u64) -> Result<(), Fault> {
        if frame.count > EAGER_MEMBERS_MAX {
            return Ok(());
        }
        let bit = 1 << (hash >> 58);
        if frame.seen & bit != 0
            && let Some(first) = earlier(self.tokens, self.text, frame.entry as usize + 1, entry)
        {
            return Err(self.duplicate(first, entry));
        }
        frame.seen |= bit;
        Ok(())
    }

    #[cold]
    fn duplicate(&self, first: usize, second: usize) -> Fault {
        let quote = |entry| self.tokens.get(entry).map_or(0, |token: &Token| token.offset() - 1);
        Fault { why: Why::Duplicate { first: quote(first) }, at: quote(second) }
    }

    #[inline]
    fn number(&self, at: usize) -> Result<(Token, usize), Fault> {
        // A short number has at most nine digits, so that only a strange limit needs to look at it.
        match short_number(self.text, at) {
            Some(number) if self.limits.number_digits_max >= SHORT_DIGITS_MAX => Ok(number),
            _ => self.long_number(at),
        }
    }

    #[inline(never)]
    fn long_number(&self, at: usize) -> Result<(Token, usize), Fault> {
        let spelling = Spelling::scan(self.text, at).map_err(|at| Fault::expected("a digit", at))?;
        if spelling.digits as u64 > self.limits.number_digits_max {
            return Err(Fault { why: Why::Digits, at });
        }
        if spelling.exponent.is_some_and(|exponent| exponent.unsigned_abs() > self.limits.number_exponent_max)
        {
            return Err(Fault { why: Why::Exponent, at });
        }
        Ok((Token::number(at, spelling.end - at), spelling.end))
    }

    /// The end of the walk, if that is where the text ends.
    fn finish(&self, frame: Frame, at: usize, entries: usize, bits: u64) -> Result<Pause, Fault> {
        match frame.close {
            0 if at == self.text.len() => {}
            0 => return Err(Fault::expected("the end of the text", at)),
            b'}' => return Err(Fault::expected("`,` or `}`", at)),
            _ => return Err(Fault::expected("`,` or `]`", at)),
        }
        if bits & HIGH != 0
            && let Err(error) = simdutf8::compat::from_utf8(self.text)
        {
            return Err(Fault { why: Why::Utf8, at: error.valid_up_to() });
        }
        Ok(Pause::Done(entries))
    }
}

/// The string at `at`, the index after it, and its bytes or-ed.
#[inline]
fn string(text: &[u8], at: usize) -> Result<(Token, usize, u64), Fault> {
    let body = at + 1;
    let mut bits = word(text, body);
    let mut stop = stops(bits);
    let mut length = 0;
    if stop == 0 {
        let second = word(text, body + 8);
        stop = stops(second);
        bits |= second;
        length = 8;
    }
    length += (stop.trailing_zeros() >> 3) as usize;
    if stop != 0 && byte(text, body + length) == b'"' {
        return Ok((Token::string(body, length, Escapes::None), body + length + 1, bits));
    }
    let Some(end) = string_end(text, body) else { return Err(Fault::string(text, body)) };
    Ok((Token::string(body, end.quote - body, end.escapes), end.quote + 1, end.bits))
}

/// The name at `at`, the index of its value, and its bytes or-ed.
#[inline]
fn name(text: &[u8], at: usize) -> Result<(Token, Head, usize, u64), Fault> {
    if byte(text, at) != b'"' {
        return Err(Fault::expected("a name in quotes", at));
    }
    let body = at + 1;
    let first = word(text, body);
    let mut stop = stops(first);
    let (mut length, mut bits, mut low, mut high) = (0, first, first, 0);
    if stop != 0 {
        low &= below(stop);
    } else {
        let second = word(text, body + 8);
        stop = stops(second);
        length = 8;
        bits |= second;
        high = second & below(stop);
    }
    length += (stop.trailing_zeros() >> 3) as usize;
    if stop != 0 && text.get(body + length..body + length + 2) == Some(b"\":") {
        let head = Head::short(low, high);
        let token = Token::name(body, length, Escapes::None, head.hash);
        return Ok((token, head, space(text, body + length + 2), bits));
    }
    long_name(text, body)
}

#[inline(never)]
fn long_name(text: &[u8], body: usize) -> Result<(Token, Head, usize, u64), Fault> {
    let Some(end) = string_end(text, body) else { return Err(Fault::string(text, body)) };
    let raw = text.get(body..end.quote).unwrap_or_default();
    let head = Head::of(&unescaped(raw, end.escapes != Escapes::None));
    let colon = space(text, end.quote + 1);
    if byte(text, colon) != b':' {
        return Err(Fault::expected("`:`", colon));
    }
    let token = Token::name(body, raw.len(), end.escapes, head.hash);
    Ok((token, head, space(text, colon + 1), end.bits))
}

/// A number of at most nine digits and no exponent, and the index after it.
#[inline]
fn short_number(text: &[u8], start: usize) -> Option<(Token, usize)> {
    let negative = byte(text, start) == b'-';
    let first = start + usize::from(negative);
    let (mut at, mut digits) = (first, 0u32);
    let mut run = |at: &mut usize| {
        let from = *at;
        while byte(text, *at).is_ascii_digit() {
            digits = digits.wrapping_mul(10).wrapping_add(u32::from(byte(text, *at) - b'0'));
            *at += 1;
        }
        *at - from
    };
    let whole = if byte(text, first) == b'0' {
        at += 1;
        1
    } else {
        run(&mut at)
    };
    let mut scale = 0;
    if byte(text, at) == b'.' {
        at += 1;
        scale = run(&mut at);
        if scale == 0 {
            return None;
        }
    }
    if whole == 0 || (whole + scale) as u64 > SHORT_DIGITS_MAX || byte(text, at) | 0x20 == b'e' {
        return None;
    }
    let short = Short { negative, scale: scale as u8, digits };
    Some((Token::short_number(start, at - start, short), at))
}

#[inline]
fn literal(text: &[u8], at: usize) -> Result<Token, Fault> {
    let rest = text.get(at..).unwrap_or_default();
    if rest.starts_with(b"true") {
        Ok(Token::literal(at, 4, kind::BOOL, true))
    } else if rest.starts_with(b"false") {
        Ok(Token::literal(at, 5, kind::BOOL, false))
    } else if rest.starts_with(b"null") {
        Ok(Token::literal(at, 4, kind::NULL, false))
    } else {
        Err(Fault::expected("a value", at))
    }
}

/// Why reading stops; [`ReadFault`] in few bytes.
#[derive(Debug, Clone, Copy)]
struct Fault {
    why: Why,
    at: usize,
}

#[derive(Debug, Clone, Copy)]
enum Why {
    Syntax(&'static str),
    Utf8,
    Surrogate,
    Duplicate { first: usize },
    Depth,
    Nodes(u64),
    Digits,
    Exponent,
}

impl Fault {
    #[cold]
    fn expected(expected: &'static str, at: usize) -> Fault {
        Fault { why: Why::Syntax(expected), at }
    }

    /// The fault of the string whose body starts at `body`.
    #[cold]
    fn string(text: &[u8], body: usize) -> Fault {
        match string_fault(text, body) {
            (StringFault::Syntax(expected), at) => Fault { why: Why::Syntax(expected), at },
            (StringFault::Surrogate, at) => Fault { why: Why::Surrogate, at },
        }
    }

    #[cold]
    fn describe(mut self, text: &[u8], limits: &ReadLimits) -> ReadFault {
        if let Some(at) = earlier_utf8_fault(text, self.at) {
            self = Fault { why: Why::Utf8, at };
        }
        let mut pointer = pointer_at(text, self.at);
        let kind = match self.why {
            Why::Syntax(expected) => ReadFaultKind::Syntax(expected),
            Why::Utf8 => ReadFaultKind::Utf8,
            Why::Surrogate => ReadFaultKind::Surrogate,
            Why::Duplicate { first } => {
                let end = skim::string_end(text, self.at).unwrap_or(text.len());
                let body = text.get(self.at + 1..end).unwrap_or_default();
                let name = String::from_utf8_lossy(&unescaped(body, true)).into_owned();
                pointer.push('/');
                // Writing to a `String` does not fail.
                let _ = write_escaped(&mut pointer, &name);
                ReadFaultKind::DuplicateName { name, first }
            }
            Why::Depth => limit(limits.subject, "depth", limits.depth_max),
            Why::Nodes(maximum) => limit(limits.subject, "nodes", maximum),
            Why::Digits => limit("", "number_digits", limits.number_digits_max),
            Why::Exponent => limit("", "number_exponent", limits.number_exponent_max),
        };
        ReadFault { kind, offset: self.at, pointer }
    }
}

/// The first byte, up to `at`, that is not UTF-8. The walk looks at UTF-8 last, but the earlier fault is named.
fn earlier_utf8_fault(text: &[u8], at: usize) -> Option<usize> {
    // Four more bytes hold the whole of a code point that starts at `at`.
    let before = text.get(..at + 4).unwrap_or(text);
    let error = std::str::from_utf8(before).err()?;
    let cut = error.error_len().is_none() && before.len() < text.len();
    (error.valid_up_to() <= at && !cut).then_some(error.valid_up_to())
}
