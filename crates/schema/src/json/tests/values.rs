//! Equality, canonical text and digests by example.

use std::cmp::Ordering;

use super::document;
use crate::json::{Digest, Number, canonical, digest, write_string};

fn canon(text: &str) -> String {
    String::from_utf8(canonical(document(text).root())).unwrap()
}

#[test]
fn numbers_are_laid_out_as_ecmascript_does() {
    let rows = [
        ("0", "0"),
        ("-0", "0"),
        ("-0.0e5", "0"),
        ("10", "10"),
        ("1.0", "1"),
        ("1.50", "1.5"),
        ("-1E2", "-100"),
        ("1e20", "100000000000000000000"),
        ("1e21", "1e+21"),
        ("-1.5e300", "-1.5e+300"),
        ("123456789012345678901", "123456789012345678901"),
        ("1234567890123456789012", "1.234567890123456789012e+21"),
        ("0.000001", "0.000001"),
        ("1e-6", "0.000001"),
        ("0.0000001", "1e-7"),
        ("12.5e-7", "0.00000125"),
        ("1.25e-7", "1.25e-7"),
        ("9007199254740993", "9007199254740993"),
        ("333333333.33333329", "333333333.33333329"),
        ("1e-4096", "1e-4096"),
        ("4.50", "4.5"),
        ("2e-3", "0.002"),
        ("0.000000000000000000000000001", "1e-27"),
        ("12345.678", "12345.678"),
        ("100.00", "100"),
    ];
    for (text, expected) in rows {
        assert_eq!(canon(text), expected, "{text}");
        assert_eq!(canon(expected), expected, "{text}");
    }
}

#[test]
fn members_stand_in_the_order_of_utf16_units_and_texts_have_the_fewest_escapes() {
    // The example of RFC 8785, section 3.2.3.
    let text = r#"{"\u20ac":"Euro Sign","\r":"Carriage Return","\ufb33":"Hebrew Letter Dalet With Dagesh","1":"One",
        "\ud83d\ude00":"Emoji: Grinning Face","\u0080":"Control","\u00f6":"Latin Small Letter O With Diaeresis"}"#;
    let names: Vec<String> = {
        let canonical = document(canon(text));
        canonical.root().members().map(|member| member.name().into_owned()).collect()
    };
    assert_eq!(names, ["\r", "1", "\u{80}", "\u{f6}", "\u{20ac}", "\u{1f600}", "\u{fb33}"]);
    assert_eq!(canon(r#""\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/""#), r#""€$\u000f\nA'B\"\\\\\"/""#);
    assert_eq!(
        canon(r#"{"b":[ ],"a":{ },"ab":[1,[2]],"a\u0000":[{}]}"#),
        r#"{"a":{},"a\u0000":[{}],"ab":[1,[2]],"b":[]}"#
    );
    let mut out = Vec::new();
    write_string(&mut out, "\u{8}\u{c}\n\r\t\u{1f}\u{7f}\u{2028}\"\\/");
    assert_eq!(String::from_utf8(out).unwrap(), "\"\\b\\f\\n\\r\\t\\u001f\u{7f}\u{2028}\\\"\\\\/\"");
}

#[test]
fn equality_is_by_value() {
    let rows = [
        ("1", "1.0", true),
        ("1", "1e0", true),
        ("100", "1e2", true),
        ("0", "-0.0", true),
        ("9007199254740993", "9007199254740992", false),
        ("9007199254740993.0", "9007199254740993", true),
        ("0.1", "0.10000000000000000001", false),
        ("1", "true", false),
        ("null", "false", false),
        (r#""a\u0062""#, r#""ab""#, true),
        (r#""\u00e9\n""#, r#""\u00E9\u000a""#, true),
        (r#""e\u0301""#, r#""\u00e9""#, false),
        (r#""1""#, "1", false),
        ("[1,2]", "[1.0,2.0]", true),
        ("[1,2]", "[2,1]", false),
        ("[]", "{}", false),
        ("[1]", "[1,1]", false),
        (r#"{"a":1,"b":[{}]}"#, r#"{"b":[{}],"\u0061":1.0}"#, true),
        (r#"{"a":1,"b":2}"#, r#"{"a":2,"b":1}"#, false),
        (r#"{"a":1}"#, r#"{"b":1}"#, false),
        (r#"{"a":1}"#, r#"{"a":1,"b":1}"#, false),
        ("[[1],[]]", "[[],[1]]", false),
    ];
    for (a, b, equal) in rows {
        let (x, y) = (document(a), document(b));
        let (x, y) = (x.root(), y.root());
        assert_eq!(x.equals(y), equal, "{a} {b}");
        assert_eq!(y.equals(x), equal, "{b} {a}");
        assert_eq!(x.value_hash() == y.value_hash(), equal, "{a} {b}");
    }
}

#[test]
fn numbers_answer_by_value() {
    let number = |text| Number::parse(text).unwrap();
    for text in ["", " 1", "1 ", "01", "1.", "-", "+1", "1e", "0x1", "1_0", "NaN"] {
        assert!(Number::parse(text).is_none(), "{text}");
    }
    for text in ["1", "1.0", "1e2", "10e-1", "-0", "0.0e-9", "123456789012345678901234567890.000"] {
        assert!(number(text).is_integer(), "{text}");
    }
    for text in ["0.5", "1e-1", "12345678901234567890.5", "100e-3"] {
        assert!(!number(text).is_integer(), "{text}");
    }
    assert_eq!(number("18446744073709551615").as_u64(), Some(u64::MAX));
    assert_eq!(number("18446744073709551616").as_u64(), None);
    assert_eq!(number("1844674407370955161.50e1").as_u64(), Some(u64::MAX));
    assert_eq!(number("-9223372036854775808").as_i64(), Some(i64::MIN));
    assert_eq!(number("9223372036854775808").as_i64(), None);
    assert_eq!((number("-1").as_u64(), number("-0").as_u64(), number("1.5").as_i64()), (None, Some(0), None));
    assert_eq!(number("1e4000").as_u64(), None);
    assert!(!number("-0.0").is_negative() && number("-1e-4000").is_negative());
    let ascending = [
        "-1e400",
        "-1e21",
        "-2",
        "-1.5",
        "-1e-30",
        "0",
        "1e-400",
        "1e-30",
        "0.1",
        "1",
        "1.0000000000000000001",
        "9007199254740992",
        "9007199254740993",
        "1e400",
    ];
    for (i, a) in ascending.iter().enumerate() {
        for (j, b) in ascending.iter().enumerate() {
            assert_eq!(number(a).cmp(&number(b)), i.cmp(&j), "{a} {b}");
        }
    }
    assert_eq!(number("1e1").cmp(&number("10.0")), Ordering::Equal);
    let rows = [
        ("0", "3", true),
        ("9", "3", true),
        ("10", "3", false),
        ("-9", "3", true),
        ("0.3", "0.1", true),
        ("0.35", "0.1", false),
        ("4.02", "0.01", true),
        ("1", "2", false),
        ("1e4096", "7", false),
        ("7e4096", "7", true),
        ("1e4096", "1e-4096", true),
        ("1e-4096", "1e4096", false),
        ("1e400", "3e400", false),
        ("123456789012345678901234567890", "12345678901234567890", false),
        ("246913578024691357802469135780", "123456789012345678901234567890", true),
        ("1", "0.0000000000000000000000000001", true),
        ("0", "0", true),
        ("5", "0", false),
    ];
    for (a, b, expected) in rows {
        assert_eq!(number(a).is_multiple_of(number(b)), expected, "{a} {b}");
    }
}

#[test]
fn digests_cover_kind_and_canonical_text() {
    let value = document(r#"{"b": 1.0, "a": "\u0078"}"#);
    let of_value = digest("arguments", value.root());
    // sha256sum of `callgate/arguments/1`, a line feed and `{"a":"x","b":1}`.
    assert_eq!(of_value.to_string(), "8c9f8110b152b4969147d59fb4cc843eff71bca8ebbe8d5469a0078905c0b9d6");
    assert_eq!(of_value, digest("arguments", document(r#"{"a":"x","b":1}"#).root()));
    assert_ne!(of_value, digest("result", value.root()));
    assert_eq!(of_value.to_string().parse(), Ok(of_value));
    for text in
        ["", "00", &"0".repeat(63), &"0".repeat(65), &"A".repeat(64), &"g".repeat(64), &"é".repeat(32)]
    {
        assert!(text.parse::<Digest>().is_err(), "{text}");
    }
    assert_ne!(Digest::of("call", &[b"ab", b"c"]), Digest::of("call", &[b"a", b"bc"]));
    assert_eq!(Digest::of("call", &[b"ab"]), Digest::of("call", &[b"ab"]));
}
