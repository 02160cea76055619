//! How remarks look.

use super::*;

fn drawn(text: &str, labels: &[(&str, &str)], notes: &[(&'static str, String)], width: usize) -> String {
    let span = |word: &str| text.find(word).map(|at| at..at + word.len()).unwrap_or(text.len()..text.len());
    let labels: Vec<Label> = labels.iter().map(|(word, text)| Label::new(span(word), *text)).collect();
    let mut out = String::new();
    let diagnostic = Diagnostic {
        severity: Severity::Error,
        code: "a-code",
        title: "expected a, found b",
        labels: &labels,
        notes,
    };
    SourceText::new("a\u{1b}.json", text.as_bytes(), width).draw(&mut out, &diagnostic);
    anstream::adapter::strip_str(&out).to_string()
}

#[test]
fn places_of_one_line_stand_under_it() {
    let text = r#"{"type": "string", "maximum": 5, "title": "t"}"#;
    let labels = [
        (r#""maximum": 5"#, "looks at numbers alone"),
        (r#""type": "string""#, "the stated type"),
        ("title", ""),
    ];
    insta::assert_snapshot!(drawn(text, &labels, &[("help", "leave it out".to_owned())], 80), @r#"
    error[a-code]: expected a, found b
     --> a\u001b.json:1:20
      |
    1 | {"type": "string", "maximum": 5, "title": "t"}
      |  ----------------  ^^^^^^^^^^^^   -----
      |  |                 |
      |  |                 looks at numbers alone
      |  the stated type
      |
      = help: leave it out
    "#);
}

#[test]
fn places_of_several_lines_are_shown_in_the_texts_order() {
    let text =
        "{\n  \"a\": 1,\n  \"b\": 2,\n\n\n\n\n  \"a\u{202e}\": {\n    \"c\": 3\n  },\n\r\n  \"d\": 4\r\n}";
    let labels =
        [("\"a\u{202e}\": {\n    \"c\": 3\n  }", "again"), ("\"a\": 1", "first"), ("\"d\": 4", "and\nthis")];
    insta::assert_snapshot!(drawn(text, &labels, &[], 80), @r#"
    error[a-code]: expected a, found b
      --> a\u001b.json:8:3
       |
     2 |   "a": 1,
       |   ------ first
    ...
     8 |   "a\u202e": {
       |   ^^^^^^^^^^^^ again
    ...
    12 |   "d": 4
       |   ------ and\u000athis
       |
    "#);
}

#[test]
fn overlapping_places_have_their_texts_below() {
    let labels = [("bc", "within"), ("abcd", "around"), ("\0", "the end")];
    insta::assert_snapshot!(drawn("abcd", &labels, &[], 80), @r#"
    error[a-code]: expected a, found b
     --> a\u001b.json:1:2
      |
    1 | abcd
      | -^^-- the end
      | ||
      | |within
      | around
      |
    "#);
}

#[test]
fn a_megabyte_in_one_line_is_shown_around_the_places() {
    let text = format!(
        "[{}\"here\",{}\"there\",{}]",
        "1,".repeat(300_000),
        "2,".repeat(100_000),
        "3,".repeat(100_000)
    );
    let labels = [("\"here\"", "this one"), ("\"there\"", "and that")];
    let note =
        "a sentence that is longer than the terminal is wide, so that it has to be broken between words";
    insta::assert_snapshot!(drawn(&text, &labels, &[("why", note.to_owned())], 80), @r#"
    error[a-code]: expected a, found b
     --> a\u001b.json:1:600002
      |
    1 | …,1,1,1,1,"here",2,2,2,2,2,2,2,2,2,2…,2,2,2,2,"there",3,3,3,3,3,3,3,3,3,…
      |           ^^^^^^                              ------- and that
      |           |
      |           this one
      |
      = why: a sentence that is longer than the terminal is wide, so that it has to
             be broken between words
    "#);
}
