//! Work bombs: small inputs that make a naive engine work without end, one row each.
//!
//! A bomb is made here and judged by `cases/engine-bombs.jsonl`: what the answer is (`valid`, `invalid`, or the code of the
//! limit or fault), and the work that the deciding pass draws, to the unit. That number is the ceiling: it is the same on
//! every machine, every step of a check draws from it, and no row may exceed the allowance. What draws no work, such as
//! compiling, is held to instructions in `crates/cli/tests/bounds.rs`.
//!
//! Where a change of the engine changes the numbers, `CALLGATE_WORK_ANEW=1` writes the rows again; what changed is then
//! read like code.
#![expect(
    clippy::disallowed_methods,
    clippy::expect_used,
    reason = "a test reads its data and may write it again"
)]

mod making;
mod of_schemas;
mod of_values;

use std::fmt::Write as _;
use std::path::Path;

use callgate_schema::json::{Tape, canonical, digest};
use callgate_schema::pattern::{Language, Pattern};
use callgate_schema::{
    Coercion, CompileError, Finding, Limits, Options, Profile, Program, Validator, Verdict, Work,
};

/// What is asked.
enum Question {
    /// A value against a schema, from bytes and from a `serde_json::Value`.
    Check {
        schema: String,
        value: String,
    },
    /// The same with formats asserted.
    Formats {
        schema: String,
        value: String,
    },
    /// A tool's schema alone.
    Preflight {
        schema: String,
    },
    /// Arguments that come as texts.
    Coerce {
        schema: String,
        arguments: String,
        profile: Profile,
    },
    Pattern {
        pattern: String,
        text: String,
    },
    Digest {
        value: String,
    },
}

use Question::{Check, Coerce, Digest, Formats, Preflight};

type Bomb = (&'static str, Question);

fn bombs() -> Vec<Bomb> {
    let of_values =
        [of_values::references(), of_values::values(), of_values::tracked(), of_values::formats()];
    let looked_at = [of_values::reports(), of_values::glances()];
    let others =
        [of_schemas::patterns(), of_schemas::coercions(), of_schemas::schemas(), of_schemas::digests()];
    of_values.into_iter().chain(looked_at).chain(others).flatten().collect()
}

/// The answer in a word and, where it is a verdict, the work.
struct Answer {
    word: String,
    work: u64,
    /// The most that the limits allow.
    allowed: u64,
}

fn refused(findings: &[Finding], allowed: u64) -> Answer {
    Answer {
        word: findings.first().map_or("none", |finding| finding.code.as_str()).to_owned(),
        work: 0,
        allowed,
    }
}

impl Question {
    fn answer(&self) -> Answer {
        let limits = Limits::default();
        match self {
            Check { schema, value } => checked(schema, value, &Options::value()),
            Formats { schema, value } => {
                checked(schema, value, &Options { format_assertion: true, ..Options::value() })
            }
            Preflight { schema } => {
                match Program::compile(schema.as_bytes(), &Options::tool(Profile::Standard)) {
                    Ok(program) => match program.warnings().first() {
                        Some(warning) => {
                            Answer { word: format!("admitted, {}", warning.code), work: 0, allowed: 0 }
                        }
                        None => Answer { word: "admitted".to_owned(), work: 0, allowed: 0 },
                    },
                    Err(CompileError { findings, .. }) => refused(&findings, 0),
                }
            }
            Coerce { schema, arguments, profile } => coerced(schema, arguments, *profile),
            Question::Pattern { pattern, text } => matched(pattern, text, &limits),
            Digest { value } => {
                let mut tape = Tape::new();
                let node =
                    tape.read(value.as_bytes(), &limits.arguments_text()).expect("the value can be read");
                let again = canonical(node);
                let mut second = Tape::new();
                let same = second.read(&again, &limits.arguments_text()).expect("canonical text can be read");
                assert_eq!(digest("value", node), digest("value", same), "a canonical text is its own");
                Answer { word: "digested".to_owned(), work: 0, allowed: 0 }
            }
        }
    }
}

fn checked(schema: &str, value: &str, options: &Options) -> Answer {
    let limits = &options.limits;
    let allowed = limits.work_for(value.len());
    let program = match Program::compile(schema.as_bytes(), options) {
        Ok(program) => program,
        Err(error) => return refused(&error.findings, allowed),
    };
    let mut tape = Tape::new();
    let node = tape.read(value.as_bytes(), &limits.arguments_text()).expect("the value can be read");
    let verdict = program.check(node);
    let word = word(&verdict);
    // The other entry has one text to make and no other answer, but for how numbers of a `Value` are bounded.
    let validator = options.build_slice(schema.as_bytes()).expect("it was admitted");
    same_from_value(&validator, value, &verdict);
    Answer { word, work: program.work_of(node), allowed: allowed + allowed / 4 }
}

fn same_from_value(validator: &Validator, value: &str, verdict: &Verdict) {
    let Ok(parsed) = serde_json::from_str::<serde_json::Value>(value) else { return };
    // A double has other digits than the text it was read from.
    if parsed.to_string().len() > 2 * value.len()
        || serde_json::to_string(&parsed).is_ok_and(|text| text != value)
    {
        return;
    }
    assert_eq!(word(&validator.evaluate(&parsed)), word(verdict));
}

fn word(verdict: &Verdict) -> String {
    match verdict {
        Verdict::Valid => "valid".to_owned(),
        Verdict::Invalid(violations) => {
            assert!(!violations.findings.is_empty() && violations.findings.len() <= 100);
            "invalid".to_owned()
        }
        Verdict::Failed(finding) => finding.code.as_str().to_owned(),
    }
}

fn coerced(schema: &str, arguments: &str, profile: Profile) -> Answer {
    let options = Options::tool(profile);
    let coercion = Coercion::compile(schema.as_bytes(), &options).expect("the schema is admitted");
    let mut tape = Tape::new();
    let limits = options.limits.arguments_text();
    let node = tape.read(arguments.as_bytes(), &limits).expect("the arguments can be read");
    let outcome = coercion.coerce(node);
    let word = match &outcome {
        Ok(coerced) => {
            let mut edits = Vec::new();
            coerced.edits.write_json(&mut edits);
            let most = options.limits.work_for(arguments.len());
            assert!(edits.len() as u64 <= most, "{} bytes of edits", edits.len());
            format!("{} edits", coerced.edits.len())
        }
        Err(finding) => finding.code.as_str().to_owned(),
    };
    Answer { word, work: 0, allowed: 0 }
}

fn matched(pattern: &str, text: &str, limits: &Limits) -> Answer {
    let allowed = limits.work_for(text.len());
    let pattern = match Pattern::compile(pattern, Language::Standard, limits) {
        Ok(pattern) => pattern,
        Err(fault) => return Answer { word: fault.code.as_str().to_owned(), work: 0, allowed },
    };
    let mut work = Work::new(allowed);
    let word = match pattern.is_match(text, &mut work) {
        Ok(matched) => if matched { "match" } else { "no match" }.to_owned(),
        Err(_) => "work-exhausted".to_owned(),
    };
    Answer { word, work: work.used(), allowed }
}

#[test]
fn each_bomb_has_the_answer_and_the_work_on_record() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../cases/engine-bombs.jsonl");
    let mut found = String::new();
    for (name, question) in bombs() {
        let Answer { word, work, allowed } = question.answer();
        assert!(work <= allowed, "{name}: {work} units of work of {allowed}");
        writeln!(found, r#"{{"name":"{name}","answer":"{word}","work":{work}}}"#)
            .expect("a text takes what is written");
    }
    if std::env::var_os("CALLGATE_WORK_ANEW").is_some() {
        std::fs::write(&path, &found).expect("the rows can be written");
        return;
    }
    let recorded = std::fs::read_to_string(&path).expect("the rows can be read");
    let differ: Vec<_> = found.lines().filter(|line| !recorded.lines().any(|known| known == *line)).collect();
    assert!(found == recorded, "the answers are not those on record; found\n{}", differ.join("\n"));
}
