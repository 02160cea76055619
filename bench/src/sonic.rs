//! `jsonschema` on the values of `sonic-rs`, through the interface that it has for other representations: the fastest way
//! from bytes to a verdict that published crates make together.

use std::borrow::Cow;

use jsonschema::JsonType;
use jsonschema::json::{Array, Json, JsonNumber, Node, NodeIdentity, Object};
use serde_json::Value;
use sonic_rs::{JsonContainerTrait as _, JsonNumberTrait as _, JsonValueTrait as _};

/// The representation.
#[derive(Debug)]
pub(crate) struct Sonic;

type Instance = sonic_rs::Value;

impl Json for Sonic {
    type Node<'a> = &'a Instance;
    type PreparedKey = String;
    type StringBuffer = Option<Instance>;

    // Members lie in a row, so that each look-up walks over some of them.
    const KEYS_PER_LOOKUP: usize = 4;
    const ACYCLIC: bool = true;

    fn prepare_key(key: &str) -> String {
        key.to_owned()
    }

    fn with_string_node<T>(
        buffer: &mut Option<Instance>,
        string: &str,
        look: impl FnOnce(&Instance) -> T,
    ) -> T {
        look(buffer.insert(Instance::from(string)))
    }
}

/// A number of sonic-rs.
#[derive(Debug)]
pub(crate) struct Number(sonic_rs::Number);

impl JsonNumber for Number {
    fn as_u64(&self) -> Option<u64> {
        self.0.as_u64()
    }

    fn as_i64(&self) -> Option<i64> {
        self.0.as_i64()
    }

    fn as_f64(&self) -> Option<f64> {
        self.0.as_f64()
    }

    fn as_str(&self) -> Cow<'_, str> {
        Cow::Owned(self.to_number().to_string())
    }

    fn to_number(&self) -> Cow<'_, serde_json::Number> {
        let integer = self.0.as_u64().map(serde_json::Number::from);
        let integer = integer.or_else(|| self.0.as_i64().map(serde_json::Number::from));
        let number = integer.or_else(|| serde_json::Number::from_f64(self.0.as_f64()?));
        // Without one of the three it is no number that JSON can write.
        Cow::Owned(number.unwrap_or_else(|| serde_json::Number::from(0)))
    }

    fn is_integer(&self) -> bool {
        self.0.is_u64() || self.0.is_i64() || self.0.as_f64().is_some_and(|double| double.fract() == 0.0)
    }
}

impl<'a> Node<'a, Sonic> for &'a Instance {
    type Object = &'a sonic_rs::Object;
    type Array = &'a [Instance];
    type Number = Number;

    fn as_object(&self) -> Option<&'a sonic_rs::Object> {
        (*self).as_object()
    }

    fn as_array(&self) -> Option<&'a [Instance]> {
        Some((*self).as_array()?.as_slice())
    }

    fn as_string(&self) -> Option<Cow<'a, str>> {
        Some(Cow::Borrowed((*self).as_str()?))
    }

    fn as_number(&self) -> Option<Number> {
        (*self).as_number().map(Number)
    }

    fn as_boolean(&self) -> Option<bool> {
        (*self).as_bool()
    }

    fn is_null(&self) -> bool {
        (*self).is_null()
    }

    fn is_number(&self) -> bool {
        (*self).is_number()
    }

    fn json_type(&self) -> JsonType {
        match self.get_type() {
            sonic_rs::JsonType::Null => JsonType::Null,
            sonic_rs::JsonType::Boolean => JsonType::Boolean,
            sonic_rs::JsonType::Number => JsonType::Number,
            sonic_rs::JsonType::String => JsonType::String,
            sonic_rs::JsonType::Object => JsonType::Object,
            sonic_rs::JsonType::Array => JsonType::Array,
        }
    }

    fn string_length_within(&self, min: u64, max: u64) -> Option<bool> {
        let text = (*self).as_str()?;
        // A character takes one to four bytes, which mostly decides without counting.
        let bytes = text.len() as u64;
        let fewest = bytes.div_ceil(4);
        if bytes < min || fewest > max {
            return Some(false);
        }
        if min <= fewest && bytes <= max {
            return Some(true);
        }
        Some((min..=max).contains(&(text.chars().count() as u64)))
    }

    fn equals_value(&self, expected: &Value) -> bool {
        match ((*self).as_str(), expected) {
            (Some(text), Value::String(expected)) => text == expected,
            (Some(_), _) | (None, Value::String(_)) => false,
            _ => jsonschema::json::cmp::equal(&self.to_value(), expected),
        }
    }

    fn to_value(&self) -> Cow<'a, Value> {
        Cow::Owned(serde_json::to_value(self).unwrap_or_default())
    }

    fn identity(&self) -> Option<NodeIdentity> {
        Some(NodeIdentity::new(std::ptr::from_ref::<Instance>(self).addr()))
    }
}

/// Members in their order.
pub(crate) struct Members<'a>(<&'a sonic_rs::Object as IntoIterator>::IntoIter);

impl<'a> Iterator for Members<'a> {
    type Item = (&'a str, &'a Instance);

    fn next(&mut self) -> Option<Self::Item> {
        self.0.next()
    }
}

impl<'a> Object<'a, Sonic> for &'a sonic_rs::Object {
    type Node = &'a Instance;
    type MemberName = &'a str;
    type MembersIter = Members<'a>;

    fn len(&self) -> usize {
        sonic_rs::Object::len(self)
    }

    fn get(&self, key: &String) -> Option<&'a Instance> {
        sonic_rs::Object::get(self, key)
    }

    fn members(&self) -> Members<'a> {
        Members(self.iter())
    }
}

impl<'a> Array<'a, Sonic> for &'a [Instance] {
    type Node = &'a Instance;
    type ElementsIter = std::slice::Iter<'a, Instance>;

    fn len(&self) -> usize {
        <[Instance]>::len(self)
    }

    fn elements(&self) -> std::slice::Iter<'a, Instance> {
        self.iter()
    }
}
