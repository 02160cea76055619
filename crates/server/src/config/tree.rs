//! A TOML text as JSON, with every number as it was spelled, and where each of its values stands in the text.

use std::ops::Range;

use callgate_schema::json::write_string;
use callgate_schema::{Location, Step};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::fault::{ConfigFault, key};

/// A text that was read.
pub(super) struct Tree<'t> {
    text: &'t str,
    root: Spanned<DeTable<'t>>,
}

/// A TOML text as the text of a JSON object, with every number as it was spelled.
///
/// # Errors
/// What is no TOML, or what JSON does not have: dates, infinity.
pub fn toml_as_json(text: &str) -> Result<Vec<u8>, ConfigFault> {
    Tree::read(text)?.to_json()
}

impl<'t> Tree<'t> {
    /// Reads a text.
    pub(super) fn read(text: &'t str) -> Result<Tree<'t>, ConfigFault> {
        match DeTable::parse(text) {
            Ok(root) => Ok(Tree { text, root }),
            Err(error) => {
                let (line, column) = line_of(text, error.span().map_or(0, |span| span.start));
                let message = error.message().replace('\n', ", ");
                Err(ConfigFault { line, column, key: String::new(), message, help: None })
            }
        }
    }

    /// The same as JSON.
    pub(super) fn to_json(&self) -> Result<Vec<u8>, ConfigFault> {
        let mut out = Vec::new();
        let mut path = Location(Vec::new());
        self.write_table(&mut out, self.root.get_ref(), &mut path)?;
        Ok(out)
    }

    fn write_table(
        &self,
        out: &mut Vec<u8>,
        table: &DeTable<'_>,
        path: &mut Location,
    ) -> Result<(), ConfigFault> {
        out.push(b'{');
        for (at, (name, value)) in table.iter().enumerate() {
            if at > 0 {
                out.push(b',');
            }
            write_string(out, name.get_ref());
            out.push(b':');
            path.0.push(Step::Name(name.get_ref().clone().into_owned()));
            self.write_value(out, value, path)?;
            path.0.pop();
        }
        out.push(b'}');
        Ok(())
    }

    fn write_value(
        &self,
        out: &mut Vec<u8>,
        value: &Spanned<DeValue<'_>>,
        path: &mut Location,
    ) -> Result<(), ConfigFault> {
        let no_json = |what: &str| {
            let help = "write it as a text, in quotes".to_owned();
            Err(self.fault(path, format!("expected a value that JSON has, found {what}"), Some(help)))
        };
        match value.get_ref() {
            DeValue::String(text) => write_string(out, text),
            DeValue::Boolean(flag) => out.extend_from_slice(if *flag { b"true" } else { b"false" }),
            DeValue::Integer(number) => match i64::from_str_radix(number.as_str(), number.radix()) {
                Ok(number) => out.extend_from_slice(number.to_string().as_bytes()),
                Err(_) => return no_json("a number over 64 bits"),
            },
            DeValue::Float(number) => match json_number(number.as_str()) {
                Some(number) => out.extend_from_slice(number.as_bytes()),
                None => return no_json("a number that is none"),
            },
            DeValue::Datetime(_) => return no_json("a date or a time"),
            DeValue::Table(table) => return self.write_table(out, table, path),
            DeValue::Array(items) => {
                out.push(b'[');
                for (at, item) in items.iter().enumerate() {
                    if at > 0 {
                        out.push(b',');
                    }
                    path.0.push(Step::Index(at));
                    self.write_value(out, item, path)?;
                    path.0.pop();
                }
                out.push(b']');
            }
        }
        Ok(())
    }

    /// A fault at this place.
    pub(super) fn fault(&self, place: &Location, message: String, help: Option<String>) -> ConfigFault {
        let (line, column) = line_of(self.text, self.span(place).start);
        ConfigFault { line, column, key: key(place), message, help }
    }

    /// Whether there is a value at this place.
    pub(super) fn has(&self, place: &Location) -> bool {
        self.deepest(place).1 == place.0.len()
    }

    /// Where a value stands, its key included; of one that is not there, what would hold it.
    pub(super) fn span(&self, place: &Location) -> Range<usize> {
        self.deepest(place).0
    }

    fn deepest(&self, place: &Location) -> (Range<usize>, usize) {
        let mut span = 0..0;
        let mut here: Option<&DeValue<'_>> = None;
        for (depth, step) in place.0.iter().enumerate() {
            let table = match (depth, here) {
                (0, _) => Some(self.root.get_ref()),
                (_, Some(value)) => value.as_table(),
                _ => None,
            };
            let found = match step {
                Step::Name(name) => table.and_then(|table| {
                    let (key, value) = table.iter().find(|(key, _)| key.get_ref() == name.as_str())?;
                    Some((key.span(), value))
                }),
                Step::Index(index) => here
                    .and_then(DeValue::as_array)
                    .and_then(|items| items.get(*index))
                    .map(|item| (item.span(), item)),
            };
            let Some((at, value)) = found else { return (span, depth) };
            span = at;
            here = Some(value.get_ref());
        }
        (span, place.0.len())
    }
}

/// A number of TOML in the grammar of JSON; none of infinity and what is no number.
fn json_number(text: &str) -> Option<String> {
    let text = text.replace('_', "");
    let text = text.strip_prefix('+').unwrap_or(&text);
    let good = callgate_schema::json::Number::parse(text).is_some();
    good.then(|| text.to_owned())
}

/// The line and the column of an offset, from 1, in characters.
fn line_of(text: &str, offset: usize) -> (usize, usize) {
    let before = text.get(..offset).unwrap_or(text);
    let line = before.matches('\n').count() + 1;
    let start = before.rfind('\n').map_or(0, |at| at + 1);
    (line, before.get(start..).unwrap_or_default().chars().count() + 1)
}
