//! Which keywords a schema object has: found in one walk over its members, so that nobody searches them for each keyword.

use std::sync::LazyLock;

use super::{KEYWORDS, Keyword};
use crate::json::{Kind, Member, Node, name_hash};

/// A set of keywords, a bit each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct KeywordSet(u128);

const _: () = assert!(KEYWORDS.len() <= u128::BITS as usize, "each keyword has a bit");

impl KeywordSet {
    /// The keywords of these names, each of which must be one. For constants: it searches the table.
    #[expect(clippy::indexing_slicing, reason = "a name that is none does not compile")]
    pub(crate) const fn of(names: &[&str]) -> KeywordSet {
        let mut set = 0;
        let mut name = 0;
        while name < names.len() {
            let mut keyword = 0;
            while !is_same(KEYWORDS[keyword].name, names[name]) {
                keyword += 1;
            }
            set |= 1 << keyword;
            name += 1;
        }
        KeywordSet(set)
    }

    pub(crate) const fn meets(self, other: KeywordSet) -> bool {
        self.0 & other.0 != 0
    }

    pub(crate) const fn and(self, other: KeywordSet) -> KeywordSet {
        KeywordSet(self.0 & other.0)
    }
}

#[expect(clippy::indexing_slicing, reason = "both indexes are below the lengths")]
const fn is_same(a: &str, b: &str) -> bool {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    let mut at = 0;
    while at < a.len() && at < b.len() && a[at] == b[at] {
        at += 1;
    }
    at == a.len() && at == b.len()
}

/// The keywords of one schema object. Of what is no object, none.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Present<'a> {
    schema: Node<'a>,
    set: KeywordSet,
    /// The values' places, by keyword; of others, anything.
    values: [u32; KEYWORDS.len()],
    others: bool,
}

impl<'a> Present<'a> {
    pub(crate) fn of(schema: Node<'a>) -> Self {
        let mut present = Present { schema, set: KeywordSet(0), values: [0; KEYWORDS.len()], others: false };
        if schema.kind() == Kind::Object {
            let table = &*TABLE;
            for member in schema.members() {
                match table.find(member) {
                    Some(keyword) => present.add(keyword, member.value()),
                    None => present.others = true,
                }
            }
        }
        present
    }

    fn add(&mut self, keyword: usize, value: Node<'a>) {
        self.set.0 |= 1 << keyword;
        if let Some(place) = self.values.get_mut(keyword) {
            *place = value.index();
        }
    }

    pub(crate) const fn set(&self) -> KeywordSet {
        self.set
    }

    pub(crate) const fn schema(&self) -> Node<'a> {
        self.schema
    }

    /// Whether there are members that are no keyword of any dialect.
    pub(crate) const fn has_others(&self) -> bool {
        self.others
    }

    /// The value of a keyword. Only of one in the table.
    pub(crate) fn keyword(&self, name: &str) -> Option<Node<'a>> {
        let keyword = TABLE.by_name(name)?;
        if self.set.0 >> keyword & 1 == 0 {
            return None;
        }
        self.values.get(keyword).map(|&place| self.schema.at_index(place))
    }

    /// The keywords of a set that are there, in the order of the table, with their values.
    pub(crate) fn among(
        &self,
        set: KeywordSet,
    ) -> impl Iterator<Item = (&'static Keyword, Node<'a>)> + use<'a> {
        let Present { schema, values, .. } = *self;
        let mut left = self.set.and(set).0;
        std::iter::from_fn(move || {
            let keyword = left.trailing_zeros() as usize;
            left &= left.wrapping_sub(1);
            Some((KEYWORDS.get(keyword)?, schema.at_index(*values.get(keyword)?)))
        })
    }

    /// All of them.
    pub(crate) fn all(&self) -> impl Iterator<Item = (&'static Keyword, Node<'a>)> + use<'a> {
        self.among(KeywordSet(u128::MAX))
    }
}

/// Places in the table; a power of two, and so many more than keywords that few meet.
const PLACES: usize = 512;
/// No keyword.
const NONE: u8 = u8::MAX;

/// The keywords by the hashes of their names: open addressing.
struct Table([u8; PLACES]);

static TABLE: LazyLock<Table> = LazyLock::new(|| {
    let mut table = Table([NONE; PLACES]);
    for (index, keyword) in (0u8..).zip(KEYWORDS) {
        let mut at = start(name_hash(keyword.name));
        while table.0.get(at).is_some_and(|&taken| taken != NONE) {
            at = (at + 1) % PLACES;
        }
        if let Some(place) = table.0.get_mut(at) {
            *place = index;
        }
    }
    table
});

const fn start(hash: u32) -> usize {
    (hash >> 16 ^ hash) as usize % PLACES
}

impl Table {
    fn find(&self, member: Member<'_>) -> Option<usize> {
        self.search(member.name_hash(), |name| member.name_is(name))
    }

    fn by_name(&self, name: &str) -> Option<usize> {
        self.search(name_hash(name), |known| known == name)
    }

    #[inline]
    fn search(&self, hash: u32, is: impl Fn(&str) -> bool) -> Option<usize> {
        let mut at = start(hash);
        loop {
            let keyword = self.0.get(at).copied().filter(|&keyword| keyword != NONE)? as usize;
            if is(KEYWORDS.get(keyword)?.name) {
                return Some(keyword);
            }
            at = (at + 1) % PLACES;
        }
    }
}

/// The keyword of that name, in whatever profile it counts.
pub(crate) fn find(name: &str) -> Option<&'static Keyword> {
    KEYWORDS.get(TABLE.by_name(name)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::Document;

    #[test]
    fn every_keyword_is_found_by_its_name_and_others_are_not() {
        for keyword in KEYWORDS {
            assert_eq!(find(keyword.name).map(|found| found.name), Some(keyword.name));
        }
        assert!(find("maxlength").is_none());
        assert!(find("").is_none());
    }

    #[test]
    fn an_escaped_name_is_the_keyword_all_the_same() {
        let text = br#"{"minimum": 1, "x": 2, "\u0074ype": "integer"}"#;
        let limits = crate::Limits::default().schema_text();
        let document = Document::read(&text[..], &limits).unwrap();
        let present = Present::of(document.root());
        assert!(present.has_others());
        let names: Vec<_> = present.all().map(|(keyword, _)| keyword.name).collect();
        assert_eq!(names, ["type", "minimum"]);
        assert_eq!(present.keyword("type").and_then(Node::as_str).as_deref(), Some("integer"));
        assert!(present.keyword("maximum").is_none());
        assert!(present.set().meets(KeywordSet::of(&["maximum", "minimum"])));
        assert!(!present.set().meets(KeywordSet::of(&["maximum"])));
    }
}
