//! Laws that hold for any text.

use std::collections::HashMap;
use std::fmt::Write as _;

use num_bigint::BigInt;
use proptest::collection::vec;
use proptest::prelude::*;

use super::{document, read};
use crate::json::{Number, ReadFaultKind, canonical, write_string};

/// A value without its spelling. Numbers are whole digits and an exponent.
#[derive(Debug, Clone)]
enum Value {
    Null,
    Bool(bool),
    Number(i64, i32),
    String(String),
    Array(Vec<Value>),
    Object(Vec<(String, Value)>),
}

fn name() -> impl Strategy<Value = String> {
    prop_oneof![4 => "[a-c]{0,2}", 1 => "[a-z]{14,20}", 1 => "[\\PC\"\\\\/\u{0}-\u{1f}é€😀\u{e000}]{0,6}"]
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        (-20i64..20, -3i32..3).prop_map(|(digits, exponent)| Value::Number(digits, exponent)),
        (any::<i64>(), -30i32..30).prop_map(|(digits, exponent)| Value::Number(digits, exponent)),
        name().prop_map(Value::String),
    ];
    leaf.prop_recursive(4, 40, 6, |inner| {
        let members = vec((name(), inner.clone()), 0..6).prop_map(|mut members| {
            members.sort_by(|a, b| a.0.cmp(&b.0));
            members.dedup_by(|a, b| a.0 == b.0);
            members
        });
        prop_oneof![vec(inner, 0..6).prop_map(Value::Array), members.prop_map(Value::Object)]
    })
}

/// One of the many spellings of a value; `choices` says which, and is used up.
fn spell(out: &mut String, value: &Value, choices: &mut impl FnMut() -> u8) {
    let space = |choice: u8| ["", "", "", " ", "\n        ", "\t\r\n"][usize::from(choice) % 6];
    out.push_str(space(choices()));
    match value {
        Value::Null => out.push_str("null"),
        Value::Bool(truth) => out.push_str(if *truth { "true" } else { "false" }),
        Value::Number(digits, exponent) => spell_number(out, *digits, *exponent, choices()),
        Value::String(text) => spell_text(out, text, choices),
        Value::Array(items) => {
            for (i, item) in items.iter().enumerate() {
                out.push(if i == 0 { '[' } else { ',' });
                spell(out, item, choices);
            }
            out.push_str(if items.is_empty() { "[]" } else { "]" });
        }
        Value::Object(members) => {
            let turn = if members.is_empty() { 0 } else { usize::from(choices()) % members.len() };
            for i in 0..members.len() {
                let (name, member) = &members[(i + turn) % members.len()];
                out.push(if i == 0 { '{' } else { ',' });
                out.push_str(space(choices()));
                spell_text(out, name, choices);
                out.push_str(space(choices()));
                out.push(':');
                spell(out, member, choices);
            }
            out.push_str(if members.is_empty() { "{ }" } else { "}" });
        }
    }
    out.push_str(space(choices()));
}

fn spell_number(out: &mut String, digits: i64, exponent: i32, choice: u8) {
    let sign = if digits < 0 { "-" } else { "" };
    let size = digits.unsigned_abs();
    let _ = match choice % 4 {
        0 => write!(out, "{digits}e{exponent}"),
        1 => write!(out, "{digits}.00E{exponent:+}"),
        2 if size > 0 => write!(out, "{sign}{size}0e{}", exponent - 1),
        _ if exponent >= 0 && size > 0 => {
            write!(out, "{digits}{}", "0".repeat(exponent.unsigned_abs() as usize))
        }
        _ => {
            let places = exponent.min(0).unsigned_abs() as usize;
            let text = format!("{size:0>width$}", width = places + 1);
            let (whole, fraction) = text.split_at(text.len() - places);
            let point = if places == 0 { "" } else { "." };
            write!(out, "{sign}{whole}{point}{fraction}")
        }
    };
}

fn spell_text(out: &mut String, text: &str, choices: &mut impl FnMut() -> u8) {
    out.push('"');
    for c in text.chars() {
        let choice = choices();
        if choice.is_multiple_of(8) {
            for unit in c.encode_utf16(&mut [0; 2]) {
                let _ = if choice.is_multiple_of(16) {
                    write!(out, "\\u{unit:04x}")
                } else {
                    write!(out, "\\u{unit:04X}")
                };
            }
        } else if c == '/' && choice % 8 == 1 {
            out.push_str("\\/");
        } else {
            let mut one = Vec::new();
            write_string(&mut one, c.encode_utf8(&mut [0; 4]));
            out.push_str(std::str::from_utf8(&one[1..one.len() - 1]).unwrap());
        }
    }
    out.push('"');
}

fn spelled(value: &Value, seed: u64) -> String {
    let mut state = seed | 1;
    let mut out = String::new();
    spell(&mut out, value, &mut || {
        state = state.wrapping_mul(0x5851_F42D_4C95_7F2D).wrapping_add(1);
        (state >> 56) as u8
    });
    out
}

/// `digits` times ten to the power of `exponent`, in units of ten to the power of -60.
fn exact(digits: &BigInt, exponent: i32) -> BigInt {
    digits * BigInt::from(10).pow(u32::try_from(60 + exponent).unwrap())
}

fn number_parts() -> impl Strategy<Value = (String, BigInt)> {
    let digits = prop_oneof!["-?(0|[1-9][0-9]{0,2})", "-?[1-9][0-9]{0,24}", "-?[1-9]0{5,20}"];
    (
        digits,
        prop_oneof![Just(String::new()), "[0-9]{1,3}", "0{1,12}[0-9]{0,6}"],
        proptest::option::of(-20i32..20),
    )
        .prop_map(|(whole, fraction, exponent)| {
            let digits: BigInt = format!("{whole}{fraction}").parse().unwrap();
            let scale = exponent.unwrap_or(0) - i32::try_from(fraction.len()).unwrap();
            let point = if fraction.is_empty() { "" } else { "." };
            let exponent = exponent.map(|exponent| format!("e{exponent}")).unwrap_or_default();
            (format!("{whole}{point}{fraction}{exponent}"), exact(&digits, scale))
        })
}

proptest! {
    #[test]
    fn spellings_of_one_value_are_equal(value in value(), seeds in any::<(u64, u64)>()) {
        let (a, b) = (spelled(&value, seeds.0), spelled(&value, seeds.1));
        let (x, y) = (document(&a), document(&b));
        let (x, y) = (x.root(), y.root());
        prop_assert!(x.equals(y), "{} {}", a, b);
        prop_assert_eq!(x.value_hash(), y.value_hash());
        let text = canonical(x);
        prop_assert_eq!(&text, &canonical(y));
        // Writing and reading again changes nothing.
        let again = document(&text);
        prop_assert!(again.root().equals(x));
        prop_assert_eq!(canonical(again.root()), text);
    }

    #[test]
    fn equality_is_equality_of_canonical_texts(a in value(), b in value(), seed in any::<u64>()) {
        let (x, y) = (document(spelled(&a, seed)), document(spelled(&b, seed ^ 0xABCD)));
        let same = canonical(x.root()) == canonical(y.root());
        prop_assert_eq!(x.root().equals(y.root()), same);
        prop_assert_eq!(x.root().value_hash() == y.root().value_hash(), same);
    }

    #[test]
    fn canonical_text_is_that_of_another_reader(value in value(), seed in any::<u64>()) {
        let text = spelled(&value, seed);
        let ours: serde_json::Value = serde_json::from_slice(&canonical(document(&text).root())).unwrap();
        let theirs: serde_json::Value = serde_json::from_str(&text).unwrap();
        prop_assert!(same_value(&ours, &theirs), "{text}");
    }

    #[test]
    fn numbers_are_those_of_big_arithmetic(a in number_parts(), b in number_parts()) {
        let (x, y) = (Number::parse(&a.0).unwrap(), Number::parse(&b.0).unwrap());
        let unit = exact(&BigInt::from(1), 0);
        prop_assert_eq!(x.cmp(&y), a.1.cmp(&b.1));
        prop_assert_eq!(x.is_integer(), &a.1 % &unit == BigInt::ZERO);
        prop_assert_eq!(x.is_zero(), a.1 == BigInt::ZERO);
        prop_assert_eq!(x.is_negative(), a.1 < BigInt::ZERO);
        let whole = (&a.1 % &unit == BigInt::ZERO).then(|| &a.1 / &unit);
        prop_assert_eq!(x.as_i64(), whole.as_ref().and_then(|whole| i64::try_from(whole).ok()));
        prop_assert_eq!(x.as_u64(), whole.as_ref().and_then(|whole| u64::try_from(whole).ok()));
        if b.1 != BigInt::ZERO {
            prop_assert_eq!(x.is_multiple_of(y), &a.1 % &b.1 == BigInt::ZERO);
        }
        // Read as a value, it is the same number.
        let read = document(&a.0);
        prop_assert_eq!(read.root().as_number().unwrap(), x);
        prop_assert_eq!(read.root().equals(document(&b.0).root()), a.1 == b.1);
    }

    #[test]
    fn the_first_repeated_name_is_found(names in vec("[a-d]{0,4}|[é-ü]{1,2}|a{15,18}", 0..300), seed in any::<u64>()) {
        let mut text = String::from("{");
        let mut first = HashMap::new();
        let mut expected = None;
        for (i, name) in names.iter().enumerate() {
            text.push_str(if i == 0 { "" } else { "," });
            let offset = text.len();
            text.push_str(spelled(&Value::String(name.clone()), seed.rotate_left(u32::try_from(i % 64).unwrap())).trim());
            text.push_str(":[{}]");
            let earlier = *first.entry(name).or_insert(offset);
            if earlier != offset && expected.is_none() {
                expected = Some((ReadFaultKind::DuplicateName { name: name.clone(), first: earlier }, offset));
            }
        }
        text.push('}');
        let found = read(&text).err().map(|fault| (fault.kind, fault.offset));
        prop_assert_eq!(found, expected, "{}", text);
    }

    #[test]
    fn verdicts_are_those_of_another_reader(value in value(), seed in any::<u64>(), edits in vec((any::<u16>(), any::<u8>(), 0..3u8), 0..3)) {
        let mut text = spelled(&value, seed).into_bytes();
        for (at, byte, edit) in edits {
            let at = usize::from(at) % text.len().max(1);
            let bytes = b"{}[]:,\"\\/ubn019.-+eE \t\n\0\x1ftrfl\x7f\x80\xC3\xED\xA0\xF4";
            let byte = bytes[usize::from(byte) % bytes.len()];
            match edit {
                0 => text.insert(at, byte),
                1 if at < text.len() => text[at] = byte,
                _ if at < text.len() => drop(text.remove(at)),
                _ => {}
            }
        }
        let theirs = serde_json::from_slice::<serde_json::Value>(&text);
        match read(&text) {
            Ok(document) => match theirs {
                Ok(theirs) => {
                    let ours: serde_json::Value = serde_json::from_slice(&canonical(document.root())).unwrap();
                    prop_assert!(same_value(&ours, &theirs));
                }
                Err(error) => prop_assert!(error.to_string().starts_with("number out of range"), "{error}"),
            },
            Err(fault) => match fault.kind {
                ReadFaultKind::Syntax(_) | ReadFaultKind::Utf8 | ReadFaultKind::Surrogate => prop_assert!(theirs.is_err(), "{fault:?}"),
                // Rules of ours.
                _ => {}
            },
        }
    }
}

/// Are they the same but for the last digit of a float? Ours has exact digits, theirs is rounded on another way.
fn same_value(a: &serde_json::Value, b: &serde_json::Value) -> bool {
    use serde_json::Value as V;
    match (a, b) {
        (V::Number(a), V::Number(b)) => {
            let (a, b) = (a.as_f64().unwrap(), b.as_f64().unwrap());
            (a - b).abs() <= a.abs() * 1e-14
        }
        (V::Array(a), V::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same_value(a, b)),
        (V::Object(a), V::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(name, a)| b.get(name).is_some_and(|b| same_value(a, b)))
        }
        _ => a == b,
    }
}
