//! What is mended and what is not.

use callgate_schema::Profile;

use super::*;

fn fixed_with(text: &str, close_open_objects: bool) -> (String, Vec<String>) {
    let reporter = Reporter { profile: Profile::Standard, close_open_objects };
    let report = reporter.report(Input { name: "a.json".to_owned(), text: text.as_bytes().to_vec() });
    let fixed = fix(reporter, &report);
    (String::from_utf8(fixed.report.text).unwrap(), fixed.mended)
}

#[track_caller]
fn check_fix(text: &str, expected: &str) {
    let (fixed, mended) = fixed_with(text, false);
    assert_eq!(fixed, expected);
    assert_eq!(mended.is_empty(), text == expected, "{mended:?}");
}

/// A schema with one property.
fn around(property: &str) -> String {
    format!(
        "{{\"type\": \"object\",\n \"properties\": {{\"p\": {property}}}, \"additionalProperties\": false}}"
    )
}

#[test]
fn what_has_one_plain_meaning_is_mended() {
    for (property, mended) in [
        (r#"{"desciption": "a", "type": "string"}"#, r#"{"description": "a", "type": "string"}"#),
        (r#"{"read_only":true}"#, r#"{"readOnly":true}"#),
        (r#"{"type": "string", "nullable": true}"#, r#"{"type": ["string", "null"]}"#),
        (
            r#"{"nullable": true, "type": ["string"], "enum": ["a"]}"#,
            r#"{"type": ["string", "null"], "enum": ["a", null]}"#,
        ),
        (r#"{"type": "string",  "nullable": false , "title": "t"}"#, r#"{"type": "string" , "title": "t"}"#),
        (
            r#"{"anyOf": [{"type": "string"}, {"type": "integer"}], "nullable": true}"#,
            r#"{"anyOf": [{"type": "string"}, {"type": "integer"}, {"type": "null"}]}"#,
        ),
        (
            r#"{"type": "integer", "minimum": 1e2, "exclusiveMinimum": true, "title": "t"}"#,
            r#"{"type": "integer", "exclusiveMinimum": 1e2, "title": "t"}"#,
        ),
        (r#"{"exclusiveMaximum": true, "maximum": 9}"#, r#"{"exclusiveMaximum": 9}"#),
        (r#"{"maximum": 9, "exclusiveMaximum": true}"#, r#"{"exclusiveMaximum": 9}"#),
        (r#"{"maximum": 9, "exclusiveMaximum": false}"#, r#"{"maximum": 9}"#),
        // What is mended in one place does not keep another from being mended.
        (
            r#"{"desciption": "a", "nullable": true, "type": "number", "minimum": 0, "exclusiveMinimum": true}"#,
            r#"{"description": "a", "type": ["number", "null"], "exclusiveMinimum": 0}"#,
        ),
    ] {
        check_fix(&around(property), &around(mended));
    }
}

#[test]
fn what_could_mean_something_else_is_left() {
    for property in [
        r#"{"maxlength": 5}"#,
        r#"{"desciption": "a", "description": "b"}"#,
        r#"{"exclusiveMinimum": true}"#,
        r#"{"type": "string", "const": "a", "nullable": true}"#,
        r#"{"nullable": true}"#,
        r#"{"nullable": "yes", "type": "string"}"#,
        r#"{"type": "string", "default": {"desciption": 1, "nullable": true}}"#,
        r#"{"zzzzzz": 1}"#,
    ] {
        check_fix(&around(property), &around(property));
    }
}

#[test]
fn definitions_get_the_name_that_the_dialect_has() {
    let uses = |schema: &str, name: &str, reference: &str| {
        format!(
            "{{{schema}\"type\":\"object\",\"properties\":{{\"definitions\":{{\"$ref\":\"#/{reference}/a\"}}}},\
             \"additionalProperties\":false,\"{name}\":{{\"a\":{{\"enum\":[{{\"$ref\":\"#/definitions/x\"}}]}}}}}}"
        )
    };
    check_fix(&uses("", "definitions", "definitions"), &uses("", "$defs", "$defs"));
    check_fix(&uses("", "$defs", "definitions"), &uses("", "$defs", "$defs"));
    let draft_07 = r#""$schema":"http://json-schema.org/draft-07/schema#","#;
    check_fix(&uses(draft_07, "$defs", "$defs"), &uses(draft_07, "definitions", "definitions"));
    check_fix(&uses(draft_07, "definitions", "definitions"), &uses(draft_07, "definitions", "definitions"));
    let elsewhere = uses("\"$id\":\"https://e.test/a\",", "definitions", "definitions")
        .replace("\"#/", "\"https://e.test/a#/");
    check_fix(&elsewhere, &elsewhere);
}

#[test]
fn an_open_root_is_closed_on_request() {
    for (text, closed) in [
        ("{}", "{\"additionalProperties\": false}"),
        ("{\"type\":\"object\"}", "{\"type\":\"object\", \"additionalProperties\": false}"),
        (
            "{\n\t\"type\": \"object\"\n}\n",
            "{\n\t\"type\": \"object\",\n\t\"additionalProperties\": false\n}\n",
        ),
    ] {
        assert_eq!(fixed_with(text, true).0, closed);
        assert_eq!(fixed_with(text, false), (text.to_owned(), Vec::new()));
    }
}

#[test]
fn in_a_catalog_each_tool_is_mended_in_its_place() {
    let tool = |name: &str, word: &str| {
        format!(
            r#"{{"name":"{name}","inputSchema":{{"type":"object","{word}":"x","additionalProperties":false}}}}"#
        )
    };
    let text = |word: &str| format!("{{\"tools\":[\n{},\n{}]}}", tool("a", word), tool("b", word));
    let (fixed, mended) = fixed_with(&text("desciption"), false);
    assert_eq!(fixed, text("description"));
    insta::assert_snapshot!(mended.join("\n"), @r#"
    a: spelled `desciption` as `description` at /tools/0/inputSchema/desciption
    b: spelled `desciption` as `description` at /tools/1/inputSchema/desciption
    "#);
}

#[test]
fn the_difference_can_be_read() {
    let text = |word: &str, long: usize| {
        format!(
            "{{\n  \"a\": 1,\n  \"{word}\": \"x\u{1b}\",\n  \"b\": 2\n}}\n[{}\"{word}\"{}]\n",
            "1, ".repeat(long),
            ", 2".repeat(long)
        )
    };
    let shown = diff("a.json", text("desciption", 200).as_bytes(), text("description", 200).as_bytes());
    insta::assert_snapshot!(anstream::adapter::strip_str(&shown), @r#"
    --- a.json
    +++ a.json, mended
    @@ -1,6 +1,6 @@
      {
        "a": 1,
    -   "desciption": "x\u001b",
    +   "description": "x\u001b",
        "b": 2
      }
    - … 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, "desciption", 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, …
    + … 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, "description", 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, …
    "#);
}
