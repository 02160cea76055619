//! The reader: bytes onto a tape in one pass, without recursion.
//!
//! UTF-8, grammar, depth, counts, sizes of numbers and repeated names in every object are settled here. When the tape
//! is full the walk stops, the tape grows, and the walk goes on where it was; so its state is small and copied.
#![expect(clippy::cast_possible_truncation, reason = "text and values are bounded by what an entry holds")]

mod fault;

use super::fault::{ReadFault, ReadLimits};
use super::names::{Head, NameTable, earlier};
use super::number::Spelling;
use super::scan::{HIGH, below, byte, four, space, space_end, stops, string_end, two, word};
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
/// Strings of fewer bytes are read by words, longer ones by blocks.
const PLAIN_MAX: usize = 32;
/// What closes an object, in a [`Frame`].
const OBJECT_END: u64 = b'}' as u64;
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
    let nodes_left = limits.nodes_max.min(NODES_MAX);
    let mut state = State { at: space(text, 0), nodes_left, ..State::default() };
    let Scratch { tokens, frames, names } = scratch;
    // A value takes a byte at least.
    let is_counted = text.len() as u64 > nodes_left;
    loop {
        let walk = Walk { text, tokens, frames, names, limits };
        match if is_counted { walk.run::<true>(state) } else { walk.run::<false>(state) } {
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
    /// Values that may still begin, if they are counted.
    nodes_left: u64,
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
    /// Its closing bracket, 0 for the text. As wide as a word, since a frame with padding is copied in many pieces.
    close: u64,
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
    /// Values are `COUNTED` where the text could have too many.
    ///
    /// This loop is what the engine's speed hangs on. The next byte is carried along in `next`; members and items have
    /// loops of their own; what is rare is out of line.
    #[expect(
        clippy::too_many_lines,
        reason = "the state of the walk stays in registers only within one function"
    )]
    fn run<const COUNTED: bool>(self, state: State) -> Result<Pause, Fault> {
        let Walk { text, tokens, frames, names, limits } = self;
        // A strange limit sends every number the long way.
        let short = if limits.number_digits_max < SHORT_DIGITS_MAX { 0 } else { SHORT_DIGITS_MAX as usize };
        let State { mut at, mut entries, mut depth, mut nodes_left, mut bits, mut frame } = state;
        let mut next = byte(text, at);
        macro_rules! step {
            () => {
                at += 1;
                next = byte(text, at);
            };
        }
        macro_rules! skip_space {
            () => {
                if next <= b' ' {
                    at = space_end(text, at);
                    next = byte(text, at);
                }
            };
        }
        // Steps over the digits at hand, onto `$digits`.
        macro_rules! digits {
            ($digits:ident) => {
                while next.wrapping_sub(b'0') < 10 {
                    $digits = $digits.wrapping_mul(10).wrapping_add(u32::from(next - b'0'));
                    step!();
                }
            };
        }
        // Reads the value whose first byte is `next` onto `$slot`; goes to `$open` where that opens a container that is
        // not empty, and out of `$close` where it is empty. Then `next` is the byte after it.
        macro_rules! value {
            ($slot:expr, $open:lifetime, $close:lifetime) => {
                if COUNTED {
                    match nodes_left.checked_sub(1) {
                        Some(left) => nodes_left = left,
                        None => return Err(too_many(limits, at)),
                    }
                }
                if next == b'"' {
                    let body = at + 1;
                    let (length, string_bits) = plain_string(text, body);
                    bits |= string_bits;
                    let end = two(text, body + length);
                    if end as u8 == b'"' {
                        *$slot = Token::string(body, length, Escapes::None);
                        at = body + length + 1;
                        next = (end >> 8) as u8;
                    } else {
                        let (token, end, long_bits) = long_string(text, body, length)?;
                        *$slot = token;
                        at = end;
                        bits |= long_bits;
                        next = byte(text, at);
                    }
                } else if next <= b'9' {
                    let start = at;
                    let negative = next == b'-';
                    if negative {
                        step!();
                    }
                    let first = at;
                    let lead = next.wrapping_sub(b'0');
                    let mut digits = u32::from(lead);
                    step!();
                    if lead != 0 {
                        digits!(digits);
                    }
                    let (mut count, mut scale) = (at - first, 0);
                    if next == b'.' {
                        let point = at;
                        step!();
                        digits!(digits);
                        scale = at - point - 1;
                        count = if scale == 0 { usize::MAX } else { count + scale };
                    }
                    if lead < 10 && count <= short && next | 0x20 != b'e' {
                        let short = Short { negative, scale: scale as u8, digits };
                        *$slot = Token::short_number(start, at - start, short);
                    } else {
                        (*$slot, at) = long_number(text, start, limits)?;
                        next = byte(text, at);
                    }
                } else if next | 0x20 == b'{' {
                    // Where the container begins, until its end is known.
                    *$slot = Token::number(at, 0);
                    save(frames, limits, depth, frame, at)?;
                    depth += 1;
                    // The closing brackets are two after the opening ones in ASCII.
                    let close = u64::from(next) + 2;
                    frame = Frame { entry: entries as u32, count: 0, seen: 0, close };
                    entries += 1;
                    step!();
                    skip_space!();
                    if u64::from(next) == frame.close {
                        break $close;
                    }
                    continue $open;
                } else {
                    let (token, length) = literal(text, at)?;
                    *$slot = token;
                    at += length;
                    next = byte(text, at);
                }
                entries += 1;
                skip_space!();
            };
        }
        'open: loop {
            'close: {
                if frame.close == OBJECT_END {
                    loop {
                        let Some([name_slot, head_slot, value_slot]) = three(tokens, entries) else {
                            return Ok(Pause::Full(State { at, entries, depth, nodes_left, bits, frame }));
                        };
                        let name = name(text, at, next)?;
                        bits |= name.bits;
                        (at, next) = (name.end, name.next);
                        *name_slot = name.token;
                        *head_slot = Token::head(name.head.low, name.head.high);
                        let mut slot = value_slot;
                        frame.count += 1;
                        let bit = 1 << (name.head.hash >> 58);
                        if frame.seen & bit != 0 {
                            check_name(tokens, text, frame, entries)?;
                            let Some([_, _, again]) = three(tokens, entries) else { break 'open };
                            slot = again;
                        }
                        frame.seen |= bit;
                        entries += 2;
                        skip_space!();
                        value!(slot, 'open, 'close);
                        if next != b',' {
                            break;
                        }
                        step!();
                        skip_space!();
                    }
                } else {
                    loop {
                        let Some(slot) = tokens.get_mut(entries) else {
                            return Ok(Pause::Full(State { at, entries, depth, nodes_left, bits, frame }));
                        };
                        frame.count += 1;
                        value!(slot, 'open, 'close);
                        if next != b',' || depth == 0 {
                            break;
                        }
                        step!();
                        skip_space!();
                    }
                }
            }
            // The ends of what is open.
            loop {
                if u64::from(next) != frame.close || depth == 0 {
                    return finish(text, frame, at, entries, bits);
                }
                at += 1;
                depth -= 1;
                if frame.close == OBJECT_END && frame.count > EAGER_MEMBERS_MAX {
                    check_names(names, tokens.get(..entries).unwrap_or_default(), text, frame)?;
                }
                close(tokens, entries, frame, at);
                frame = frames.get(depth).copied().unwrap_or_default();
                next = byte(text, at);
                skip_space!();
                if next == b',' && depth > 0 {
                    step!();
                    skip_space!();
                    continue 'open;
                }
            }
        }
        // INVARIANT: the room of a member does not go away while it is read.
        Err(too_many(limits, at))
    }
}

#[cold]
fn too_many(limits: &ReadLimits, at: usize) -> Fault {
    Fault { why: Why::Nodes(limits.nodes_max.min(NODES_MAX)), at }
}

/// Keeps the frame of what stays open around a container that opens at `at`.
#[inline]
fn save(
    frames: &mut Vec<Frame>,
    limits: &ReadLimits,
    depth: usize,
    frame: Frame,
    at: usize,
) -> Result<(), Fault> {
    if depth as u64 >= limits.depth_max {
        return Err(Fault { why: Why::Depth, at });
    }
    match frames.get_mut(depth) {
        Some(slot) => *slot = frame,
        None => frames.push(frame),
    }
    Ok(())
}

/// Writes the entry of a container that ends before `end`.
#[inline]
fn close(tokens: &mut [Token], entries: usize, frame: Frame, end: usize) {
    if let Some(slot) = tokens.get_mut(frame.entry as usize) {
        let kind = if frame.close == OBJECT_END { kind::OBJECT } else { kind::ARRAY };
        let offset = slot.offset();
        *slot = Token::container(offset, end - offset, kind, frame.count, entries);
    }
}

/// Refuses an object of many members, complete on the tape, in which a name stands twice.
#[inline(never)]
fn check_names(names: &mut NameTable, tokens: &[Token], text: &[u8], frame: Frame) -> Result<(), Fault> {
    match names.repeated(tokens, text, frame.entry as usize + 1, frame.count as usize) {
        Some((first, second)) => Err(duplicate(tokens, first, second)),
        None => Ok(()),
    }
}

/// Refuses the name at `entry` if it has been in its object before. Of large objects, that is found at their end.
#[inline(never)]
fn check_name(tokens: &[Token], text: &[u8], frame: Frame, entry: usize) -> Result<(), Fault> {
    if frame.count > EAGER_MEMBERS_MAX {
        return Ok(());
    }
    match earlier(tokens, text, frame.entry as usize + 1, entry) {
        Some(first) => Err(duplicate(tokens, first, entry)),
        None => Ok(()),
    }
}

#[cold]
fn duplicate(tokens: &[Token], first: usize, second: usize) -> Fault {
    let quote = |entry| tokens.get(entry).map_or(0, |token: &Token| token.offset() - 1);
    Fault { why: Why::Duplicate { first: quote(first) }, at: quote(second) }
}

/// The end of the walk, if that is where the text ends.
#[inline(never)]
fn finish(text: &[u8], frame: Frame, at: usize, entries: usize, bits: u64) -> Result<Pause, Fault> {
    match frame.close {
        0 if at == text.len() => {}
        0 => return Err(Fault::expected("the end of the text", at)),
        OBJECT_END => return Err(Fault::expected("`,` or `}`", at)),
        _ => return Err(Fault::expected("`,` or `]`", at)),
    }
    if bits & HIGH != 0
        && let Err(error) = simdutf8::compat::from_utf8(text)
    {
        return Err(Fault { why: Why::Utf8, at: error.valid_up_to() });
    }
    Ok(Pause::Done(entries))
}

/// The three entries from `at` on, if there are so many.
#[inline]
fn three(tokens: &mut [Token], at: usize) -> Option<&mut [Token; 3]> {
    tokens.get_mut(at..)?.first_chunk_mut()
}

/// How many bytes of the string whose body starts at `body` are plain, up to [`PLAIN_MAX`], and these bytes or-ed.
#[inline]
fn plain_string(text: &[u8], body: usize) -> (usize, u64) {
    let first = word(text, body);
    let stop = stops(first);
    if stop != 0 { ((stop.trailing_zeros() >> 3) as usize, first) } else { plain_words(text, body, first) }
}

/// The same where the first eight bytes are plain.
#[inline(never)]
fn plain_words(text: &[u8], body: usize, mut bits: u64) -> (usize, u64) {
    let mut length = 8;
    while length < PLAIN_MAX {
        let word = word(text, body + length);
        let stop = stops(word);
        bits |= word;
        if stop != 0 {
            return (length + (stop.trailing_zeros() >> 3) as usize, bits);
        }
        length += 8;
    }
    (length, bits)
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
    /// The index after its colon, and the byte there.
    end: usize,
    next: u8,
    /// Its bytes or-ed.
    bits: u64,
}

/// The name at `at`, where `quote` stands.
#[inline(always)]
#[expect(
    clippy::inline_always,
    reason = "out of line, its parts go through memory: a fifth more for an array of objects"
)]
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
    // A value and a bracket follow, so that there are four bytes in a good text.
    let tail = four(text, body + length);
    if tail as u16 != u16::from_le_bytes(*b"\":") {
        return long_name(text, body);
    }
    let token = Token::name(body, length, Escapes::None, head.hash);
    Ok(ReadName { token, head, end: body + length + 2, next: (tail >> 16) as u8, bits })
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
    Ok(ReadName { token, head, end: colon + 1, next: byte(text, colon + 1), bits: end.bits })
}

#[inline(never)]
fn long_number(text: &[u8], at: usize, limits: &ReadLimits) -> Result<(Token, usize), Fault> {
    if !matches!(byte(text, at), b'-' | b'0'..=b'9') {
        return Err(Fault::expected("a value", at));
    }
    let spelling = Spelling::scan(text, at).map_err(|at| Fault::expected("a digit", at))?;
    if spelling.digits as u64 > limits.number_digits_max {
        return Err(Fault { why: Why::Digits, at });
    }
    if spelling.exponent.is_some_and(|exponent| exponent.unsigned_abs() > limits.number_exponent_max) {
        return Err(Fault { why: Why::Exponent, at });
    }
    Ok((Token::number(at, spelling.end - at), spelling.end))
}

/// A literal, and its length.
#[inline]
fn literal(text: &[u8], at: usize) -> Result<(Token, usize), Fault> {
    match four(text, at).to_le_bytes() {
        [b't', b'r', b'u', b'e'] => Ok((Token::literal(at, 4, kind::BOOL, true), 4)),
        [b'n', b'u', b'l', b'l'] => Ok((Token::literal(at, 4, kind::NULL, false), 4)),
        [b'f', b'a', b'l', b's'] if byte(text, at + 4) == b'e' => {
            Ok((Token::literal(at, 5, kind::BOOL, false), 5))
        }
        _ => Err(Fault::expected("a value", at)),
    }
}
