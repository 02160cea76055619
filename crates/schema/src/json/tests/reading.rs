//! What is taken, what is not, and what is said about it.

use super::{document, read};
use crate::Limits;
use crate::json::{Document, Kind, Position, ReadFaultKind, Tape, position, skim_items, skim_members};

/// `kind at offset in pointer`, as short as can be.
fn fault(text: impl AsRef<[u8]>) -> String {
    let fault = read(text).unwrap_err();
    let kind = match fault.kind {
        ReadFaultKind::Syntax(expected) => format!("expected {expected}"),
        ReadFaultKind::Utf8 => "utf8".into(),
        ReadFaultKind::Surrogate => "surrogate".into(),
        ReadFaultKind::DuplicateName { name, first } => format!("duplicate {name:?} first at {first}"),
        ReadFaultKind::Limit { name, maximum } => format!("{name} over {maximum}"),
    };
    format!("{kind} at {} in `{}`", fault.offset, fault.pointer)
}

#[test]
fn faults_say_what_was_expected_and_where() {
    let rows: &[(&[u8], &str)] = &[
        (b"", "expected a value at 0 in ``"),
        (b" ", "expected a value at 1 in ``"),
        (b"\0", "expected a value at 0 in ``"),
        (b"\xEF\xBB\xBF1", "expected a value at 0 in ``"),
        (b"tru", "expected a value at 0 in ``"),
        (b"truex", "expected the end of the text at 4 in ``"),
        (b"1 2", "expected the end of the text at 2 in ``"),
        (b"1,", "expected the end of the text at 1 in ``"),
        (b"[1]]", "expected the end of the text at 3 in ``"),
        (b"{}\0", "expected the end of the text at 2 in ``"),
        (b"\xC2\xA01", "expected a value at 0 in ``"),
        (b"[", "expected a value at 1 in `/0`"),
        (b"[1", "expected `,` or `]` at 2 in `/0`"),
        (b"[1,", "expected a value at 3 in `/1`"),
        (b"[1,]", "expected a value at 3 in `/1`"),
        (b"[,1]", "expected a value at 1 in `/0`"),
        (b"[1 2]", "expected `,` or `]` at 3 in ``"),
        (b"[1}", "expected `,` or `]` at 2 in `/0`"),
        (b"{", "expected a name in quotes at 1 in ``"),
        (b"{1:2}", "expected a name in quotes at 1 in ``"),
        (b"{\"a\"}", "expected `:` at 4 in ``"),
        (b"{\"a\" 1}", "expected `:` at 5 in ``"),
        (b"{\"a\":}", "expected a value at 5 in `/a`"),
        (b"{\"a\":1,}", "expected a name in quotes at 7 in ``"),
        (b"{\"a\":[{\"b/~c\": x}]}", "expected a value at 15 in `/a/0/b~1~0c`"),
        (b"{\"a\":1]", "expected `,` or `}` at 6 in `/a`"),
        (b"[[1],[2],{\"a\":[] \"b\"", "expected `,` or `}` at 17 in `/2`"),
        (b"01", "expected the end of the text at 1 in ``"),
        (b"-", "expected a digit at 1 in ``"),
        (b"[-x]", "expected a digit at 2 in `/0`"),
        (b"1.", "expected a digit at 2 in ``"),
        (b"1.e1", "expected a digit at 2 in ``"),
        (b".5", "expected a value at 0 in ``"),
        (b"+1", "expected a value at 0 in ``"),
        (b"1e", "expected a digit at 2 in ``"),
        (b"1e+", "expected a digit at 3 in ``"),
        (b"NaN", "expected a value at 0 in ``"),
        (b"\"abc", "expected a closing quote at 4 in ``"),
        (b"\"a\nb\"", "expected an escape for a control character at 2 in ``"),
        (b"\"a\0b\"", "expected an escape for a control character at 2 in ``"),
        (b"\"a\\\"", "expected a closing quote at 4 in ``"),
        (b"\"\\x\"", "expected one of `\"\\/bfnrtu` after the backslash at 1 in ``"),
        (b"\"\\u12g4\"", "expected four hexadecimal digits at 1 in ``"),
        (b"\"\\u12", "expected four hexadecimal digits at 1 in ``"),
        (b"[\"\\ud800\"]", "surrogate at 2 in `/0`"),
        (b"\"\\udc00\"", "surrogate at 1 in ``"),
        (b"\"\\ud800\\ud800\"", "surrogate at 1 in ``"),
        (b"\"\\ud800\\n\"", "surrogate at 1 in ``"),
        (b"{\"\\udfff\":1}", "surrogate at 2 in ``"),
        (b"[\"\xFF\"]", "utf8 at 2 in `/0`"),
        (b"[\"\xED\xA0\x80\"]", "utf8 at 2 in `/0`"),
        (b"[\"\xC0\x80\"]", "utf8 at 2 in `/0`"),
        (b"[\xFF]", "utf8 at 1 in `/0`"),
        (b"{\"a\":\"\xE2\x82\"}", "utf8 at 6 in `/a`"),
        (b"{\"a\xFF\":1", "utf8 at 3 in ``"),
        (b"{\"a\":1,\"b\":2,\"a\":3}", "duplicate \"a\" first at 1 at 13 in `/a`"),
        (b"[0,{\"a\":{\"\":1,\"\":2}}]", "duplicate \"\" first at 9 at 14 in `/1/a/`"),
        (b"{\"a/b\":1,\"\\u0061\\/b\":2}", "duplicate \"a/b\" first at 1 at 9 in `/a~1b`"),
        (b"{\"\\u00e9\":1,\"\xC3\xA9\":2}", "duplicate \"\u{e9}\" first at 1 at 12 in `/\u{e9}`"),
        (b"1e4097", "number_exponent over 4096 at 0 in ``"),
        (b"[0, 1e-99999999999999999999]", "number_exponent over 4096 at 4 in `/1`"),
    ];
    for (text, expected) in rows {
        assert_eq!(fault(text), *expected, "{}", String::from_utf8_lossy(text));
    }
}

#[test]
fn limits_are_exact() {
    let limits = |name, value| {
        let mut limits = Limits::default();
        assert!(limits.set(name, value));
        limits.arguments_text()
    };
    // A name of a limit, a text that is over it by one, and the same limit raised by one.
    let rows: &[(&str, u64, &str, usize)] = &[
        ("arguments_bytes", 3, "1234", 3),
        ("arguments_depth", 0, "[]", 0),
        ("arguments_depth", 0, "{}", 0),
        ("arguments_depth", 1, "[[]]", 1),
        ("arguments_depth", 2, "[[1],{\"a\":[2]}]", 10),
        ("arguments_nodes", 0, "1", 0),
        ("arguments_nodes", 3, "[1,[2]]", 4),
        ("arguments_nodes", 2, "{\"a\":1,\"b\":2}", 11),
        ("number_digits", 2, "123", 0),
        ("number_digits", 2, "-1.23", 0),
        ("number_digits", 2, "0.00123", 0),
        ("number_digits", 9, "[1234567890e0]", 1),
        ("number_exponent", 2, "1e3", 0),
        ("number_exponent", 2, "1E-003", 0),
    ];
    for &(name, maximum, text, offset) in rows {
        let fault = Document::read(text.as_bytes(), &limits(name, maximum)).unwrap_err();
        assert_eq!(fault.kind, ReadFaultKind::Limit { name: name.into(), maximum }, "{text}");
        assert_eq!(fault.offset, offset, "{text}");
        Document::read(text.as_bytes(), &limits(name, maximum + 1)).unwrap();
    }
}

#[test]
fn views_show_what_was_read() {
    let text = r#" {"a\n": [1, "x\u00e9\ud83d\ude00", true, null, {}], "b": -1.50, "": false} "#;
    let document = document(text);
    let root = document.root();
    assert_eq!(root.kind(), Kind::Object);
    assert_eq!(root.raw_str(), text.trim());
    assert_eq!(root.members().map(|member| member.name().into_owned()).collect::<Vec<_>>(), ["a\n", "b", ""]);
    assert_eq!(root.members().len(), 3);
    let items = root.member("a\n").unwrap();
    let kinds = [Kind::Number, Kind::String, Kind::Bool, Kind::Null, Kind::Object];
    assert!(items.items().map(super::super::Node::kind).eq(kinds));
    assert_eq!(items.len(), 5);
    let string = items.items().nth(1).unwrap();
    assert_eq!(string.as_str().unwrap(), "x\u{e9}\u{1f600}");
    assert_eq!(string.char_count(), 3);
    assert_eq!(string.raw_str(), r#""x\u00e9\ud83d\ude00""#);
    assert_eq!(&text[string.span()], string.raw_str());
    assert_eq!(document.node(string.id()).span(), string.span());
    assert_eq!(root.member("b").unwrap().as_number().unwrap().raw(), "-1.50");
    assert_eq!(root.member("").unwrap().as_bool(), Some(false));
    assert!(root.member("a").is_none());
    let name = root.members().nth(1).unwrap();
    assert_eq!(&text[name.name_span()], "\"b\"");
    assert!(name.name_is("b") && !name.name_is("bb") && !name.name_is(""));
}

#[test]
fn pointers_lead_to_values() {
    // The example of RFC 6901, section 5.
    let document = document(
        r#"{"foo":["bar","baz"],"":0,"a/b":1,"c%d":2,"e^f":3,"g|h":4,"i\\j":5,"k\"l":6," ":7,"m~n":8}"#,
    );
    let rows = [
        ("/foo/0", Some("\"bar\"")),
        ("/", Some("0")),
        ("/a~1b", Some("1")),
        ("/c%d", Some("2")),
        ("/e^f", Some("3")),
        ("/i\\j", Some("5")),
        ("/k\"l", Some("6")),
        ("/ ", Some("7")),
        ("/m~0n", Some("8")),
        ("/m~n", None),
        ("/m~2n", None),
        ("/m~", None),
        ("/foo/2", None),
        ("/foo/00", None),
        ("/foo/01", None),
        ("/foo/-", None),
        ("/foo/+1", None),
        ("/foo/", None),
        ("/foo/0/0", None),
        ("foo", None),
    ];
    for (pointer, expected) in rows {
        assert_eq!(document.root().pointer(pointer).map(super::super::Node::raw_str), expected, "{pointer}");
    }
    assert_eq!(document.root().pointer("").unwrap().id(), document.root().id());
}

#[test]
fn a_tape_is_good_for_one_text_after_the_other() {
    let limits = Limits::default().arguments_text();
    let mut tape = Tape::new();
    assert_eq!(tape.read(b"[[[1,2,3]]]", &limits).unwrap().len(), 1);
    assert!(tape.read(b"[[[[1,", &limits).is_err());
    assert_eq!(tape.read(b"7", &limits).unwrap().raw(), b"7");
    assert_eq!(tape.read(b"{\"a\":{}}", &limits).unwrap().len(), 1);
}

#[test]
fn every_prefix_of_a_good_text_is_refused() {
    let text =
        r#"{"a":[1,-0.5e+3,"x\n\u00e9\ud83d\ude00é",true,false,null,{"b":{}}],"long name of a member":[[]]}"#;
    document(text);
    for end in 0..text.len() {
        let fault = read(&text.as_bytes()[..end]).unwrap_err();
        assert!(fault.offset <= end, "{end}: {fault:?}");
        assert!(
            matches!(fault.kind, ReadFaultKind::Syntax(_) | ReadFaultKind::Utf8 | ReadFaultKind::Surrogate),
            "{end}: {fault:?}"
        );
        let _ = fault.finding();
    }
}

#[test]
fn positions_count_lines_and_code_points() {
    let text = "a\n\tä😀x\r\n".as_bytes();
    let rows = [
        (0, 1, 1),
        (1, 1, 2),
        (2, 2, 1),
        (3, 2, 2),
        (5, 2, 3),
        (9, 2, 4),
        (11, 2, 6),
        (12, 3, 1),
        (99, 3, 1),
    ];
    for (offset, line, column) in rows {
        assert_eq!(position(text, offset), Position { line, column }, "{offset}");
    }
    assert_eq!(position(b"\xFF\x80\n\x80", 4), Position { line: 2, column: 1 });
}

#[test]
fn skimming_isolates_each_part() {
    let items = |text: &'static str| {
        skim_items(text.as_bytes()).map(|spans| spans.into_iter().map(|span| &text[span]).collect::<Vec<_>>())
    };
    let rows: &[(&str, &[&str])] = &[
        ("[]", &[]),
        ("[ ]x", &[]),
        ("[1]", &["1"]),
        ("[1,,2]", &["1", "", "2"]),
        ("[ {\"a\":[1,{}]} ,\"],[\\\"\", tru ]", &["{\"a\":[1,{}]}", "\"],[\\\"\"", "tru"]),
        ("[1,]", &["1", ""]),
    ];
    for (text, expected) in rows {
        assert_eq!(items(text).unwrap(), *expected, "{text}");
    }
    for (text, offset) in [("", 0), ("{}", 0), ("[1", 2), ("[[1]", 4), ("[\"a", 1), ("[\"a\\\"]", 1)] {
        assert_eq!(items(text).unwrap_err().offset, offset, "{text}");
    }
    let text = r#"{"a": {"b":1} ,"a":2, c, "d:" : "x:y" , :}"#;
    let members = skim_members(text.as_bytes()).unwrap();
    let parts: Vec<_> = members.into_iter().map(|(name, value)| (&text[name], &text[value])).collect();
    let expected = [(r#""a""#, r#"{"b":1}"#), (r#""a""#, "2"), ("c", ""), (r#""d:""#, r#""x:y""#), ("", "")];
    assert_eq!(parts, expected);
}
