//! One remark about a schema, a text or a value: what is wrong, where, and how to mend it.

use std::borrow::Cow;

use crate::json::write_string;
use crate::{Class, Code, Location, WireForm};

/// One remark: a fault of a text or a schema, or a violation by a value.
///
/// `message` says what was expected, then what was found, and holds no value of the arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Finding {
    /// The stable code.
    pub code: Code,
    /// A lower-case fragment without a final stop.
    pub message: String,
    /// What to write instead, if that can be said.
    pub help: Option<String>,
    /// The keyword at fault.
    pub keyword: Option<Cow<'static, str>>,
    /// Where in the schema, as a JSON Pointer. The place of the keyword for a violation and for a keyword's fault.
    pub schema_location: Option<String>,
    /// The way through the schemas by which a violation was found, references included: a JSON Pointer. `None` where no
    /// reference was followed: it is then the place in the schema.
    pub evaluation_path: Option<String>,
    /// Where in the value, for violations alone.
    pub instance_location: Option<Location>,
    /// Facts by name, in the order in which they are printed.
    pub details: Vec<(&'static str, Detail)>,
    /// Byte offset of the fault in the text it is in (the schema's for its faults, the value's for violations).
    pub offset: Option<usize>,
    /// The kind and the path that profile `wire` gives, there alone.
    pub wire: Option<WireForm>,
}

/// A fact in a finding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Detail {
    /// A text.
    Text(String),
    /// A count.
    Count(u64),
    /// JSON text, as it stands in the schema, so that numbers keep their spelling.
    Json(String),
}

impl Finding {
    /// A finding with a code and a message; the rest is added with the methods below.
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Finding {
            code,
            message: message.into(),
            help: None,
            keyword: None,
            schema_location: None,
            evaluation_path: None,
            instance_location: None,
            details: Vec::new(),
            offset: None,
            wire: None,
        }
    }

    /// The class, which follows from the code.
    pub const fn class(&self) -> Class {
        self.code.class()
    }

    /// The way through the schemas by which a violation was found; empty for what is no violation.
    pub(crate) fn way(&self) -> &str {
        let way = self.evaluation_path.as_ref().or(self.schema_location.as_ref());
        way.filter(|_| self.class() != Class::ExecutionFailure).map_or("", String::as_str)
    }

    /// Adds the advice.
    #[must_use]
    pub fn with_help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// Adds the keyword and its place in the schema.
    #[must_use]
    pub fn at_schema(mut self, keyword: impl Into<Cow<'static, str>>, location: impl Into<String>) -> Self {
        self.keyword = Some(keyword.into());
        self.schema_location = Some(location.into());
        self
    }

    /// Adds the place in the value.
    #[must_use]
    pub fn at_instance(mut self, location: Location) -> Self {
        self.instance_location = Some(location);
        self
    }

    /// Adds a fact.
    #[must_use]
    pub fn with(mut self, name: &'static str, detail: Detail) -> Self {
        if self.details.is_empty() {
            // Room for one, which is most often all.
            self.details.reserve_exact(1);
        }
        self.details.push((name, detail));
        self
    }

    /// Adds the byte offset.
    #[must_use]
    pub const fn at_offset(mut self, offset: usize) -> Self {
        self.offset = Some(offset);
        self
    }

    /// Appends the finding as a JSON object in the form of the worker's answers.
    pub fn write_json(&self, out: &mut Vec<u8>) {
        member(out, b'{', "class", self.class().as_str());
        member(out, b',', "code", self.code.as_str());
        member(out, b',', "message", &self.message);
        if let Some(help) = &self.help {
            member(out, b',', "help", help);
        }
        if let Some(keyword) = &self.keyword {
            member(out, b',', "keyword", keyword);
        }
        if let Some(location) = &self.schema_location {
            member(out, b',', "schema_location", location);
        }
        if let Some(location) = &self.instance_location {
            member(out, b',', "instance_location", &location.to_string());
            member(out, b',', "arguments_path", &location.arguments_path());
        }
        if let Some(wire) = &self.wire {
            member(out, b',', "kind", wire.kind);
            member(out, b',', "path", &wire.path);
        }
        if let Some(offset) = self.offset {
            out.extend_from_slice(format!(",\"offset\":{offset}").as_bytes());
        }
        if !self.details.is_empty() {
            out.extend_from_slice(b",\"details\":");
            for (i, (name, detail)) in self.details.iter().enumerate() {
                out.push(if i == 0 { b'{' } else { b',' });
                write_string(out, name);
                out.push(b':');
                match detail {
                    Detail::Text(text) => write_string(out, text),
                    Detail::Count(count) => out.extend_from_slice(count.to_string().as_bytes()),
                    Detail::Json(json) => out.extend_from_slice(json.as_bytes()),
                }
            }
            out.push(b'}');
        }
        out.push(b'}');
    }
}

fn member(out: &mut Vec<u8>, before: u8, name: &str, text: &str) {
    out.push(before);
    write_string(out, name);
    out.push(b':');
    write_string(out, text);
}
