//! What is broken, counted; and the judgement of what arrived at a server, which reads JSON in its own way.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::report::Report;

/// What must hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Promise {
    Unbroken,
    Answered,
    Alive,
    Bounded,
    Readable,
    Valid,
    Refused,
}

const PROMISES: [(Promise, &str); 7] = [
    (Promise::Unbroken, "no gate breaks, and each ends as it should"),
    (
        Promise::Answered,
        "every request whose id can be read is answered in time, or its connection is closed",
    ),
    (Promise::Alive, "a good call goes through after each lot"),
    (Promise::Bounded, "the memory of a gate is bounded"),
    (Promise::Readable, "what a client gets is JSON, one message a line"),
    (Promise::Valid, "no call arrives whose arguments are not valid"),
    (Promise::Refused, "no call arrives whose message was refused"),
];

/// How many breaches are shown of each promise.
const SHOWN_MAX: usize = 5;

/// What was found so far.
#[derive(Debug, Default)]
pub(super) struct Findings {
    broken: BTreeMap<Promise, Vec<String>>,
    /// What is not told yet.
    fresh: Vec<String>,
    count: usize,
    /// Messages that were sent, demanded answers that came, calls that arrived, the most memory of a gate in KiB.
    pub(super) sent: u64,
    pub(super) answered: u64,
    pub(super) arrived: u64,
    pub(super) memory_kib: u64,
}

impl Findings {
    pub(super) fn broke(&mut self, promise: Promise, what: String) {
        self.count += 1;
        let all = self.broken.entry(promise).or_default();
        if all.len() < SHOWN_MAX {
            self.fresh.push(format!("{promise:?}: {what}"));
            all.push(what);
        }
    }

    /// The breaches since this was asked for before.
    pub(super) fn fresh(&mut self) -> Vec<String> {
        std::mem::take(&mut self.fresh)
    }

    pub(super) fn counts(&self) -> String {
        format!(
            "{} messages, {} answers, {} calls arrived, at most {} KiB",
            self.sent, self.answered, self.arrived, self.memory_kib
        )
    }

    pub(super) fn report(&self, report: &mut Report, seed: u64) {
        report.say(&self.counts());
        for (promise, name) in PROMISES {
            let fault = self.broken.get(&promise).map(|all| format!("seed {seed}: {}", all.join("\n      ")));
            report.check(name, fault);
        }
        let idle = self.arrived == 0 || self.answered == 0;
        let name = "calls arrived and answers came, so that there was something to judge";
        report.check(name, idle.then(|| self.counts()));
    }
}

/// A message for a report: what can be shown of it, and not all of a long one.
pub(super) fn shown(bytes: &[u8]) -> String {
    const SHOWN_BYTES_MAX: usize = 600;
    let part = bytes.get(..SHOWN_BYTES_MAX).unwrap_or(bytes);
    format!("({} bytes) {:?}", bytes.len(), String::from_utf8_lossy(part))
}

/// Looks at the fixture's file of effects: a process, a tool, and the arguments as they came, on each line. Gives the
/// markers of the calls.
pub(super) fn arrivals(text: &str, findings: &mut Findings) -> BTreeSet<String> {
    let mut markers = BTreeSet::new();
    for line in text.lines() {
        findings.arrived += 1;
        let mut words = line.splitn(3, ' ').skip(1);
        let (tool, arguments) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
        // A call without arguments is a call with none.
        let arguments = if arguments.is_empty() { "{}" } else { arguments };
        if let Err(fault) = validity(tool, arguments) {
            findings.broke(Promise::Valid, format!("{fault}: {}", shown(line.as_bytes())));
        }
        let arguments: Value = serde_json::from_str(arguments).unwrap_or_default();
        markers.extend(arguments.get("marker").and_then(Value::as_str).map(str::to_owned));
    }
    markers
}

/// Whether the arguments are valid for a tool of [`super::good::TOOLS`].
fn validity(tool: &str, arguments: &str) -> Result<(), String> {
    let members: Members<'_> =
        serde_json::from_str(arguments).map_err(|error| format!("no object: {error}"))?;
    let mut names = BTreeSet::new();
    for (name, value) in &members.0 {
        if !names.insert(name.as_str()) {
            return Err(format!("`{name}` twice"));
        }
        if tool == "free" {
            continue;
        }
        let value: Value = serde_json::from_str(value.get()).map_err(|error| error.to_string())?;
        let good = match name.as_str() {
            "marker" => value.as_str().is_some_and(|text| text.chars().count() <= 64),
            "count" => {
                value.as_f64().is_some_and(|count| count.fract() == 0.0 && (0.0..=9.0).contains(&count))
            }
            "words" => value.as_array().is_some_and(|words| {
                words.len() <= 3
                    && words.iter().all(|word| matches!(word.as_str(), Some("keel" | "mast" | "sail")))
            }),
            _ => false,
        };
        if !good {
            return Err(format!("`{name}` is wrong"));
        }
    }
    match tool {
        "free" => Ok(()),
        "mark" if names.contains("marker") => Ok(()),
        "mark" => Err("no `marker`".to_owned()),
        _ => Err("no such tool".to_owned()),
    }
}

/// An object's members as they stand, repeated ones, too.
struct Members<'a>(Vec<(String, &'a RawValue)>);

impl<'de: 'a, 'a> Deserialize<'de> for Members<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Members<'a>, D::Error> {
        struct Reader;
        impl<'de> Visitor<'de> for Reader {
            type Value = Vec<(String, &'de RawValue)>;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(members)
            }
        }
        deserializer.deserialize_map(Reader).map(Members)
    }
}

/// What an independent reader finds in a line: the id and the method of a request.
pub(super) struct Request {
    /// The id as JSON text.
    pub(super) id: String,
    pub(super) method: String,
}

/// The request in a line, if its id can be read without a doubt.
pub(super) fn request(line: &[u8]) -> Option<Request> {
    let members: Members<'_> = serde_json::from_slice(line).ok()?;
    let only = |name: &str| {
        let mut found = members.0.iter().filter(|(other, _)| other == name);
        found.next().filter(|_| found.next().is_none()).map(|(_, value)| value.get())
    };
    let (id, method) = (only("id")?, only("method")?);
    let plain = id.parse::<i64>().is_ok_and(|number| number.to_string() == id)
        || (id.starts_with('"') && !id.contains('\\') && id.len() < 100);
    let method = serde_json::from_str::<String>(method).ok()?;
    plain.then(|| Request { id: id.to_owned(), method })
}

/// What a client got, if it is JSON; numbers that have no place in a float are JSON, too, and then nothing is judged.
pub(super) fn readable(line: &[u8], findings: &mut Findings) -> Value {
    if serde_json::from_slice::<&RawValue>(line).is_err() {
        findings.broke(Promise::Readable, shown(line));
    }
    serde_json::from_slice(line).unwrap_or_default()
}

/// Whether an answer says that the gate did not send the call on.
pub(super) fn is_refusal(answer: &Value) -> bool {
    let refusal = answer.pointer("/result/_meta/dev.callgate~1refusal");
    let without_effect = refusal.and_then(|refusal| refusal.get("side_effect")) == Some(&Value::from("none"));
    without_effect || answer.get("error").is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_judged_by_another_reader() {
        assert_eq!(validity("mark", r#"{"marker":"m","count":9.0,"words":["keel"]}"#), Ok(()));
        for bad in [
            r#"{"marker":"m","marker":"m"}"#,
            r#"{"marker":"m","\u006darker":"m"}"#,
            r#"{"count":1}"#,
            r#"{"marker":"m","count":10}"#,
            r#"{"marker":"m","count":1.5}"#,
            r#"{"marker":"m","words":["rope"]}"#,
            r#"{"marker":"m","more":1}"#,
            r#"{"marker":"m"} {}"#,
            "[]",
            "{}",
        ] {
            assert!(validity("mark", bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_promise_that_is_broken_is_in_the_report() {
        let mut findings = Findings::default();
        let markers =
            arrivals("1 mark {\"marker\":\"a\"}\n1 mark {\"marker\":\"b\",\"count\":10}\n", &mut findings);
        assert_eq!((markers.len(), findings.count), (2, 1));
        let mut report = Report::default();
        findings.report(&mut report, 1);
        assert!(!report.close());
    }

    #[test]
    fn only_an_id_without_a_doubt_is_demanded() {
        let id = |line: &str| request(line.as_bytes()).map(|request| request.id);
        assert_eq!(id(r#"{"id":7,"method":"ping"}"#).as_deref(), Some("7"));
        for line in
            [r#"{"id":7}"#, r#"{"id":7,"id":8,"method":"m"}"#, r#"{"id":1.0,"method":"m"}"#, r#"{"id":7,"#]
        {
            assert_eq!(id(line), None, "{line}");
        }
    }
}
