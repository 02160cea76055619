//! The flags of a command line, read by a tool's schema.
//!
//! ```text
//! --name value   --name=value   name=value      all the same
//! --name                                        true, where a boolean is wanted
//! --name a --name b                             the items of an array
//! --name null                                   null, where that is allowed
//! ```
//!
//! Each value is a text at first, and the whole is then coerced: numbers by the grammar of JSON, objects and arrays as
//! JSON text, and a text where a text is wanted, untouched.

use crate::coerce::standard::{Flat, Kinds};
use crate::coerce::{Coercion, Form, Stop};
use crate::json::{Tape, write_string};
use crate::keywords::properties::advice;
use crate::program::BlockId;
use crate::types::TypeSet;
use crate::{Code, Finding, Location, Program, Step, Work};

/// The root of every program.
const ROOT: BlockId = BlockId(0);
/// Bytes of a name in a message.
const NAME_BYTES_MAX: usize = 64;

impl Program {
    /// The arguments, as JSON text, that flags stand for: those of a command line after the name of a tool. The text is
    /// not checked: what does not fit is left as the text it was, so that [`Program::check`] says what is wrong with it.
    ///
    /// The forms are `--name value`, `--name=value` and `name=value`; `--name` alone for a boolean; a flag several times,
    /// or JSON text, for an array; `--name null` where null is allowed. A value that begins with two dashes needs the
    /// form with `=`.
    ///
    /// # Errors
    /// A finding with code [`Code::FlagUnknown`] for a flag that the schema does not declare, by name, pattern or a
    /// schema for all others; [`Code::FlagMalformed`] for a flag without a value, a word that is no flag, or a flag given
    /// twice where no array is wanted; or that of a limit. No finding holds a value.
    ///
    /// ```
    /// use callgate_schema::{Options, Profile, Program};
    /// let schema = br#"{"type": "object", "properties": {
    ///     "symbol": {"type": "string"}, "limit": {"type": "integer"}, "dry": {"type": "boolean"},
    ///     "tag": {"type": "array", "items": {"type": "string"}}}}"#;
    /// let program = Program::compile(schema, &Options::tool(Profile::Standard)).expect("it is enforceable");
    /// let arguments = program.read_flags(&["symbol=007", "--limit", "5", "--dry", "--tag", "a", "--tag=b"]);
    /// assert_eq!(arguments.expect("they are flags"), br#"{"symbol":"007","limit":5,"dry":true,"tag":["a","b"]}"#);
    /// assert!(program.read_flags(&["--limt", "5"]).is_err());
    /// ```
    pub fn read_flags<T: AsRef<str>>(&self, flags: &[T]) -> Result<Vec<u8>, Box<Finding>> {
        let limits = &self.parts.limits;
        let mut reader =
            Reader { kinds: Kinds::of(self), work: Work::new(limits.work_for(0)), flags: Vec::new() };
        let mut rest = flags.iter().map(AsRef::as_ref).enumerate().peekable();
        while let Some((number, word)) = rest.next() {
            let (name, value) = flag(number, word)?;
            let types = reader.types(name).map_err(|stop| Box::new(stop.finding(limits, None)))?;
            let types = types.ok_or_else(|| Box::new(unknown(&reader.kinds, word, name)))?;
            let value = match value {
                Some(value) => Value::Text(value),
                None => match rest.next_if(|(_, next)| takes(types, next)) {
                    Some((_, next)) => Value::Text(next),
                    None if types.overlaps(TypeSet::BOOLEAN) => Value::True,
                    None => return Err(Box::new(without_value(name))),
                },
            };
            reader.add(name, types, value)?;
        }
        let text = reader.arguments();
        let mut tape = Tape::new();
        let arguments =
            tape.read(&text, &limits.arguments_text()).map_err(|fault| Box::new(fault.finding()))?;
        let coercion = Coercion { form: Form::Standard(reader.kinds), limits: limits.clone() };
        Ok(coercion.coerce(arguments)?.bytes.into_owned())
    }
}

struct Reader<'f> {
    kinds: Kinds,
    work: Work,
    /// In the order of their first occurrence.
    flags: Vec<Flag<'f>>,
}

struct Flag<'f> {
    name: &'f str,
    types: TypeSet,
    values: Vec<Value<'f>>,
}

#[derive(Clone, Copy)]
enum Value<'f> {
    Text(&'f str),
    True,
}

impl<'f> Reader<'f> {
    /// The types that an argument may have; `None` if there is none of that name.
    fn types(&mut self, name: &str) -> Result<Option<TypeSet>, Stop> {
        if let Some(known) = self.flags.iter().find(|flag| flag.name == name) {
            return Ok(Some(known.types));
        }
        let mut text = b"{".to_vec();
        write_string(&mut text, name);
        text.extend_from_slice(b":null}");
        let mut tape = Tape::new();
        let limits = crate::Limits::default().arguments_text();
        let Ok(value) = tape.read(&text, &limits) else { return Ok(None) };
        let Some(member) = value.members().next() else { return Ok(None) };
        let mut flat = Flat::default();
        self.kinds.flatten(ROOT, value, &mut flat);
        let mut blocks = Vec::new();
        flat.of_member(self.kinds.parts(), member, &mut self.work, &mut blocks)?;
        if !blocks.is_empty() {
            return Ok(Some(self.kinds.types(&blocks)));
        }
        // What only alternatives or conditions speak of may be what any of them says.
        let mut branches: Vec<BlockId> = Vec::new();
        branches.extend(flat.alternatives.iter().flat_map(|alternatives| alternatives.blocks));
        branches.extend(flat.conditions.iter().flat_map(|rule| [rule.then, rule.otherwise]).flatten());
        let mut types = None;
        for branch in branches {
            let mut flat = Flat::default();
            self.kinds.flatten(branch, value, &mut flat);
            flat.of_member(self.kinds.parts(), member, &mut self.work, &mut blocks)?;
            if !blocks.is_empty() {
                types = Some(self.kinds.types(&blocks).union(types.unwrap_or(TypeSet::EMPTY)));
            }
        }
        Ok(types)
    }

    fn add(&mut self, name: &'f str, types: TypeSet, value: Value<'f>) -> Result<(), Box<Finding>> {
        let Some(known) = self.flags.iter_mut().find(|flag| flag.name == name) else {
            self.flags.push(Flag { name, types, values: vec![value] });
            return Ok(());
        };
        if !types.overlaps(TypeSet::ARRAY) {
            let message = format!("expected the flag `{}` once, found it twice", shown(name));
            let finding = Finding::new(Code::FlagMalformed, message)
                .with_help("only an argument that may be an array takes several values")
                .at_instance(at(name));
            return Err(Box::new(finding));
        }
        known.values.push(value);
        Ok(())
    }

    /// All of them as one object of texts and lists of texts.
    fn arguments(&self) -> Vec<u8> {
        let mut out = b"{".to_vec();
        for (number, flag) in self.flags.iter().enumerate() {
            if number > 0 {
                out.push(b',');
            }
            write_string(&mut out, flag.name);
            out.push(b':');
            match flag.values.as_slice() {
                [only] if !is_item(flag.types, *only) => write(&mut out, flag.types, *only),
                values => {
                    for (number, value) in values.iter().enumerate() {
                        out.push(if number == 0 { b'[' } else { b',' });
                        write(&mut out, TypeSet::EMPTY, *value);
                    }
                    out.push(b']');
                }
            }
        }
        out.push(b'}');
        out
    }
}

/// The name of a flag, and its value if that is joined to it.
fn flag(number: usize, word: &str) -> Result<(&str, Option<&str>), Box<Finding>> {
    let dashed = word.strip_prefix("--");
    let (name, value) = match dashed.unwrap_or(word).split_once('=') {
        Some((name, value)) => (name, Some(value)),
        None => (dashed.unwrap_or_default(), None),
    };
    if name.is_empty() {
        let message =
            format!("expected `--name value` or `name=value`, found another word at place {}", number + 1);
        let finding = Finding::new(Code::FlagMalformed, message)
            .with_help("put the name of the argument before the value")
            .at_instance(Location::default());
        return Err(Box::new(finding));
    }
    Ok((name, value))
}

/// Whether the next word is the flag's value. Where only a boolean is wanted, that is one of its own words.
fn takes(types: TypeSet, next: &str) -> bool {
    let boolean = TypeSet::BOOLEAN.union(TypeSet::NULL);
    if types.overlaps(TypeSet::BOOLEAN) && types.intersection(boolean) == types {
        return matches!(next, "true" | "false") || (next == "null" && types.overlaps(TypeSet::NULL));
    }
    !next.starts_with("--")
}

/// Whether a flag that is given once is an item of its array: if the array is not written as JSON.
fn is_item(types: TypeSet, value: Value<'_>) -> bool {
    let Value::Text(text) = value else { return false };
    let is_null = text == "null" && types.overlaps(TypeSet::NULL);
    types.overlaps(TypeSet::ARRAY)
        && !types.overlaps(TypeSet::STRING)
        && !is_null
        && !text.trim_start().starts_with(['[', '{'])
}

fn write(out: &mut Vec<u8>, types: TypeSet, value: Value<'_>) {
    match value {
        Value::True => out.extend_from_slice(b"true"),
        Value::Text("null") if types.overlaps(TypeSet::NULL) => out.extend_from_slice(b"null"),
        Value::Text(text) => write_string(out, text),
    }
}

fn unknown(kinds: &Kinds, word: &str, name: &str) -> Finding {
    let dashes = if word.starts_with("--") { "--" } else { "" };
    let message = format!("expected a flag that the schema declares, found `{dashes}{}`", shown(name));
    let finding = Finding::new(Code::FlagUnknown, message).at_instance(at(name));
    let mut tape = Tape::new();
    let limits = crate::Limits::default().arguments_text();
    let Ok(nothing) = tape.read(b"{}", &limits) else { return finding };
    let mut flat = Flat::default();
    kinds.flatten(ROOT, nothing, &mut flat);
    let slots = flat.objects.iter().flat_map(|plan| &plan.slots);
    let declared: Vec<&str> = slots.map(|slot| slot.name.as_ref()).collect();
    match advice(name, &declared) {
        Some(help) => finding.with_help(help),
        None => finding,
    }
}

fn without_value(name: &str) -> Finding {
    let name = shown(name);
    Finding::new(Code::FlagMalformed, format!("expected a value after `--{name}`, found none"))
        .with_help(format!("write `--{name}=value`, also for a value that begins with two dashes"))
        .at_instance(at(name))
}

fn at(name: &str) -> Location {
    Location(vec![Step::Name(name.to_owned())])
}

/// A name as messages have it.
fn shown(name: &str) -> &str {
    let end = (0..=NAME_BYTES_MAX.min(name.len())).rev().find(|end| name.is_char_boundary(*end));
    name.get(..end.unwrap_or(0)).unwrap_or_default()
}
