//! The output formats `flag` and `basic` of JSON Schema (2020-12 core, section 12.4).
//!
//! `absoluteKeywordLocation` is left out, as the section allows for schemas without an absolute `$id`.

use crate::Finding;
use crate::check::Verdict;
use crate::json::write_string;

impl Verdict {
    /// The format `flag`; `None` if a limit was reached, which is neither valid nor invalid.
    ///
    /// ```
    /// use callgate_schema::Verdict;
    /// assert_eq!(Verdict::Valid.flag(), Some(r#"{"valid":true}"#));
    /// ```
    pub const fn flag(&self) -> Option<&'static str> {
        match self {
            Verdict::Valid => Some(r#"{"valid":true}"#),
            Verdict::Invalid(_) => Some(r#"{"valid":false}"#),
            Verdict::Failed(_) => None,
        }
    }

    /// The format `basic`: a flat list of what is wrong; `None` if a limit was reached.
    ///
    /// ```
    /// use callgate_schema::json::Tape;
    /// use callgate_schema::{Options, Program};
    ///
    /// let options = Options::value();
    /// let schema = br##"{"$ref": "#/$defs/n", "$defs": {"n": {"type": "integer"}}}"##;
    /// let program = Program::compile(schema, &options).expect("it is enforceable");
    /// let mut tape = Tape::new();
    /// let value = tape.read(b"1.5", &options.limits.arguments_text()).expect("it is JSON");
    /// let basic = program.check(value).basic().expect("there is an answer");
    /// assert!(basic.contains(r#""keywordLocation":"/$ref/type","instanceLocation":"""#));
    /// ```
    pub fn basic(&self) -> Option<String> {
        let violations = match self {
            Verdict::Valid => return self.flag().map(str::to_owned),
            Verdict::Failed(_) => return None,
            Verdict::Invalid(violations) => violations,
        };
        let mut out = br#"{"valid":false,"errors":["#.to_vec();
        for (at, finding) in violations.findings.iter().enumerate() {
            if at > 0 {
                out.push(b',');
            }
            unit(&mut out, finding);
        }
        out.extend_from_slice(b"]}");
        String::from_utf8(out).ok()
    }
}

fn unit(out: &mut Vec<u8>, finding: &Finding) {
    let instance = finding.instance_location.as_ref().map(ToString::to_string).unwrap_or_default();
    let members = [
        ("{\"valid\":false,\"keywordLocation\":", finding.way()),
        (",\"instanceLocation\":", &instance),
        (",\"error\":", &finding.message),
    ];
    for (name, text) in members {
        out.extend_from_slice(name.as_bytes());
        write_string(out, text);
    }
    out.push(b'}');
}
