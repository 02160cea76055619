//! A tolerant scan of a frame that the strict reader did not take, or that is too long to keep: finds what is needed
//! to answer it, in constant memory, from pieces of any size.
//!
//! Nothing that is found here is ever forwarded; it only chooses who is told that a frame was refused.

use std::ops::Range;

use callgate_schema::json::{ReadLimits, Tape};

use crate::RequestId;

/// Bytes that are kept of a member's name. Every name that matters is shorter, also when each letter is escaped.
const NAME_BYTES_MAX: usize = 64;
/// Bytes that are kept of a method's name.
const METHOD_BYTES_MAX: usize = 256;

/// What a text is, by its first byte that is no white space.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Form {
    /// There is none.
    #[default]
    Nothing,
    /// An object.
    Object,
    /// An array.
    Array,
    /// Something else.
    Other,
}

/// What a scan found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Scan {
    /// What the text is.
    pub form: Form,
    /// The object's brackets and strings close.
    pub closed: bool,
    /// The id, if exactly one member of that name is there and its value can be an id.
    pub id: Option<RequestId>,
    /// Members with the name `id`, usable or not.
    pub ids: usize,
    /// The value of `method`, if exactly one is there and it is a string.
    pub method: Option<String>,
    /// There is a member `result`.
    pub result: bool,
    /// There is a member `error`.
    pub error: bool,
    /// Where the value of `arguments` in `params` is, if exactly one is there. Up to the end where it is cut off.
    pub arguments: Option<Range<usize>>,
    /// Bytes that were scanned.
    pub bytes: usize,
}

/// Where the scanner is in the object that it is directly in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Expect {
    Name,
    Colon,
    Value,
    After,
}

/// The members whose values matter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Slot {
    Id,
    Method,
    Params,
    Arguments,
    Other,
}

/// The scanner: fed with the pieces of one line.
#[derive(Debug)]
pub struct Scanner {
    found: Scan,
    id_bytes_max: usize,
    methods: usize,
    arguments_seen: usize,
    depth: usize,
    /// What is expected at depth 1, and at depth 2 inside `params`.
    expect: [Expect; 2],
    slot: [Slot; 2],
    in_params: bool,
    in_string: bool,
    escaped: bool,
    /// The bytes of the name or value that is being kept, and how many may be.
    kept: Vec<u8>,
    keep_max: usize,
    keeping: Option<Keep>,
    arguments_from: Option<usize>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Keep {
    Name(usize),
    Value(Slot),
}

impl Scanner {
    /// A scanner at the start of a line, for ids of at most `id_bytes_max` bytes.
    pub fn new(id_bytes_max: usize) -> Scanner {
        Scanner {
            found: Scan::default(),
            id_bytes_max,
            methods: 0,
            arguments_seen: 0,
            depth: 0,
            expect: [Expect::Name; 2],
            slot: [Slot::Other; 2],
            in_params: false,
            in_string: false,
            escaped: false,
            kept: Vec::new(),
            keep_max: 0,
            keeping: None,
            arguments_from: None,
        }
    }

    /// Scans one whole text.
    pub fn scan(text: &[u8], id_bytes_max: usize) -> Scan {
        let mut scanner = Scanner::new(id_bytes_max);
        scanner.feed(text);
        scanner.finish()
    }

    /// Takes the next piece.
    pub fn feed(&mut self, piece: &[u8]) {
        for &byte in piece {
            if !self.found.closed {
                self.byte(byte);
            }
            self.found.bytes += 1;
        }
    }

    /// What was found.
    pub fn finish(mut self) -> Scan {
        // A value that is still open is cut off: half of an id is another id.
        if self.found.ids != 1 {
            self.found.id = None;
        }
        if self.methods != 1 {
            self.found.method = None;
        }
        if let Some(from) = self.arguments_from.take() {
            self.found.arguments = Some(from..self.found.bytes);
        }
        if self.arguments_seen != 1 {
            self.found.arguments = None;
        }
        self.found
    }

    fn byte(&mut self, byte: u8) {
        if self.in_string {
            self.string_byte(byte);
            return;
        }
        match byte {
            b' ' | b'\t' | b'\r' | b'\n' => self.end_value_if_scalar(),
            b'"' => self.open_string(),
            b'{' | b'[' => self.open(byte),
            b'}' | b']' => self.close(),
            b':' => self.colon(),
            b',' => self.comma(),
            _ => self.scalar_byte(byte),
        }
    }

    /// The level whose members matter: 0 in the top object, 1 in `params`.
    fn level(&self) -> Option<usize> {
        match self.depth {
            1 if self.found.form == Form::Object => Some(0),
            2 if self.in_params => Some(1),
            _ => None,
        }
    }

    fn expected(&self, level: usize) -> Expect {
        self.expect.get(level).copied().unwrap_or(Expect::After)
    }

    fn set(&mut self, level: usize, expect: Expect) {
        if let Some(slot) = self.expect.get_mut(level) {
            *slot = expect;
        }
    }

    fn keep(&mut self, what: Keep, max: usize) {
        self.kept.clear();
        self.keep_max = max;
        self.keeping = Some(what);
    }

    fn push_kept(&mut self, byte: u8) {
        // One more than the maximum is kept, so that what is too long is not taken for something short.
        if self.keeping.is_some() && self.kept.len() <= self.keep_max {
            self.kept.push(byte);
        }
    }

    fn string_byte(&mut self, byte: u8) {
        self.push_kept(byte);
        if self.escaped {
            self.escaped = false;
        } else if byte == b'\\' {
            self.escaped = true;
        } else if byte == b'"' {
            self.in_string = false;
            self.end_string();
        }
    }

    fn open_string(&mut self) {
        self.in_string = true;
        if self.found.form == Form::Nothing {
            self.found.form = Form::Other;
        }
        if let Some(level) = self.level() {
            match self.expected(level) {
                Expect::Name => self.keep(Keep::Name(level), NAME_BYTES_MAX),
                Expect::Value => self.begin_value(level),
                Expect::Colon | Expect::After => {}
            }
        }
        self.push_kept(b'"');
    }

    fn end_string(&mut self) {
        match self.keeping {
            Some(Keep::Name(level)) => {
                let slot = self.name_slot(level);
                if let Some(place) = self.slot.get_mut(level) {
                    *place = slot;
                }
                self.set(level, Expect::Colon);
                self.keeping = None;
            }
            Some(Keep::Value(_)) => self.end_value(),
            None => {}
        }
    }

    fn name_slot(&mut self, level: usize) -> Slot {
        let name = if self.kept.len() > NAME_BYTES_MAX { None } else { unescape(&self.kept) };
        match (level, name.as_deref()) {
            (0, Some("id")) => Slot::Id,
            (0, Some("method")) => Slot::Method,
            (0, Some("params")) => Slot::Params,
            (0, Some("result")) => {
                self.found.result = true;
                Slot::Other
            }
            (0, Some("error")) => {
                self.found.error = true;
                Slot::Other
            }
            (1, Some("arguments")) => Slot::Arguments,
            _ => Slot::Other,
        }
    }

    fn begin_value(&mut self, level: usize) {
        self.set(level, Expect::After);
        match self.slot.get(level).copied().unwrap_or(Slot::Other) {
            Slot::Id => {
                self.found.ids += 1;
                self.keep(Keep::Value(Slot::Id), self.id_bytes_max);
            }
            Slot::Method => {
                self.methods += 1;
                self.keep(Keep::Value(Slot::Method), METHOD_BYTES_MAX);
            }
            Slot::Arguments => {
                self.arguments_seen += 1;
                self.arguments_from = Some(self.found.bytes);
            }
            Slot::Params | Slot::Other => {}
        }
    }

    fn end_value(&mut self) {
        let Some(Keep::Value(slot)) = self.keeping.take() else { return };
        match slot {
            Slot::Id => self.found.id = RequestId::parse(&self.kept, self.id_bytes_max),
            Slot::Method => self.found.method = unescape(&self.kept),
            Slot::Params | Slot::Arguments | Slot::Other => {}
        }
    }

    fn end_value_if_scalar(&mut self) {
        if self.keeping.is_some() && !self.kept.is_empty() && self.depth <= 1 {
            self.end_value();
        }
    }

    fn end_arguments(&mut self) {
        if let Some(from) = self.arguments_from.take() {
            self.found.arguments = Some(from..self.found.bytes);
        }
    }

    fn scalar_byte(&mut self, byte: u8) {
        if self.found.form == Form::Nothing {
            // Neither an object nor an array: nothing in it can matter.
            self.found.form = Form::Other;
            self.found.closed = true;
            return;
        }
        if let Some(level) = self.level()
            && self.expected(level) == Expect::Value
        {
            self.begin_value(level);
        }
        self.push_kept(byte);
    }

    fn open(&mut self, byte: u8) {
        if self.found.form == Form::Nothing {
            self.found.form = if byte == b'{' { Form::Object } else { Form::Array };
            self.found.closed = byte == b'[';
            self.depth = 1;
            return;
        }
        if let Some(level) = self.level()
            && self.expected(level) == Expect::Value
        {
            let params = level == 0 && self.slot.first() == Some(&Slot::Params);
            self.begin_value(level);
            if params && byte == b'{' {
                self.in_params = true;
                self.set(1, Expect::Name);
            }
        }
        self.push_kept(byte);
        self.depth += 1;
    }

    fn close(&mut self) {
        if self.depth == 2 && self.in_params {
            self.end_arguments();
            self.in_params = false;
        }
        if self.depth == 1 {
            self.end_value();
            self.found.closed = true;
        }
        self.push_kept(b'}');
        self.depth = self.depth.saturating_sub(1);
    }

    fn colon(&mut self) {
        if let Some(level) = self.level()
            && self.expected(level) == Expect::Colon
        {
            self.set(level, Expect::Value);
        }
    }

    fn comma(&mut self) {
        let Some(level) = self.level() else { return };
        if level == 0 {
            self.end_value();
        } else {
            self.end_arguments();
        }
        self.set(level, Expect::Name);
    }
}

/// The text of a JSON string, if it is one.
fn unescape(raw: &[u8]) -> Option<String> {
    let limits = ReadLimits {
        subject: "name",
        bytes_max: raw.len() as u64,
        depth_max: 0,
        nodes_max: 1,
        number_digits_max: 1,
        number_exponent_max: 1,
    };
    let mut tape = Tape::new();
    let node = tape.read(raw, &limits).ok()?;
    node.as_str().map(std::borrow::Cow::into_owned)
}
