//! How two JSON values differ: as a list of places, and as one value laid out with marks. Spellings are shown as they are;
//! what is equal by value does not differ.

use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;

use anstyle::{AnsiColor, Style};
use callgate_schema::json::{Kind, Node};

use super::escape::one_line;
use super::record::quoted;

const REMOVED: Style = AnsiColor::Red.on_default();
const ADDED: Style = AnsiColor::Green.on_default();
const CHANGED: Style = AnsiColor::Yellow.on_default();

/// What differs at one place.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Change<'a> {
    /// It was not there.
    Added(Node<'a>),
    /// It is not there any more.
    Removed(Node<'a>),
    /// It was the first and is the second.
    Changed(Node<'a>, Node<'a>),
}

/// One place at which two values differ.
#[derive(Debug, Clone)]
pub(crate) struct Difference<'a> {
    /// The names and indexes that lead there.
    pub(crate) steps: Vec<String>,
    /// What differs.
    pub(crate) change: Change<'a>,
}

impl Difference<'_> {
    /// The place as a JSON Pointer, made harmless for a terminal.
    pub(crate) fn pointer(&self) -> String {
        let step = |text: String, step: &String| text + "/" + &step.replace('~', "~0").replace('/', "~1");
        one_line(&self.steps.iter().fold(String::new(), step))
    }
}

/// Every place at which two values differ, as deep as they have anything in common. A list of scalars, such as `enum`, is
/// compared as a set.
pub(crate) fn differences<'a>(before: Node<'a>, now: Node<'a>) -> Vec<Difference<'a>> {
    let mut found = Vec::new();
    compare(&mut Vec::new(), before, now, &mut found);
    found
}

fn compare<'a>(steps: &mut Vec<String>, before: Node<'a>, now: Node<'a>, found: &mut Vec<Difference<'a>>) {
    if before.equals(now) {
        return;
    }
    let count = found.len();
    match (before.kind(), now.kind()) {
        (Kind::Object, Kind::Object) => {
            for (name, pair) in members(before, now) {
                step(steps, name, pair, found);
            }
        }
        (Kind::Array, Kind::Array) if scalars(before) && scalars(now) => {
            let hashes = |node: Node<'_>| node.items().map(Node::value_hash).collect::<HashSet<u64>>();
            let (hashes_before, hashes_now) = (hashes(before), hashes(now));
            for (at, item) in before.items().enumerate() {
                if !hashes_now.contains(&item.value_hash()) {
                    step(steps, at.to_string(), (Some(item), None), found);
                }
            }
            for (at, item) in now.items().enumerate() {
                if !hashes_before.contains(&item.value_hash()) {
                    step(steps, at.to_string(), (None, Some(item)), found);
                }
            }
        }
        (Kind::Array, Kind::Array) => {
            let (mut left, mut right) = (before.items(), now.items());
            for at in 0..before.len().max(now.len()) {
                step(steps, at.to_string(), (left.next(), right.next()), found);
            }
        }
        _ => {}
    }
    if found.len() == count {
        found.push(Difference { steps: steps.clone(), change: Change::Changed(before, now) });
    }
}

fn step<'a>(
    steps: &mut Vec<String>,
    name: String,
    pair: (Option<Node<'a>>, Option<Node<'a>>),
    found: &mut Vec<Difference<'a>>,
) {
    steps.push(name);
    let one = |change| Difference { steps: steps.clone(), change };
    match pair {
        (Some(before), Some(now)) => compare(steps, before, now, found),
        (Some(before), None) => found.push(one(Change::Removed(before))),
        (None, Some(now)) => found.push(one(Change::Added(now))),
        (None, None) => {}
    }
    steps.pop();
}

type Pair<'a> = (Option<Node<'a>>, Option<Node<'a>>);

/// The members of two objects by their names: those of the second in its order, then what only the first has.
fn members<'a>(before: Node<'a>, now: Node<'a>) -> Vec<(String, Pair<'a>)> {
    let names = |node: Node<'a>| node.members().map(|member| (member.name().into_owned(), member.value()));
    let was: HashMap<String, Node<'a>> = names(before).collect();
    let is: HashSet<String> = names(now).map(|(name, _)| name).collect();
    let both = names(now).map(|(name, value)| {
        let before = was.get(&name).copied();
        (name, (before, Some(value)))
    });
    let gone =
        names(before).filter(|(name, _)| !is.contains(name)).map(|(name, value)| (name, (Some(value), None)));
    both.chain(gone).collect()
}

fn scalars(node: Node<'_>) -> bool {
    node.items().all(|item| !matches!(item.kind(), Kind::Object | Kind::Array))
}

/// A value on one line, in the spelling that it has but for line ends.
pub(crate) fn compact(node: Node<'_>) -> String {
    one_line(node.raw_str())
}

/// A value laid out on lines, with a mark before each that is not as in `before`: `+` is new, `-` is gone, `~` was
/// another, which stands behind it.
pub(crate) fn marked(before: Option<Node<'_>>, now: Node<'_>) -> String {
    let mut page = Page { text: String::new() };
    match before {
        Some(before) => page.compare(0, "", before, now, ""),
        None => page.plain(Mark::None, 0, "", now, ""),
    }
    page.text
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mark {
    None,
    Added,
    Removed,
    Changed,
}

struct Page {
    text: String,
}

impl Page {
    fn line(&mut self, mark: Mark, depth: usize, line: &str) {
        let (sign, style) = match mark {
            Mark::None => (' ', Style::new()),
            Mark::Added => ('+', ADDED),
            Mark::Removed => ('-', REMOVED),
            Mark::Changed => ('~', CHANGED),
        };
        let _ = writeln!(self.text, "{style}{sign} {:width$}{line}{style:#}", "", width = 2 * depth);
    }

    /// A value, all of it with one mark. `before` stands before it on its first line, `after` behind it on its last.
    fn plain(&mut self, mark: Mark, depth: usize, before: &str, node: Node<'_>, after: &str) {
        let (open, close) = match node.kind() {
            Kind::Object => ('{', '}'),
            Kind::Array => ('[', ']'),
            Kind::String | Kind::Number | Kind::Bool | Kind::Null => {
                return self.line(mark, depth, &format!("{before}{}{after}", compact(node)));
            }
        };
        if node.len() == 0 {
            return self.line(mark, depth, &format!("{before}{open}{close}{after}"));
        }
        self.line(mark, depth, &format!("{before}{open}"));
        let last = node.len() - 1;
        let comma = |at: usize| if at < last { "," } else { "" };
        for (at, member) in node.members().enumerate() {
            self.plain(mark, depth + 1, &label(&member.name()), member.value(), comma(at));
        }
        for (at, item) in node.items().enumerate() {
            self.plain(mark, depth + 1, "", item, comma(at));
        }
        self.line(mark, depth, &format!("{close}{after}"));
    }

    fn compare(&mut self, depth: usize, name: &str, before: Node<'_>, now: Node<'_>, after: &str) {
        if before.equals(now) {
            return self.plain(Mark::None, depth, name, now, after);
        }
        let pairs: Vec<(String, Pair<'_>)> = match (before.kind(), now.kind()) {
            (Kind::Object, Kind::Object) => {
                members(before, now).into_iter().map(|(name, pair)| (label(&name), pair)).collect()
            }
            (Kind::Array, Kind::Array) => {
                let (mut left, mut right) = (before.items(), now.items());
                let most = before.len().max(now.len());
                (0..most).map(|_| (String::new(), (left.next(), right.next()))).collect()
            }
            (Kind::Object | Kind::Array, _) | (_, Kind::Object | Kind::Array) => {
                self.plain(Mark::Removed, depth, name, before, "");
                return self.plain(Mark::Added, depth, name, now, after);
            }
            _ => {
                let behind = format!("{after}   was {}", compact(before));
                return self.plain(Mark::Changed, depth, name, now, &behind);
            }
        };
        let (open, close) = if now.kind() == Kind::Object { ('{', '}') } else { ('[', ']') };
        self.line(Mark::None, depth, &format!("{name}{open}"));
        let last = now.len().saturating_sub(1);
        for (at, (name, pair)) in pairs.iter().enumerate() {
            let comma = if at < last { "," } else { "" };
            match pair {
                (Some(before), Some(now)) => self.compare(depth + 1, name, *before, *now, comma),
                (None, Some(now)) => self.plain(Mark::Added, depth + 1, name, *now, comma),
                (Some(before), None) => self.plain(Mark::Removed, depth + 1, name, *before, ""),
                (None, None) => {}
            }
        }
        self.line(Mark::None, depth, &format!("{close}{after}"));
    }
}

fn label(name: &str) -> String {
    format!("{}: ", one_line(&quoted(name)))
}

#[cfg(test)]
mod tests {
    use callgate_schema::Limits;
    use callgate_schema::json::Document;

    use super::*;

    fn document(text: &str) -> Document {
        Document::read(text.as_bytes(), &Limits::default().arguments_text()).unwrap()
    }

    fn listed(before: &str, now: &str) -> Vec<String> {
        let (before, now) = (document(before), document(now));
        let line = |it: &Difference<'_>| match it.change {
            Change::Added(now) => format!("+ {} {}", it.pointer(), compact(now)),
            Change::Removed(before) => format!("- {} {}", it.pointer(), compact(before)),
            Change::Changed(before, now) => {
                format!("~ {} {} → {}", it.pointer(), compact(before), compact(now))
            }
        };
        differences(before.root(), now.root()).iter().map(line).collect()
    }

    #[test]
    fn places_are_as_deep_as_there_is_something_in_common() {
        assert_eq!(
            listed(r#"{"a":{"b":1,"c":[1,{"d":2}]},"x":1}"#, r#"{"y":2,"a":{"b":1.0,"c":[1,{"d":3},4]}}"#),
            ["+ /y 2", "~ /a/c/1/d 2 → 3", "+ /a/c/2 4", "- /x 1"]
        );
        assert_eq!(listed(r#"{"e":["a","b"]}"#, r#"{"e":["c","a"]}"#), ["- /e/1 \"b\"", "+ /e/0 \"c\""]);
        assert_eq!(listed("[1,2]", "[2,1]"), ["~  [1,2] → [2,1]"]);
        assert_eq!(listed(r#"{"a/b~":1}"#, r#"{"a/b~":{}}"#), ["~ /a~1b~0 1 → {}"]);
        assert_eq!(listed("[1e2]", "[100]"), Vec::<String>::new());
    }

    #[test]
    fn arguments_are_laid_out_whole_and_marked_where_they_differ() {
        let before =
            document(r#"{"to":"bob","amount":20,"memo":"x","tags":["a"],"who":{"id":1},"same":{"k":[]}}"#);
        let now = document(
            "{\"to\":\"bob\\u202e\u{202e}\",\"amount\":2.50e2,\"tags\":[\"a\",\"b\"],\"who\":7,\"same\":{\"k\":[]},\"new\":{\"deep\":[true]}}",
        );
        let text = anstream::adapter::strip_str(&marked(Some(before.root()), now.root())).to_string();
        insta::assert_snapshot!(text, @r#"
          {
        ~   "to": "bob\u202e\u202e",   was "bob"
        ~   "amount": 2.50e2,   was 20
            "tags": [
              "a",
        +     "b"
            ],
        -   "who": {
        -     "id": 1
        -   }
        +   "who": 7,
            "same": {
              "k": []
            },
        +   "new": {
        +     "deep": [
        +       true
        +     ]
        +   }
        -   "memo": "x"
          }
        "#);
        let text = marked(None, document("{}").root());
        assert_eq!(anstream::adapter::strip_str(&text).to_string(), "  {}\n");
    }
}
