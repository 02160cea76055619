//! The targets themselves. They fail by panicking.
#![expect(clippy::expect_used, reason = "a broken law shall stop the fuzzer")]

use callgate_schema::json::{
    Document, Member, Node, Tape, canonical, digest, position, skim_items, skim_members,
};
use callgate_schema::pattern::{Language, Pattern, PatternFault};
use callgate_schema::{CompileError, Dialect, Finding, Limits, Options, Profile, Program, Verdict, Work};

use crate::generate::made;
use crate::reference::Reference;

/// Work of one match: enough for what is linear, little enough for what is not.
const MATCH_WORK: u64 = 1_000_000;

/// A schema above this length is compiled and not compared: the reference evaluator saves no work.
const COMPARED_BYTES_MAX: usize = 2_048;

/// What divides the parts of an input.
const DIVIDER: u8 = b'\n';

/// Reads JSON text; looks at the value in every way, and writes it again.
pub(crate) fn reader(data: &[u8]) {
    let limits = Limits::default().arguments_text();
    _ = (skim_items(data), skim_members(data));
    let document = match Document::read(data, &limits) {
        Ok(document) => document,
        Err(fault) => {
            written(&fault.finding());
            let place = position(data, fault.finding().offset.unwrap_or_default());
            assert!(place.line >= 1 && place.column >= 1, "a position counts from one");
            return;
        }
    };
    let root = document.root();
    let text = canonical(root);
    // It moves the point behind the first digit, which a number at the limits has room for only beyond them.
    let wider = Limits { number_exponent_max: 1 << 14, number_digits_max: 1 << 14, ..Limits::default() };
    let again =
        Document::read(text.as_slice(), &wider.arguments_text()).expect("the canonical form can be read");
    assert_eq!(canonical(again.root()), text, "the canonical form is its own canonical form");
    assert_eq!(digest("value", again.root()), digest("value", root), "equal values have one digest");
    assert!(root.equals(again.root()) && again.root().equals(root), "a value equals its canonical form");
    assert_eq!(root.value_hash(), again.root().value_hash(), "equal values have one hash");
    look(root, root);
}

/// Each value of a tree, without recursion.
fn look(root: Node<'_>, of: Node<'_>) {
    let mut open = vec![of];
    while let Some(node) = open.pop() {
        assert!(node.span().end <= root.text_bytes().len(), "a value lies within its text");
        assert_eq!(node.char_count(), node.as_str().map_or(0, |text| text.chars().count()));
        if let Some(number) = node.as_number() {
            assert!(number.is_multiple_of(number) || number.is_zero(), "a number is a multiple of itself");
            assert_eq!(
                number.as_u64().map(|whole| whole.to_string()),
                whole(node, number.is_integer()),
                "{node:?}"
            );
        }
        assert_eq!(node.items().len() + node.members().len(), node.len());
        for member in node.members() {
            assert!(member.name_is(&member.name()), "a member has its name");
            assert_eq!(node.member(&member.name()).map(Node::id), Some(member.value().id()));
        }
        open.extend(node.items().chain(node.members().map(Member::value)));
    }
}

/// A number as a whole one of 64 bits, if it is one: by its canonical form.
fn whole(node: Node<'_>, is_integer: bool) -> Option<String> {
    let text = String::from_utf8(canonical(node)).expect("JSON is UTF-8");
    let plain = text.parse::<u64>().ok().map(|number| number.to_string());
    assert!(plain.is_none() || is_integer, "what is spelt as a whole number is one");
    plain
}

/// Compiles a pattern in both languages and matches the rest of the input.
pub(crate) fn pattern(data: &[u8]) {
    let (pattern, subject) = divided(data);
    let (pattern, subject) = (String::from_utf8_lossy(pattern), String::from_utf8_lossy(subject));
    let limits = Limits::default();
    let standard = Pattern::compile(&pattern, Language::Standard, &limits);
    let portable = Pattern::compile(&pattern, Language::Portable, &limits);
    for fault in [&standard, &portable].into_iter().filter_map(|result| result.as_ref().err()) {
        let PatternFault { offset, message, .. } = fault;
        assert!(*offset <= pattern.len() && !message.is_empty(), "a fault has a place and a message");
    }
    let answers: Vec<_> =
        [&standard, &portable].into_iter().flatten().map(|one| answer(one, &subject)).collect();
    if let Ok(portable) = &portable {
        assert!(portable.is_linear(), "a portable pattern takes linear time");
        assert!(standard.is_ok(), "the standard language takes what the portable one takes");
        assert!(answers.windows(2).all(|pair| pair.first() == pair.last()), "both languages give one answer");
    }
}

/// The answer and its work, the same from a matcher at first use and later.
fn answer(pattern: &Pattern, subject: &str) -> Option<bool> {
    let again = || {
        let mut work = Work::new(MATCH_WORK);
        let found = pattern.is_match(subject, &mut work).ok();
        (found, work.used())
    };
    let first = again();
    assert_eq!(first, again(), "the work of a match is the same each time");
    first.0
}

/// Compiles a schema in every profile and dialect; says everything that is said of it.
pub(crate) fn compile(data: &[u8]) {
    for profile in [Profile::Standard, Profile::Portable, Profile::Wire] {
        for dialect in [Dialect::Draft202012, Dialect::Draft07] {
            for options in [
                Options { dialect, ..Options::tool(profile) },
                Options { dialect, profile, format_assertion: true, ..Options::value() },
            ] {
                compile_with(data, &options);
            }
        }
    }
}

fn compile_with(data: &[u8], options: &Options) {
    match Program::compile(data, options) {
        Ok(program) => {
            assert_eq!(program.schema_text(), data);
            program.warnings().iter().for_each(written);
            for value in ["{}", "[]", "0", r#"{"a":1}"#] {
                verdict(&program, value, options);
            }
        }
        Err(error) => {
            let CompileError { findings, truncated, .. } = &error;
            assert!(!findings.is_empty(), "a schema is refused and nothing is said about it");
            assert!(findings.len() as u64 <= options.limits.findings_max + u64::from(!truncated));
            assert!(!error.to_string().is_empty());
            findings.iter().for_each(written);
            let again = Program::compile(data, options).expect_err("it is refused each time");
            assert_eq!(error, again, "a schema is refused for the same reasons each time");
        }
    }
}

/// Checks values against a schema: bytes that start with an even one make both, others hold a schema, and its values.
pub(crate) fn validate(data: &[u8]) {
    let Some((first, rest)) = data.split_first() else { return };
    if first % 2 == 0 {
        let made = made(rest);
        let dialect = if made.draft_07 { Dialect::Draft07 } else { Dialect::Draft202012 };
        let values: Vec<&str> = made.values.iter().map(String::as_str).collect();
        compared(made.schema.as_bytes(), &values, dialect);
    } else {
        let (schema, values) = divided(rest);
        let values = String::from_utf8_lossy(values);
        let dialect = if first % 4 == 1 { Dialect::Draft202012 } else { Dialect::Draft07 };
        compared(schema, &values.lines().collect::<Vec<_>>(), dialect);
    }
}

fn compared(schema: &[u8], values: &[&str], dialect: Dialect) {
    let options = Options { dialect, ..Options::value() };
    let Ok(program) = Program::compile(schema, &options) else { return };
    let mut reference = None;
    for value in values {
        let Some(found) = verdict(&program, value, &options) else { continue };
        if schema.len() > COMPARED_BYTES_MAX {
            continue;
        }
        let reference =
            reference.get_or_insert_with(|| Reference::new(schema, &options).expect("it was compiled"));
        let mut tape = Tape::new();
        let node = tape.read(value.as_bytes(), &options.limits.arguments_text()).expect("it was read");
        assert_eq!(found, reference.is_valid(node), "engine and reference differ about {value}");
        twins(&program, schema, value, &options);
    }
}

/// A value that a program holds and the text of that value have one verdict. Its text need not be the one at hand: a
/// float that was read is written in another way.
fn twins(program: &Program, schema: &[u8], value: &str, options: &Options) {
    let Ok(held) = serde_json::from_str::<serde_json::Value>(value) else { return };
    let validator = options.build_slice(schema).expect("it was compiled");
    let text = held.to_string();
    assert_eq!(validator.is_valid(&held), validator.is_valid_slice(text.as_bytes()), "of {value}");
    assert_eq!(
        validator.validate(&held).is_ok(),
        validator.validate_slice(text.as_bytes()).is_ok(),
        "of {value}"
    );
    assert_eq!(validator.program().digest(), program.digest());
}

/// The verdict, if the value can be read and no limit is reached; both ways of deciding say the same.
fn verdict(program: &Program, value: &str, options: &Options) -> Option<bool> {
    let mut tape = Tape::new();
    let node = tape.read(value.as_bytes(), &options.limits.arguments_text()).ok()?;
    assert_eq!(program.work_of(node), program.work_of(node), "the work of a check is the same each time");
    match program.check(node) {
        Verdict::Valid => {
            assert_eq!(program.is_valid(node), Ok(true));
            Some(true)
        }
        Verdict::Invalid(violations) => {
            assert_eq!(program.is_valid(node), Ok(false));
            assert!(!violations.findings.is_empty(), "a value is refused and nothing is said about it");
            assert!(violations.findings.len() as u64 <= options.limits.findings_max);
            violations.findings.iter().for_each(written);
            Some(false)
        }
        Verdict::Failed(finding) => {
            written(&finding);
            assert_eq!(program.is_valid(node), Err(finding));
            None
        }
    }
}

/// A finding's JSON can be read, and has no line break in its message.
fn written(finding: &Finding) {
    let mut json = Vec::new();
    finding.write_json(&mut json);
    let limits = Limits { arguments_bytes_max: u64::MAX, ..Limits::default() };
    let document = Document::read(json, &limits.arguments_text()).expect("a finding is JSON");
    assert!(document.root().member("code").is_some());
    assert!(!finding.message.is_empty(), "a finding says something");
}

/// The input before and after the first divider.
fn divided(data: &[u8]) -> (&[u8], &[u8]) {
    let at = data.iter().position(|byte| *byte == DIVIDER).unwrap_or(data.len());
    (data.get(..at).unwrap_or_default(), data.get(at + 1..).unwrap_or_default())
}
