//! Why a value of the wire was not taken.

use std::fmt;

use callgate_schema::json::{Kind, ReadFault, write_string};
use callgate_schema::{Class, Finding};

macro_rules! codes {
    ($($name:ident $text:literal $doc:literal,)*) => {
        /// The code of a value that is not of the wire's form. The class of each is `validation`.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[non_exhaustive]
        pub enum ValueCode {
            $(#[doc = $doc] $name,)*
        }

        impl ValueCode {
            /// Every code, in the order of the table.
            pub const ALL: &[ValueCode] = &[$(ValueCode::$name,)*];

            /// The stable name.
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(ValueCode::$name => $text,)*
                }
            }

            /// What the code means, in a line.
            pub const fn summary(self) -> &'static str {
                match self {
                    $(ValueCode::$name => $doc,)*
                }
            }
        }
    };
}

codes! {
    NotJson "value-not-json" "a value in a program that has no JSON form",
    NotObject "value-not-object" "a value other than an object where an object belongs",
    ResultMalformed "result-malformed" "a result that is not of the wire's form",
    EntityMalformed "entity-malformed" "an entity with a field that is missing or has a wrong value",
    EntityDate "entity-date" "an entity whose time is none",
    EntityType "entity-type" "a description of an entity type with a name that is repeated or malformed, or a role given twice",
    UriScheme "uri-scheme" "a scheme that no URI can have",
    UriTemplate "uri-template" "a template of URIs with a variable that has no name, or without a scheme",
}

impl fmt::Display for ValueCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Why a value of the wire was not taken: what was expected, what was found, and in which field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ValueError {
    why: Box<Why>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Why {
    /// The text was not taken by the reader.
    Read(Finding),
    Value {
        code: ValueCode,
        field: Option<String>,
        message: String,
        help: Option<&'static str>,
    },
}

impl ValueError {
    /// A value that is not of the wire's form: what was expected, then what was found.
    pub fn new(code: ValueCode, message: impl Into<String>) -> ValueError {
        ValueError { why: Box::new(Why::Value { code, field: None, message: message.into(), help: None }) }
    }

    /// A text that the reader refused.
    pub fn read(fault: &ReadFault) -> ValueError {
        ValueError { why: Box::new(Why::Read(fault.finding())) }
    }

    pub(crate) fn not_json(message: String) -> ValueError {
        ValueError::new(ValueCode::NotJson, message)
    }

    pub(crate) fn not_object(found: Kind) -> ValueError {
        ValueError::new(ValueCode::NotObject, format!("expected an object, found {}", found.name()))
    }

    /// The same with the field at fault.
    #[must_use]
    pub fn in_field(mut self, name: &str) -> ValueError {
        if let Why::Value { field, .. } = &mut *self.why {
            *field = Some(name.to_owned());
        }
        self
    }

    /// The same with the advice.
    #[must_use]
    pub fn with_help(mut self, advice: &'static str) -> ValueError {
        if let Why::Value { help, .. } = &mut *self.why {
            *help = Some(advice);
        }
        self
    }

    /// The stable code.
    pub fn code(&self) -> &'static str {
        match &*self.why {
            Why::Read(finding) => finding.code.as_str(),
            Why::Value { code, .. } => code.as_str(),
        }
    }

    /// The class: `validation`, or `execution_failure` where a limit was exceeded.
    pub fn class(&self) -> Class {
        match &*self.why {
            Why::Read(finding) => finding.class(),
            Why::Value { .. } => Class::Validation,
        }
    }

    /// The field at fault, if it is one.
    pub fn field(&self) -> Option<&str> {
        match &*self.why {
            Why::Read(_) => None,
            Why::Value { field, .. } => field.as_deref(),
        }
    }

    /// How to mend it, if that can be said.
    pub fn help(&self) -> Option<&str> {
        match &*self.why {
            Why::Read(finding) => finding.help.as_deref(),
            Why::Value { help, .. } => *help,
        }
    }

    /// Appends the error as a JSON object, in the form that findings have.
    pub fn write_json(&self, out: &mut Vec<u8>) {
        let (code, message) = match &*self.why {
            Why::Read(finding) => return finding.write_json(out),
            Why::Value { code, message, .. } => (code.as_str(), message.as_str()),
        };
        let members = [
            ("class", Some(self.class().as_str())),
            ("code", Some(code)),
            ("message", Some(message)),
            ("help", self.help()),
            ("field", self.field()),
        ];
        let mut before = b'{';
        for (name, text) in members {
            let Some(text) = text else { continue };
            out.push(before);
            write_string(out, name);
            out.push(b':');
            write_string(out, text);
            before = b',';
        }
        out.push(b'}');
    }
}

impl fmt::Display for ValueError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &*self.why {
            Why::Read(finding) => f.write_str(&finding.message),
            Why::Value { field: Some(field), message, .. } => write!(f, "`{field}`: {message}"),
            Why::Value { field: None, message, .. } => f.write_str(message),
        }
    }
}

impl std::error::Error for ValueError {}
