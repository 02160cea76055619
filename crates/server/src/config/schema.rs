//! The JSON Schema of the file, and the check of a file by it: our own engine names every key that is wrong.

use callgate_schema::json::Document;
use callgate_schema::{Code, Finding, Limits, Options, Profile, Program, Verdict};
use schemars::generate::SchemaSettings;
use schemars::transform::{RecursiveTransform, Transform};
use schemars::{JsonSchema as _, Schema};
use serde_json::Value;

use super::fault::ConfigFault;
use super::form::FileForm;
use super::tree::Tree;

/// The JSON Schema of the configuration, as a text with line ends: for editors, and for whoever writes one by a program.
pub fn schema_text() -> String {
    let schema = generated();
    // A schema of our own types can be printed.
    let mut text = serde_json::to_string_pretty(&schema).unwrap_or_default();
    text.push('\n');
    text
}

fn generated() -> Schema {
    let mut generator = SchemaSettings::draft2020_12().into_generator();
    let _ = FileForm::json_schema(&mut generator);
    let mut schema = generator.into_root_schema_for::<FileForm>();
    RecursiveTransform(plain).transform(&mut schema);
    schema
}

/// What is absent is absent in TOML, and not null; and the width of a number of ours says nothing to a writer.
fn plain(schema: &mut Schema) {
    let Some(members) = schema.as_object_mut() else { return };
    members.remove("default");
    if members.get("format").and_then(Value::as_str).is_some_and(|format| format.starts_with("uint")) {
        members.remove("format");
    }
    if let Some(Value::Array(types)) = members.get_mut("type") {
        types.retain(|name| name != "null");
        if let [only] = types.as_slice() {
            let only = only.clone();
            members.insert("type".to_owned(), only);
        }
    }
    if let Some(Value::Array(values)) = members.get_mut("enum") {
        values.retain(|value| !value.is_null());
    }
    let branches = members.get_mut("anyOf").and_then(Value::as_array_mut);
    if let Some(branches) = branches {
        branches.retain(|branch| branch.get("type").and_then(Value::as_str) != Some("null"));
        if branches.len() == 1
            && let Some(Value::Object(only)) = branches.pop()
        {
            members.remove("anyOf");
            for (name, value) in only {
                members.entry(name).or_insert(value);
            }
        }
    }
}

/// Checks the JSON of a file; each fault with its place in the file.
pub(super) fn check(tree: &Tree<'_>, json: &[u8]) -> Vec<ConfigFault> {
    let limits = Limits { findings_max: FAULTS_MAX, ..Limits::default() };
    let options = Options { limits: limits.clone(), ..Options::tool(Profile::Standard) };
    let program = match Program::compile(schema_text().as_bytes(), &options) {
        Ok(program) => program,
        Err(error) => return error.findings.iter().map(whole).collect(),
    };
    let document = match Document::read(json, &limits.arguments_text()) {
        Ok(document) => document,
        Err(fault) => return vec![whole(&fault.finding())],
    };
    match program.check(document.root()) {
        Verdict::Valid => Vec::new(),
        Verdict::Invalid(violations) => {
            violations.findings.iter().map(|finding| fault(tree, finding)).collect()
        }
        Verdict::Failed(finding) => vec![whole(&finding)],
    }
}

/// Faults of one file that are told.
const FAULTS_MAX: u64 = 1_000;

fn whole(finding: &Finding) -> ConfigFault {
    let message = finding.message.clone();
    ConfigFault { line: 0, column: 0, key: String::new(), message, help: finding.help.clone() }
}

fn fault(tree: &Tree<'_>, finding: &Finding) -> ConfigFault {
    let mut place = finding.instance_location.clone().unwrap_or_default();
    let property = finding.details.iter().find_map(|(name, detail)| match (name, detail) {
        (&"property", callgate_schema::Detail::Text(text)) => Some(text.clone()),
        _ => None,
    });
    let message = match (finding.code, property) {
        (Code::PropertyUnexpected, Some(property)) => {
            // The key itself is at fault, and not the table that it is in.
            place.0.push(callgate_schema::Step::Name(property.clone()));
            format!("expected a key that is known here, found `{property}`")
        }
        (Code::PropertyMissing, Some(property)) => format!("expected the key `{property}`, found none"),
        _ => finding.message.clone(),
    };
    tree.fault(&place, message, finding.help.clone())
}
