//! One list out of those of many servers: every item as it came, but for the name under which the gate knows it.

use callgate_schema::json::{Kind, Node, Tape, skim_items, write_string};

use super::era::Era;
use crate::FrameLimits;
use crate::edit::Edits;
use crate::frame::one_line;

/// A list of something other than tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ListKind {
    /// `resources/list`.
    Resources,
    /// `resources/templates/list`.
    Templates,
    /// `prompts/list`.
    Prompts,
}

impl ListKind {
    /// Every kind.
    pub const ALL: [ListKind; 3] = [ListKind::Resources, ListKind::Templates, ListKind::Prompts];

    /// The list that a method asks for.
    pub fn of(method: &str) -> Option<ListKind> {
        ListKind::ALL.into_iter().find(|kind| kind.method() == method)
    }

    /// The method.
    pub fn method(self) -> &'static str {
        match self {
            ListKind::Resources => "resources/list",
            ListKind::Templates => "resources/templates/list",
            ListKind::Prompts => "prompts/list",
        }
    }

    /// The member of a result that holds the items.
    pub fn member(self) -> &'static str {
        match self {
            ListKind::Resources => "resources",
            ListKind::Templates => "resourceTemplates",
            ListKind::Prompts => "prompts",
        }
    }

    /// The member of an item by which a client asks for it.
    pub fn key(self) -> &'static str {
        match self {
            ListKind::Resources => "uri",
            ListKind::Templates => "uriTemplate",
            ListKind::Prompts => "name",
        }
    }

    /// The capability of a server that has such a list.
    pub fn capability(self) -> &'static str {
        match self {
            ListKind::Resources | ListKind::Templates => "resources",
            ListKind::Prompts => "prompts",
        }
    }
}

/// One page of such a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Items {
    /// The key and the text of each item that has one; others are left out.
    pub items: Vec<(String, Box<[u8]>)>,
    /// The cursor of the next page, as JSON text.
    pub next: Option<Box<str>>,
    /// Items that were left out: they cannot be read, or nobody could ask for them.
    pub dropped: usize,
}

impl Items {
    /// Reads the answer to a request for a page; `None` if it is none.
    pub fn read(frame: &[u8], kind: ListKind, limits: &FrameLimits) -> Option<Items> {
        let mut tape = Tape::new();
        let root = tape.read(frame, &limits.frame_text()).ok()?;
        let result = root.member("result")?;
        let list = result.member(kind.member()).filter(|list| list.kind() == Kind::Array)?;
        let next = result.member("nextCursor").filter(|cursor| cursor.kind() == Kind::String);
        let mut page =
            Items { items: Vec::new(), next: next.map(|cursor| cursor.raw_str().into()), dropped: 0 };
        for item in skim_items(list.raw()).ok()? {
            let text = list.raw().get(item).unwrap_or_default();
            let mut tape = Tape::new();
            let key = tape
                .read(text, &limits.frame_text())
                .ok()
                .and_then(|item| Some(item.member(kind.key()).and_then(Node::as_str)?.into_owned()));
            match key {
                Some(key) => page.items.push((key, text.into())),
                None => page.dropped += 1,
            }
        }
        Some(page)
    }
}

/// A definition under another name; every other byte stays.
pub fn named(definition: &[u8], limits: &FrameLimits, name: &str) -> Option<Vec<u8>> {
    let mut tape = Tape::new();
    let root = tape.read(definition, &limits.frame_text()).ok()?;
    let mut text = Vec::new();
    write_string(&mut text, name);
    let mut edits = Edits::default();
    edits.replace(root.member("name")?.span(), text);
    Some(edits.apply(definition))
}

/// The result of a list for a client of this era. `ttl_ms` is how long it may be kept; a list that depends on who asks is
/// theirs alone.
pub fn merged<'a>(member: &str, items: impl IntoIterator<Item = &'a [u8]>, era: Era, ttl_ms: u64) -> Vec<u8> {
    let mut out = format!("{{\"{member}\":[").into_bytes();
    for (i, item) in items.into_iter().enumerate() {
        if i > 0 {
            out.push(b',');
        }
        out.extend_from_slice(item);
    }
    out.push(b']');
    if era == Era::Modern {
        let rest = format!(",\"resultType\":\"complete\",\"ttlMs\":{ttl_ms},\"cacheScope\":\"private\"");
        out.extend_from_slice(rest.as_bytes());
    }
    out.push(b'}');
    one_line(&mut out);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_come_as_they_are_and_those_without_a_key_do_not() {
        let frame = br#"{"id":1,"result":{"prompts":[{"name": "a"},{"title":"b"},5],"nextCursor":""}}"#;
        let page = Items::read(frame, ListKind::Prompts, &FrameLimits::default()).unwrap();
        assert_eq!(page.items, [("a".to_owned(), br#"{"name": "a"}"#.as_slice().into())]);
        assert_eq!((page.next.as_deref(), page.dropped), (Some("\"\""), 2));
    }

    #[test]
    fn a_definition_changes_its_name_and_nothing_else() {
        let tool = br#"{"inputSchema":{"properties":{"name":{}}}, "name" : "a" ,"x":1e2}"#;
        let named = named(tool, &FrameLimits::default(), "s__a").unwrap();
        let expected = r#"{"inputSchema":{"properties":{"name":{}}}, "name" : "s__a" ,"x":1e2}"#;
        assert_eq!(String::from_utf8(named).unwrap(), expected);
    }

    #[test]
    fn a_merged_list_says_how_long_it_may_be_kept_where_that_is_known() {
        let items = [b"1".as_slice(), b"2"];
        let modern = merged("prompts", items, Era::Modern, 7);
        let expected = r#"{"prompts":[1,2],"resultType":"complete","ttlMs":7,"cacheScope":"private"}"#;
        assert_eq!(String::from_utf8(modern).unwrap(), expected);
    }
}
