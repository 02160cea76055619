//! What of a definition its digest leaves out: places that an operator lets change without a word, such as a version in
//! `_meta` that a server counts up with every start.

use std::fmt;

use callgate_schema::json::{Digest, Document, Kind, Node, ReadLimits, digest, write_string};

/// Places that one upstream can have left out. Each is compared with every place of every definition.
pub const PIN_IGNORE_MAX: usize = 32;

/// The places of a definition that its digest leaves out, as JSON Pointers (RFC 6901); none by default.
///
/// ```
/// use callgate_gateway::catalog::{AdmissionSettings, Catalog, PinIgnore, admit_tool};
/// use callgate_schema::Profile;
///
/// let mut settings = AdmissionSettings::new(Profile::Standard);
/// settings.pin_ignore = PinIgnore::new(&["/_meta/build"])?;
/// let digest = |definition: &str| {
///     let tool = admit_tool(definition.as_bytes(), 0, &settings);
///     Catalog::publish(1, "notes", vec![tool]).admitted()[0].contract_digest
/// };
/// let before = digest(r#"{"name": "read", "inputSchema": {}, "_meta": {"build": 1, "owner": "ada"}}"#);
/// assert_eq!(before, digest(r#"{"name": "read", "inputSchema": {}, "_meta": {"build": 2, "owner": "ada"}}"#));
/// assert_ne!(before, digest(r#"{"name": "read", "inputSchema": {}, "_meta": {"build": 2, "owner": "bob"}}"#));
/// # Ok::<(), callgate_gateway::catalog::MalformedPointer>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PinIgnore {
    /// The unescaped steps of each.
    places: Vec<Vec<String>>,
}

/// A text that is no place that can be left out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MalformedPointer {
    message: String,
}

impl fmt::Display for MalformedPointer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for MalformedPointer {}

impl PinIgnore {
    /// The places with these pointers.
    ///
    /// # Errors
    ///
    /// A text that is no JSON Pointer; the pointer to the whole definition, which would leave nothing to pin; a pointer
    /// to the name or into a schema, since calls are judged by what stands there; more than [`PIN_IGNORE_MAX`].
    pub fn new(pointers: &[impl AsRef<str>]) -> Result<PinIgnore, MalformedPointer> {
        if pointers.len() > PIN_IGNORE_MAX {
            let found = pointers.len();
            let message = format!("expected at most {PIN_IGNORE_MAX} pointers, found {found}");
            return Err(MalformedPointer { message });
        }
        let places = pointers.iter().map(|pointer| steps(pointer.as_ref())).collect::<Result<_, _>>()?;
        Ok(PinIgnore { places })
    }

    /// The digest of the definition `root` without these places.
    pub fn contract_digest(&self, root: Node<'_>) -> Digest {
        if self.places.is_empty() {
            return digest("contract", root);
        }
        let places: Vec<&[String]> = self.places.iter().map(Vec::as_slice).collect();
        let mut text = Vec::with_capacity(root.raw().len());
        write_without(&mut text, root, &places);
        // It was read within limits before, and is a part of what was read.
        let limits = ReadLimits {
            subject: "definition",
            bytes_max: u64::MAX,
            depth_max: u64::MAX,
            nodes_max: u64::MAX,
            number_digits_max: u64::MAX,
            number_exponent_max: u64::MAX,
        };
        match Document::read(text, &limits) {
            Ok(document) => digest("contract", document.root()),
            // A digest of more than was asked for holds back more, and lets nothing through.
            Err(_) => digest("contract", root),
        }
    }
}

/// Reads a pointer.
fn steps(pointer: &str) -> Result<Vec<String>, MalformedPointer> {
    let expected = |what: &str| MalformedPointer { message: format!("expected {what}, found `{pointer}`") };
    let Some(rest) = pointer.strip_prefix('/') else {
        return Err(expected("a JSON Pointer to a part of a definition, such as `/_meta/build`"));
    };
    let steps: Option<Vec<String>> = rest.split('/').map(unescaped).collect();
    let steps = steps.ok_or_else(|| expected("`~` to stand before `0` or `1`"))?;
    match steps.first().map(String::as_str) {
        Some("name" | "inputSchema" | "outputSchema") => {
            Err(expected("a part other than the name and the schemas, by which calls are judged"))
        }
        _ => Ok(steps),
    }
}

fn unescaped(step: &str) -> Option<String> {
    let mut out = String::with_capacity(step.len());
    let mut chars = step.chars();
    while let Some(c) = chars.next() {
        out.push(match c {
            '~' => match chars.next()? {
                '0' => '~',
                '1' => '/',
                _ => return None,
            },
            c => c,
        });
    }
    Some(out)
}

/// Writes a value without these places in it. As deep as the longest of them at most.
fn write_without(out: &mut Vec<u8>, node: Node<'_>, places: &[&[String]]) {
    if places.is_empty() {
        out.extend_from_slice(node.raw());
        return;
    }
    let below = |step: &str| -> (bool, Vec<&[String]>) {
        let of_step =
            places.iter().filter_map(|place| place.split_first().filter(|(first, _)| *first == step));
        let rest: Vec<&[String]> = of_step.map(|(_, rest)| rest).collect();
        (rest.iter().any(|rest| rest.is_empty()), rest)
    };
    match node.kind() {
        Kind::Object => {
            out.push(b'{');
            let mut first = true;
            for member in node.members() {
                let (left_out, places) = below(&member.name());
                if left_out {
                    continue;
                }
                if !std::mem::take(&mut first) {
                    out.push(b',');
                }
                write_string(out, &member.name());
                out.push(b':');
                write_without(out, member.value(), &places);
            }
            out.push(b'}');
        }
        Kind::Array => {
            out.push(b'[');
            let mut first = true;
            for (at, item) in node.items().enumerate() {
                let (left_out, places) = below(&at.to_string());
                if left_out {
                    continue;
                }
                if !std::mem::take(&mut first) {
                    out.push(b',');
                }
                write_without(out, item, &places);
            }
            out.push(b']');
        }
        Kind::String | Kind::Number | Kind::Bool | Kind::Null => out.extend_from_slice(node.raw()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_places_that_calls_are_not_judged_by_can_be_left_out() {
        for (pointer, good) in [
            ("/_meta", true),
            ("/annotations/x~1y~0z", true),
            ("/title", true),
            ("/", true),
            ("", false),
            ("_meta", false),
            ("/a~2", false),
            ("/a~", false),
            ("/name", false),
            ("/inputSchema/description", false),
            ("/outputSchema", false),
        ] {
            assert_eq!(PinIgnore::new(&[pointer]).is_ok(), good, "{pointer}");
        }
        let many: Vec<String> = (0..=PIN_IGNORE_MAX).map(|i| format!("/_meta/{i}")).collect();
        assert!(PinIgnore::new(&many).is_err());
    }

    #[test]
    fn the_rest_is_digested_as_if_the_places_were_not_there() {
        let ignore = PinIgnore::new(&["/_meta/a~1b", "/list/1", "/nothing/there"]).unwrap();
        let digest_of = |text: &str, ignore: &PinIgnore| {
            let limits = callgate_schema::Limits::default().schema_text();
            ignore.contract_digest(Document::read(text.as_bytes(), &limits).unwrap().root())
        };
        let all = PinIgnore::default();
        for (with, without) in [
            (r#"{"_meta":{"a/b":1,"c":1.50}}"#, r#"{"_meta":{"c":1.5}}"#),
            (r#"{"list":[0,{"x":1},2]}"#, r#"{"list":[0,2]}"#),
            (r#"{"_meta":{"a\u002fb":[]}}"#, r#"{"_meta":{}}"#),
            (r#"{"_meta":7}"#, r#"{"_meta":7}"#),
        ] {
            assert_eq!(digest_of(with, &ignore), digest_of(without, &all), "{with}");
        }
    }
}
