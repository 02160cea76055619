//! The three validators behind one question: does this value keep this schema?

use std::collections::HashMap;
use std::error::Error;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use callgate_schema::json::Tape;
use callgate_schema::{Dialect, Options, Program, Verdict};
use serde_json::Value;

/// What a validator says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    Valid,
    Invalid,
    /// The schema is not taken.
    Refused(String),
    /// The schema or the value is no JSON to it, or a limit was reached.
    Unreadable(String),
}

impl Answer {
    fn of(valid: bool) -> Answer {
        if valid { Answer::Valid } else { Answer::Invalid }
    }
}

/// The schemas that references reach.
#[derive(Clone, Default)]
struct Given(Arc<HashMap<String, Value>>);

impl Given {
    fn new(options: &Options) -> Given {
        let read = |text: &[u8]| serde_json::from_slice(text).unwrap_or(Value::Null);
        let all = options.resources.iter().map(|given| (given.uri.clone(), read(&given.text)));
        Given(Arc::new(all.collect()))
    }

    fn find(&self, uri: &str) -> Result<Value, Box<dyn Error + Send + Sync>> {
        self.0.get(uri.trim_end_matches('#')).cloned().ok_or_else(|| format!("{uri} was not given").into())
    }
}

impl jsonschema::Retrieve for Given {
    fn retrieve(&self, uri: &jsonschema::Uri<String>) -> Result<Value, Box<dyn Error + Send + Sync>> {
        self.find(uri.as_str())
    }
}

impl boon::UrlLoader for Given {
    fn load(&self, url: &str) -> Result<Value, Box<dyn Error>> {
        Ok(self.find(url).map_err(|error| error.to_string())?)
    }
}

/// One schema, to be asked about several values.
pub struct Schema<'a> {
    pub text: &'a str,
    pub options: &'a Options,
}

impl Schema<'_> {
    /// The engine's answers.
    pub fn ours(&self, values: &[&str]) -> Vec<Answer> {
        let program = match Program::compile(self.text.as_bytes(), self.options) {
            Ok(program) => program,
            Err(error) => return vec![Answer::Refused(error.to_string()); values.len()],
        };
        let mut tape = Tape::new();
        let mut answer =
            |value: &&str| match tape.read(value.as_bytes(), &self.options.limits.arguments_text()) {
                Err(fault) => Answer::Unreadable(fault.finding().message),
                Ok(node) => match program.check(node) {
                    Verdict::Valid => Answer::Valid,
                    Verdict::Invalid(_) => Answer::Invalid,
                    Verdict::Failed(finding) => Answer::Unreadable(finding.message),
                },
            };
        values.iter().map(&mut answer).collect()
    }

    /// The answers of the crate `jsonschema`.
    pub fn jsonschema(&self, values: &[&str]) -> Vec<Answer> {
        guarded(values, || {
            let schema = match serde_json::from_str::<Value>(self.text) {
                Ok(schema) => schema,
                Err(error) => return vec![Answer::Unreadable(error.to_string()); values.len()],
            };
            let given = Given::new(self.options);
            let mut options = jsonschema::options().should_validate_formats(false).with_retriever(given);
            if schema.get("$schema").is_none() {
                options = options.with_draft(match self.options.dialect {
                    Dialect::Draft202012 => jsonschema::Draft::Draft202012,
                    Dialect::Draft07 => jsonschema::Draft::Draft7,
                });
            }
            match options.build(&schema) {
                Ok(validator) => read(values, |value| validator.is_valid(value)),
                Err(error) => vec![Answer::Refused(error.to_string()); values.len()],
            }
        })
    }

    /// The answers of the crate `boon`.
    pub fn boon(&self, values: &[&str]) -> Vec<Answer> {
        const PLACE: &str = "http://callgate.invalid/schema.json";
        guarded(values, || {
            let schema = match serde_json::from_str::<Value>(self.text) {
                Ok(schema) => schema,
                Err(error) => return vec![Answer::Unreadable(error.to_string()); values.len()],
            };
            let mut compiler = boon::Compiler::new();
            compiler.set_default_draft(match self.options.dialect {
                Dialect::Draft202012 => boon::Draft::V2020_12,
                Dialect::Draft07 => boon::Draft::V7,
            });
            compiler.use_loader(Box::new(Given::new(self.options)));
            for name in FORMATS {
                compiler.register_format(boon::Format { name, func: |_| Ok(()) });
            }
            let mut schemas = boon::Schemas::new();
            let added = compiler.add_resource(PLACE, schema);
            match added.and_then(|()| compiler.compile(PLACE, &mut schemas)) {
                Ok(index) => read(values, |value| schemas.validate(value, index).is_ok()),
                Err(error) => vec![Answer::Refused(format!("{error:#}")); values.len()],
            }
        })
    }
}

/// Asserted by `boon` in draft-07 unless told otherwise.
const FORMATS: [&str; 20] = [
    "date-time",
    "date",
    "time",
    "duration",
    "period",
    "email",
    "idn-email",
    "hostname",
    "idn-hostname",
    "ipv4",
    "ipv6",
    "uri",
    "uri-reference",
    "iri",
    "iri-reference",
    "uuid",
    "uri-template",
    "json-pointer",
    "relative-json-pointer",
    "semver",
];

fn read(values: &[&str], valid: impl Fn(&Value) -> bool) -> Vec<Answer> {
    let answer = |text: &&str| match serde_json::from_str::<Value>(text) {
        Ok(value) => Answer::of(valid(&value)),
        Err(error) => Answer::Unreadable(error.to_string()),
    };
    values.iter().map(answer).collect()
}

/// A panic is an answer too.
fn guarded(values: &[&str], ask: impl Fn() -> Vec<Answer>) -> Vec<Answer> {
    catch_unwind(AssertUnwindSafe(ask))
        .unwrap_or_else(|_| vec![Answer::Unreadable("it panics".to_owned()); values.len()])
}
