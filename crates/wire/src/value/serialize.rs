//! Rust values on their way to JSON text.
//!
//! `serde_json` writes `null` for a number that is not finite; here such a number is an error, since a value that was
//! never there would otherwise look like one that was.

use std::fmt;

use callgate_schema::json::write_string;
use serde::ser::{self, Serialize, Serializer};

use super::float::write_f64;
use crate::ValueError;

/// The JSON text of a Rust value. Names may repeat; who takes the text looks.
pub(super) fn text<T: Serialize + ?Sized>(value: &T) -> Result<Vec<u8>, ValueError> {
    let mut out = Vec::new();
    match value.serialize(Writer { out: &mut out, depth: 0 }) {
        Ok(()) => Ok(out),
        Err(Unfit(message)) => Err(ValueError::not_json(message)),
    }
}

/// Why a value has no JSON form.
#[derive(Debug)]
struct Unfit(String);

impl fmt::Display for Unfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Unfit {}

impl ser::Error for Unfit {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Unfit(message.to_string())
    }
}

/// Values within each other. What is deeper would be refused when the text is read; until then it would take the stack.
const DEPTH_MAX: u32 = 256;

/// Writes one value.
struct Writer<'o> {
    out: &'o mut Vec<u8>,
    depth: u32,
}

impl<'o> Writer<'o> {
    fn deeper(self, open: u8, close: &'static str) -> Result<Parts<'o>, Unfit> {
        if self.depth >= DEPTH_MAX {
            return Err(Unfit(format!("expected at most {DEPTH_MAX} values within each other, found more")));
        }
        self.out.push(open);
        Ok(Parts { out: self.out, first: true, close, depth: self.depth + 1 })
    }

    /// `{"variant":…`, which the parts close.
    fn variant(self, variant: &str, open: u8, close: &'static str) -> Result<Parts<'o>, Unfit> {
        self.out.push(b'{');
        write_string(self.out, variant);
        self.out.push(b':');
        self.deeper(open, close)
    }

    fn plain(self, value: impl fmt::Display) {
        self.out.extend_from_slice(value.to_string().as_bytes());
    }
}

macro_rules! plain {
    ($($method:ident $type_:ty,)*) => {$(
        fn $method(self, value: $type_) -> Result<(), Unfit> {
            self.plain(value);
            Ok(())
        }
    )*};
}

impl<'o> Serializer for Writer<'o> {
    type Ok = ();
    type Error = Unfit;
    type SerializeSeq = Parts<'o>;
    type SerializeTuple = Parts<'o>;
    type SerializeTupleStruct = Parts<'o>;
    type SerializeTupleVariant = Parts<'o>;
    type SerializeMap = Parts<'o>;
    type SerializeStruct = Parts<'o>;
    type SerializeStructVariant = Parts<'o>;

    plain! {
        serialize_bool bool, serialize_i8 i8, serialize_i16 i16, serialize_i32 i32, serialize_i64 i64, serialize_i128 i128,
        serialize_u8 u8, serialize_u16 u16, serialize_u32 u32, serialize_u64 u64, serialize_u128 u128,
    }

    fn serialize_f32(self, value: f32) -> Result<(), Unfit> {
        // The shortest digits of the single, not those of the double that it is.
        let widened = value.to_string().parse().unwrap_or(f64::from(value));
        self.serialize_f64(widened)
    }

    fn serialize_f64(self, value: f64) -> Result<(), Unfit> {
        if write_f64(self.out, value) {
            Ok(())
        } else {
            Err(Unfit("expected a finite number, found one that is not".to_owned()))
        }
    }

    fn serialize_char(self, value: char) -> Result<(), Unfit> {
        self.serialize_str(value.encode_utf8(&mut [0; 4]))
    }

    fn serialize_str(self, value: &str) -> Result<(), Unfit> {
        write_string(self.out, value);
        Ok(())
    }

    fn serialize_bytes(self, value: &[u8]) -> Result<(), Unfit> {
        self.collect_seq(value)
    }

    fn serialize_none(self) -> Result<(), Unfit> {
        self.serialize_unit()
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<(), Unfit> {
        value.serialize(self)
    }

    fn serialize_unit(self) -> Result<(), Unfit> {
        self.plain("null");
        Ok(())
    }

    fn serialize_unit_struct(self, _: &'static str) -> Result<(), Unfit> {
        self.serialize_unit()
    }

    fn serialize_unit_variant(self, _: &'static str, _: u32, variant: &'static str) -> Result<(), Unfit> {
        self.serialize_str(variant)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        value: &T,
    ) -> Result<(), Unfit> {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<(), Unfit> {
        let mut parts = self.deeper(b'{', "}")?;
        parts.member(variant, value)?;
        parts.done();
        Ok(())
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<Parts<'o>, Unfit> {
        self.deeper(b'[', "]")
    }

    fn serialize_tuple(self, _: usize) -> Result<Parts<'o>, Unfit> {
        self.deeper(b'[', "]")
    }

    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<Parts<'o>, Unfit> {
        self.deeper(b'[', "]")
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Parts<'o>, Unfit> {
        self.variant(variant, b'[', "]}")
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Parts<'o>, Unfit> {
        self.deeper(b'{', "}")
    }

    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Parts<'o>, Unfit> {
        self.deeper(b'{', "}")
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Parts<'o>, Unfit> {
        self.variant(variant, b'{', "}}")
    }
}

/// Writes the parts of one container.
struct Parts<'o> {
    out: &'o mut Vec<u8>,
    first: bool,
    close: &'static str,
    depth: u32,
}

impl Parts<'_> {
    fn next(&mut self) -> Writer<'_> {
        if !self.first {
            self.out.push(b',');
        }
        self.first = false;
        Writer { out: self.out, depth: self.depth }
    }

    fn item<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Unfit> {
        value.serialize(self.next())
    }

    fn member<T: Serialize + ?Sized>(&mut self, name: &str, value: &T) -> Result<(), Unfit> {
        let writer = self.next();
        write_string(writer.out, name);
        writer.out.push(b':');
        value.serialize(writer)
    }

    fn done(self) {
        self.out.extend_from_slice(self.close.as_bytes());
    }
}

macro_rules! items {
    ($($trait_:ident $method:ident,)*) => {$(
        impl ser::$trait_ for Parts<'_> {
            type Ok = ();
            type Error = Unfit;

            fn $method<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Unfit> {
                self.item(value)
            }

            fn end(self) -> Result<(), Unfit> {
                self.done();
                Ok(())
            }
        }
    )*};
}

items! {
    SerializeSeq serialize_element,
    SerializeTuple serialize_element,
    SerializeTupleStruct serialize_field,
    SerializeTupleVariant serialize_field,
}

macro_rules! fields {
    ($($trait_:ident,)*) => {$(
        impl ser::$trait_ for Parts<'_> {
            type Ok = ();
            type Error = Unfit;

            fn serialize_field<T: Serialize + ?Sized>(&mut self, name: &'static str, value: &T) -> Result<(), Unfit> {
                self.member(name, value)
            }

            fn end(self) -> Result<(), Unfit> {
                self.done();
                Ok(())
            }
        }
    )*};
}

fields! { SerializeStruct, SerializeStructVariant, }

impl ser::SerializeMap for Parts<'_> {
    type Ok = ();
    type Error = Unfit;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), Unfit> {
        let writer = self.next();
        let mut name = Vec::new();
        key.serialize(Writer { out: &mut name, depth: writer.depth })?;
        match name.first() {
            Some(b'"') => writer.out.extend_from_slice(&name),
            Some(b'-' | b'0'..=b'9' | b't' | b'f') => {
                writer.out.push(b'"');
                writer.out.extend_from_slice(&name);
                writer.out.push(b'"');
            }
            _ => {
                return Err(Unfit("expected a text as the name of a member, found another value".to_owned()));
            }
        }
        Ok(())
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Unfit> {
        self.out.push(b':');
        value.serialize(Writer { out: self.out, depth: self.depth })
    }

    fn end(self) -> Result<(), Unfit> {
        self.done();
        Ok(())
    }
}
