//! The reader: bytes onto a tape in one pass, without recursion.
//!
//! UTF-8, grammar, depth, counts, sizes of numbers and repeated names in every object are settled here. When the tape
//! is full the walk stops, the tape grows, and the walk goes on where it was; so its state is small and copied.
#![expect(clippy::cast_possible_truncation, reason = "text and values are bounded by what an entry holds")]

mod fault;

use super::fault::{ReadFault, ReadLimits};
use super::names::{Head, NameTable, earlier};
use super::number::Spelling;
use super::scan::{HIGH, below, byte, space, space_end, stops, string_end, word};
use super::text::unescaped;
use super::token::{Escapes, NODES_MAX, Short, TEXT_BYTES_MAX, Token, kind};
use fault::{Fault, Why, limit};

/// What reading needs besides the text, used again and again.
#[derive(Debug, Clone, Default)]
pub(super) struct Scratch {
    pub(super) tokens: Vec<Token>,
    frames: Vec<Frame>,
    names: NameTable,
}

impl Scratch {
    pub(super) fn bytes(&self) -> usize {
        self.tokens.capacity() * size_of::<Token>()
            + self.frames.capacity() * size_of::<Frame>()
            + self.names.bytes()
    }
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
                let size = grown(tokens.len(), &state, text.len());
                tokens.reserve_exact(size - tokens.len());
                tokens.resize(size, Token::default());
            }
            Err(fault) => return Err(fault.describe(text, limits)),
        }
    }
}

/// The next size of a tape that is full: what the rest of the text needs if it is like what was read, with a margin;
/// twice the size at most, so that a text that is dense at first does not take too much.
fn grown(entries: usize, state: &State, length: usize) -> usize {
    let needed = (entries as u64).saturating_mul(length as u64) / (state.at as u64).max(1);
    let needed = usize::try_from(needed + needed / 16).unwrap_or(usize::MAX);
    needed.clamp(entries + entries / 4, entries * 2)
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
    ///
    /// This loop is what the engine's speed hangs on. The next byte is carried along in `next`; members and items have
    /// loops of their own; what is rare is out of line.
    #[expect(
        clippy::too_many_lines,
        reason = "the state of the walk stays in registers only within one function"
    )]
    fn run(&mut self, state: State) -> Result<Pause, Fault> {
        let text = self.text;
        let nodes_max = self.limits.nodes_max.min(NODES_MAX);
        // A strange limit sends every number the long way.
        let short =
            if self.limits.number_digits_max < SHORT_DIGITS_MAX { 0 } else { SHORT_DIGITS_MAX as usize };
        let State { mut at, mut entries, mut depth, mut nodes, mut bits, mut frame } = state;
        let mut next = byte(text, at);
        macro_rules! skip_space {
            () => {
                if next <= b' ' {
                    at = space_end(text, at);
                    next = byte(text, at);
                }
            };
        }
        // Reads the value whose first byte is `next` onto `$slot`; goes to `$open` where that opens a container that is
        // not empty, and out of `$close` where it is empty. Then `next` is the byte after it.
        macro_rules! value {
            ($slot:expr, $open:lifetime, $close:lifetime) => {
                nodes += 1;
                if nodes > nodes_max {
                    return Err(Fault { why: Why::Nodes(nodes_max), at });
                }
                match next {
                    b'"' => {
                        let body = at + 1;
                        let (length, string_bits) = plain_string(text, body);
                        let token;
                        match text.get(cut(body + length)..cut(body + length + 2)) {
                            Some(&[b'"', after]) => {
                                bits |= string_bits;
                                token = Token::string(body, length, Escapes::None);
                                at = body + length + 1;
                                next = after;
                            }
                            _ => {
                                let long_bits;
                                (token, at, long_bits) = long_string(text, body, length)?;
                                bits |= string_bits | long_bits;
                                next = byte(text, at);
                            }
                        }
                        *$slot = token;
                        entries += 1;
                    }
                    b'{' | b'[' => {
                        // Where the container begins, until its end is known.
                        *$slot = Token::number(at, 0);
                        self.save(depth, frame, at)?;
                        depth += 1;
                        // The closing brackets are two after the opening ones in ASCII.
                        frame = Frame { entry: entries as u32, count: 0, seen: 0, close: next + 2 };
                        entries += 1;
                        at += 1;
                        next = byte(text, at);
                        skip_space!();
                        if next == frame.close {
                            break $close;
                        }
                        continue $open;
                    }
                    b'-' | b'0'..=b'9' => {
                        let start = at;
                        let negative = next == b'-';
                        if negative {
                            at += 1;
                            next = byte(text, at);
                        }
                        let first = at;
                        let lead = next.wrapping_sub(b'0');
                        let mut digits = u32::from(lead);
                        at += 1;
                        next = byte(text, at);
                        if lead != 0 {
                            while next.wrapping_sub(b'0') < 10 {
                                digits = digits.wrapping_mul(10).wrapping_add(u32::from(next - b'0'));
                                at += 1;
                                next = byte(text, at);
                            }
                        }
                        let token;
                        if lead < 10 && at - first <= short && next != b'.' && next | 0x20 != b'e' {
                            token = Token::short_number(start, at - start, Short { negative, scale: 0, digits });
                        } else {
                            (token, at) = number(text, start, self.limits)?;
                            next = byte(text, at);
                        }
                        *$slot = token;
                        entries += 1;
                    }
                    _ => {
                        let token = literal(text, at)?;
                        *$slot = token;
                        entries += 1;
                        at = token.end();
                        next = byte(text, at);
                    }
                }
                skip_space!();
            };
        }
        'open: loop {
            'close: {
                if frame.close == b'}' {
                    loop {
                        let Some([name_slot, head_slot, _]) =
                            self.tokens.get_mut(cut(entries)..cut(entries + 3))
                        else {
                            return Ok(Pause::Full(State { at, entries, depth, nodes, bits, frame }));
                        };
                        let name = name(text, at, next)?;
                        bits |= name.bits;
                        at = name.end;
                        next = byte(text, at);
                        *name_slot = name.token;
                        *head_slot = Token::head(name.head.low, name.head.high);
                        frame.count += 1;
                        if frame.count <= EAGER_MEMBERS_MAX {
                            let bit = 1 << (name.head.hash >> 58);
                            if frame.seen & bit != 0 {
                                self.check_name(&frame, entries)?;
                            }
                            frame.seen |= bit;
                        }
                        entries += 2;
                        skip_space!();
                        let Some(slot) = self.tokens.get_mut(cut(entries)) else { break 'open };
                        value!(slot, 'open, 'close);
                        if next != b',' {
                            break;
                        }
                        at += 1;
                        next = byte(text, at);
                        skip_space!();
                    }
                } else {
                    loop {
                        let Some(slot) = self.tokens.get_mut(cut(entries)) else {
                            return Ok(Pause::Full(State { at, entries, depth, nodes, bits, frame }));
                        };
                        frame.count += 1;
                        value!(slot, 'open, 'close);
                        if next != b',' || depth == 0 {
                            break;
                        }
                        at += 1;
                        next = byte(text, at);
                        skip_space!();
                    }
                }
            }
            // The ends of what is open.
            loop {
                if next != frame.close || depth == 0 {
                    return self.finish(frame, at, entries, bits);
                }
                at += 1;
                depth -= 1;
                frame = self.close(entries, frame, at, depth)?;
                next = byte(text, at);
                skip_space!();
                if next == b',' && depth > 0 {
                    at += 1;
                    next = byte(text, at);
                    skip_space!();
                    continue 'open;
                }
            }
        }
        // INVARIANT: a member has room for three entries before it begins.
        Err(Fault { why: Why::Nodes(nodes_max), at })
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

    /// Refuses the name at `entry` if it has been in its object before.
    #[inline(never)]
    fn check_name(&self, frame: &Frame, entry: usize) -> Result<(), Fault> {
        match earlier(self.tokens, self.text, frame.entry as usize + 1, entry) {
            Some(first) => Err(self.duplicate(first, entry)),
            None => Ok(()),
        }
    }

    #[cold]
    fn duplicate(&self, first: usize, second: usize) -> Fault {
        let quote = |entry| self.tokens.get(entry).map_or(0, |token: &Token| token.offset() - 1);
        Fault { why: Why::Duplicate { first: quote(first) }, at: quote(second) }
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

/// An index of the tape or the text, which both have fewer than 2^32 parts; the cut tells the compiler that what is added
/// to it does not overflow.
#[inline]
const fn cut(index: usize) -> usize {
    index as u32 as usize
}

/// How many bytes of the string whose body starts at `body` are plain, up to sixteen, and these bytes or-ed.
#[inline]
fn plain_string(text: &[u8], body: usize) -> (usize, u64) {
    let first = word(text, body);
    let stop = stops(first);
    if stop != 0 {
        return ((stop.trailing_zeros() >> 3) as usize, first);
    }
    let second = word(text, body + 8);
    (8 + (stops(second).trailing_zeros() >> 3) as usize, first | second)
}

/// The string whose body starts at `body` and whose first bytes are plain, whatever else it has; the index after it, and
/// the other bytes or-ed.
#[inline(never)]
fn long_string(text: &[u8], body: usize, plain: usize) -> Result<(Token, usize, u64), Fault> {
    let Some(end) = string_end(text, body + plain) else { return Err(Fault::string(text, body)) };
    Ok((Token::string(body, end.quote - body, end.escapes), end.quote + 1, end.bits))
}

/// A member's name.
struct ReadName {
    token: Token,
    head: Head,
    /// The index after its colon.
    end: usize,
    /// Its bytes or-ed.
    bits: u64,
}

/// The name at `at`, where `quote` stands.
#[inline]
fn name(text: &[u8], at: usize, quote: u8) -> Result<ReadName, Fault> {
    if quote != b'"' {
        return Err(Fault::expected("a name in quotes", at));
    }
    let body = at + 1;
    let first = word(text, body);
    let stop = stops(first);
    let (length, bits, head);
    if stop != 0 {
        length = (stop.trailing_zeros() >> 3) as usize;
        bits = first;
        head = Head::short(first & below(stop), 0);
    } else {
        let second = word(text, body + 8);
        let stop = stops(second);
        length = 8 + (stop.trailing_zeros() >> 3) as usize;
        bits = first | second;
        head = Head::short(first, second & below(stop));
    }
    if length < 16 && text.get(cut(body + length)..cut(body + length + 2)) == Some(b"\":") {
        let token = Token::name(body, length, Escapes::None, head.hash);
        return Ok(ReadName { token, head, end: body + length + 2, bits });
    }
    long_name(text, body)
}

#[inline(never)]
fn long_name(text: &[u8], body: usize) -> Result<ReadName, Fault> {
    let Some(end) = string_end(text, body) else { return Err(Fault::string(text, body)) };
    let raw = text.get(body..end.quote).unwrap_or_default();
    let head = Head::of(&unescaped(raw, end.escapes != Escapes::None));
    let colon = space(text, end.quote + 1);
    if byte(text, colon) != b':' {
        return Err(Fault::expected("`:`", colon));
    }
    let token = Token::name(body, raw.len(), end.escapes, head.hash);
    Ok(ReadName { token, head, end: colon + 1, bits: end.bits })
}

#[inline]
fn number(text: &[u8], at: usize, limits: &ReadLimits) -> Result<(Token, usize), Fault> {
    // A short number has at most nine digits, so that only a strange limit needs to look at it.
    match short_number(text, at) {
        Some(number) if limits.number_digits_max >= SHORT_DIGITS_MAX => Ok(number),
        _ => long_number(text, at, limits),
    }
}

#[inline(never)]
fn long_number(text: &[u8], at: usize, limits: &ReadLimits) -> Result<(Token, usize), Fault> {
    let spelling = Spelling::scan(text, at).map_err(|at| Fault::expected("a digit", at))?;
    if spelling.digits as u64 > limits.number_digits_max {
        return Err(Fault { why: Why::Digits, at });
    }
    if spelling.exponent.is_some_and(|exponent| exponent.unsigned_abs() > limits.number_exponent_max) {
        return Err(Fault { why: Why::Exponent, at });
    }
    Ok((Token::number(at, spelling.end - at), spelling.end))
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
