//! The rows: which receivers there are, and what each of them does to a schema.

use std::sync::LazyLock;

use callgate_schema::Limits;
use callgate_schema::json::Tape;

use super::shape::Shape;
use super::tree::Tree;

const TEXTS: &[&str] = &[
    include_str!("../../receivers/openai.json"),
    include_str!("../../receivers/openai-strict.json"),
    include_str!("../../receivers/anthropic.json"),
    include_str!("../../receivers/gemini.json"),
    include_str!("../../receivers/mcp-2025-11-25.json"),
    include_str!("../../receivers/mcp-2026-07-28.json"),
];

/// One receiver.
#[derive(Debug)]
pub(crate) struct Receiver {
    pub(crate) name: String,
    pub(crate) title: String,
    /// How much of a schema it holds the model to.
    pub(crate) holds: String,
    pub(crate) rules: Vec<Rule>,
}

/// One thing that a receiver does to schemas.
#[derive(Debug)]
pub(crate) struct Rule {
    pub(crate) id: String,
    pub(super) at: At,
    pub(super) looks_for: LooksFor,
    pub(crate) does: Does,
    /// What it expects, for people.
    pub(crate) says: String,
    /// Where that is said in public.
    pub(crate) source: String,
    /// The day of a report, or that on which documentation said so.
    pub(crate) date: String,
}

/// Where a rule looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum At {
    Root,
    Anywhere,
}

/// What a rule looks for.
#[derive(Debug)]
pub(super) enum LooksFor {
    Keywords(Vec<String>),
    KeywordsBeyond(Vec<String>),
    Shape(Shape),
}

/// What becomes of a schema that has what a rule looks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Does {
    /// The keyword is taken and has no effect.
    Drops,
    /// The request is refused, in most cases with every other tool in it.
    Refuses,
}

impl Does {
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Does::Drops => "drops",
            Does::Refuses => "refuses",
        }
    }
}

/// All receivers, in the order in which they are shown.
pub(crate) fn receivers() -> &'static [Receiver] {
    static TABLE: LazyLock<Vec<Receiver>> =
        LazyLock::new(|| TEXTS.iter().filter_map(|text| read(text)).collect());
    &TABLE
}

/// The names of all receivers, as the command line takes them.
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    receivers().iter().map(|receiver| receiver.name.as_str())
}

/// The receiver of that name.
pub(crate) fn named(name: &str) -> Option<&'static Receiver> {
    receivers().iter().find(|receiver| receiver.name == name)
}

impl Receiver {
    /// Whether it takes this keyword, at the root or elsewhere.
    pub(super) fn takes(&self, keyword: &str, is_root: bool) -> bool {
        !self.rules.iter().filter(|rule| rule.looks_at(is_root)).any(|rule| match &rule.looks_for {
            LooksFor::Keywords(keywords) => keywords.iter().any(|known| known == keyword),
            LooksFor::KeywordsBeyond(keywords) => !keywords.iter().any(|known| known == keyword),
            LooksFor::Shape(_) => false,
        })
    }

    /// Whether it has a rule of this shape.
    pub(super) fn minds(&self, shape: &Shape) -> bool {
        self.rules.iter().any(|rule| matches!(&rule.looks_for, LooksFor::Shape(known) if known == shape))
    }
}

impl Rule {
    pub(super) fn looks_at(&self, is_root: bool) -> bool {
        self.at == At::Anywhere || is_root
    }
}

/// Nothing for a text that is none of a receiver, or that has a rule that cannot be understood; a test sees to it that
/// there is none.
fn read(text: &str) -> Option<Receiver> {
    let mut tape = Tape::new();
    let tree = Tree::of(tape.read(text.as_bytes(), &Limits::default().schema_text()).ok()?);
    let member = |name| Some(tree.get(name)?.as_text()?.to_owned());
    Some(Receiver {
        name: member("name")?,
        title: member("title")?,
        holds: member("holds")?,
        rules: tree.get("rules")?.items().iter().map(rule).collect::<Option<_>>()?,
    })
}

fn rule(row: &Tree) -> Option<Rule> {
    let member = |name| Some(row.get(name)?.as_text()?.to_owned());
    let looks_for = match (texts(row, "keywords"), texts(row, "beyond"), row.get("shape")) {
        (Some(keywords), None, None) => LooksFor::Keywords(keywords),
        (None, Some(keywords), None) => LooksFor::KeywordsBeyond(keywords),
        (None, None, Some(Tree::Text(shape))) => LooksFor::Shape(Shape::named(shape, row)?),
        _ => return None,
    };
    let at = match row.get("at")?.as_text()? {
        "root" => At::Root,
        "anywhere" => At::Anywhere,
        _ => return None,
    };
    let does = match row.get("does")?.as_text()? {
        "refuses" => Does::Refuses,
        "drops" => Does::Drops,
        _ => return None,
    };
    Some(Rule {
        id: member("id")?,
        at,
        looks_for,
        does,
        says: member("says")?,
        source: member("source")?,
        date: member("date")?,
    })
}

pub(super) fn texts(row: &Tree, name: &str) -> Option<Vec<String>> {
    row.get(name)?.items().iter().map(|item| item.as_text().map(str::to_owned)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn every_row_is_understood_and_has_a_source_and_a_date() {
        for text in TEXTS {
            let mut tape = Tape::new();
            let tree = Tree::of(tape.read(text.as_bytes(), &Limits::default().schema_text()).unwrap());
            for row in tree.get("rules").unwrap().items() {
                assert!(rule(row).is_some(), "{}", row.written());
            }
        }
        assert_eq!(receivers().len(), TEXTS.len());
        let mut ids = HashSet::new();
        for rule in receivers().iter().flat_map(|receiver| &receiver.rules) {
            assert!(ids.insert(&rule.id), "{} stands twice", rule.id);
            assert!(rule.source.starts_with("https://"), "{}", rule.id);
            assert!(rule.date.parse::<jiff::civil::Date>().is_ok(), "{}", rule.id);
        }
    }

    #[test]
    fn the_page_has_every_row() {
        let page = include_str!("../../../../docs/reference/receivers.md");
        for receiver in receivers() {
            assert!(page.contains(&receiver.title), "{}", receiver.title);
            for rule in &receiver.rules {
                let row = format!("| `{}` | {} | {} |", rule.id, rule.does.as_str(), rule.says);
                assert!(page.contains(&row), "expected this row in the page: {row}");
                assert!(page.contains(&format!("[{}]({})", rule.date, rule.source)), "{}", rule.source);
            }
        }
    }
}
