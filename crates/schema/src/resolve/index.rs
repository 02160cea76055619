//! Where schemas stand in a text: its resources (`$id`), their anchors, and the dialect that each has.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt::Write as _;

use crate::Profile;
use crate::dialect::Dialect;
use crate::json::{Kind, Member, Node};
use crate::keywords::{Holds, KeywordSet, Present, Use};
use crate::location::write_escaped;
use crate::resolve::metaschema::Vocabularies;
use crate::resolve::sources::{DocumentId, Spot};
use crate::resolve::uri::Reference;

/// Which resource.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct ResourceId(pub(crate) u32);

/// A resource: a schema with a URI of its own.
#[derive(Debug, Clone)]
pub(crate) struct ResourceEntry {
    pub(crate) uri: String,
    pub(crate) root: Spot,
    /// JSON Pointer from the root of its text.
    pub(crate) location: String,
    pub(crate) language: Language,
}

/// What keywords mean in a resource.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Language {
    pub(crate) dialect: Dialect,
    pub(crate) vocabularies: Vocabularies,
}

/// A subschema: where it is, and in which resource.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) spot: Spot,
    pub(crate) resource: ResourceId,
    /// JSON Pointer from the root of its text.
    pub(crate) location: String,
}

/// Everything that references can name, in the texts reached so far.
#[derive(Debug, Default)]
pub(crate) struct Index {
    resources: Vec<ResourceEntry>,
    by_uri: HashMap<String, ResourceId>,
    by_root: BTreeMap<Spot, ResourceId>,
    anchors: HashMap<(ResourceId, String), Place>,
    /// The anchors that `$dynamicRef` looks for, in the order in which they were met.
    dynamic: Vec<(ResourceId, String, Place)>,
    dynamic_names: HashSet<(ResourceId, String)>,
}

impl Index {
    /// Adds a text whose root is known by `uri`; gives the resource of its root.
    pub(crate) fn add(
        &mut self,
        document: DocumentId,
        root: Node<'_>,
        uri: &str,
        profile: Profile,
        language: Language,
        language_of: &mut impl FnMut(&str) -> Option<Language>,
    ) -> ResourceId {
        let spot = Spot { document, node: root.id() };
        let id = self.resource(uri.to_owned(), spot, String::new(), language);
        let mut ways = Ways::default();
        let mut open = vec![(root, id, Ways::ROOT)];
        let only_root = names_root_alone(root);
        while let Some((schema, outer, way)) = open.pop() {
            let present = Present::of(schema);
            let place = Standing { document, present: &present, outer, ways: &ways, way };
            let resource = self.schema(&place, language_of);
            if only_root {
                break;
            }
            let language = self.resources.get(resource.0 as usize).map_or(language, |entry| entry.language);
            below(&present, profile, language, |child, keyword, part| {
                open.push((child, resource, ways.add(way, keyword, part)));
            });
        }
        id
    }

    fn resource(&mut self, uri: String, root: Spot, location: String, language: Language) -> ResourceId {
        let id = ResourceId(u32::try_from(self.resources.len()).unwrap_or(u32::MAX));
        self.by_uri.entry(uri.clone()).or_insert(id);
        self.by_root.insert(root, id);
        self.resources.push(ResourceEntry { uri, root, location, language });
        id
    }

    /// Notes what one schema says of itself; gives the resource that it belongs to.
    fn schema(
        &mut self,
        place: &Standing<'_>,
        language_of: &mut impl FnMut(&str) -> Option<Language>,
    ) -> ResourceId {
        let &Standing { document, present, outer, .. } = place;
        if !NAMING.meets(present.set()) {
            return outer;
        }
        let spot = Spot { document, node: present.schema().id() };
        let location = &place.location();
        let Some(entry) = self.resources.get(outer.0 as usize) else { return outer };
        let (base, mut language) = (entry.uri.clone(), entry.language);
        let mut resource = outer;
        let draft_07 = language.dialect == Dialect::Draft07;
        // Draft-07, section 8.3: `$id` beside `$ref` is ignored.
        let ignored = draft_07 && present.keyword("$ref").is_some();
        if let Some(id) = present.keyword("$id").and_then(Node::as_str).filter(|_| !ignored)
            && let Some(Reference { uri, fragment }) = Reference::resolve(&base, &id)
        {
            if !id.starts_with('#') {
                let named = present.keyword("$schema").and_then(Node::as_str);
                language = named.and_then(|uri| language_of(&uri)).unwrap_or(language);
                resource = match self.by_root.get(&spot) {
                    Some(&root) => self.rename(root, uri),
                    None => self.resource(uri, spot, location.clone(), language),
                };
            }
            // Draft-07, section 8.2.3: a fragment alone names a place.
            if draft_07 && !fragment.is_empty() {
                self.anchor(resource, fragment, spot, location);
            }
        }
        if !draft_07 {
            for keyword in ["$anchor", "$dynamicAnchor"] {
                let Some(name) = present.keyword(keyword).and_then(Node::as_str) else { continue };
                self.anchor(resource, name.clone().into_owned(), spot, location);
                if keyword == "$dynamicAnchor" {
                    let place = Place { spot, resource, location: location.clone() };
                    self.dynamic_names.insert((resource, name.clone().into_owned()));
                    self.dynamic.push((resource, name.into_owned(), place));
                }
            }
        }
        resource
    }

    /// The root of a text may have a URI of its own beside the one that it was found by.
    fn rename(&mut self, id: ResourceId, uri: String) -> ResourceId {
        if let Some(entry) = self.resources.get_mut(id.0 as usize) {
            entry.uri.clone_from(&uri);
        }
        self.by_uri.entry(uri).or_insert(id);
        id
    }

    fn anchor(&mut self, resource: ResourceId, name: String, spot: Spot, location: &str) {
        let place = Place { spot, resource, location: location.to_owned() };
        self.anchors.entry((resource, name)).or_insert(place);
    }

    pub(crate) fn by_uri(&self, uri: &str) -> Option<ResourceId> {
        self.by_uri.get(uri).copied()
    }

    pub(crate) fn entry(&self, id: ResourceId) -> Option<&ResourceEntry> {
        self.resources.get(id.0 as usize)
    }

    /// The resource whose root is there.
    pub(crate) fn root_at(&self, spot: Spot) -> Option<ResourceId> {
        self.by_root.get(&spot).copied()
    }

    pub(crate) fn anchored(&self, resource: ResourceId, name: &str) -> Option<&Place> {
        self.anchors.get(&(resource, name.to_owned()))
    }

    /// The dynamic anchors met so far.
    pub(crate) fn dynamic(&self) -> &[(ResourceId, String, Place)] {
        &self.dynamic
    }

    pub(crate) fn is_dynamic(&self, resource: ResourceId, name: &str) -> bool {
        self.dynamic_names.contains(&(resource, name.to_owned()))
    }
}

/// The keywords that give a schema a name.
const NAMING: KeywordSet = KeywordSet::of(&["$id", "$anchor", "$dynamicAnchor"]);
/// The same as they stand in a text.
const NAMES: [&[u8]; 3] = [b"\"$id\"", b"\"$anchor\"", b"\"$dynamicAnchor\""];

/// Whether no schema of a text but its root can have a name, by a look at the text: that is so of nearly every tool. A name
/// in an example counts too, which does no harm.
fn names_root_alone(root: Node<'_>) -> bool {
    let text = root.text_bytes();
    let quoted = |at: usize| text.get(at.saturating_sub(1)..).unwrap_or_default();
    let is_name = |at: &usize| NAMES.iter().any(|name| quoted(*at).starts_with(name));
    let found = memchr::memchr_iter(b'$', text).filter(is_name).count();
    let own = ["$id", "$anchor", "$dynamicAnchor"].iter().filter(|name| root.member(name).is_some()).count();
    found == own && !may_hide_names(text)
}

/// Whether a text has escapes of which a keyword's letters could be made.
pub(crate) fn may_hide_names(text: &[u8]) -> bool {
    memchr::memmem::find(text, b"\\u").is_some()
}

/// One schema that is being indexed.
struct Standing<'i> {
    document: DocumentId,
    present: &'i Present<'i>,
    outer: ResourceId,
    ways: &'i Ways<'i>,
    way: u32,
}

impl Standing<'_> {
    fn location(&self) -> String {
        self.ways.location(self.way)
    }
}

/// The ways to all schemas that were met, each by its last step, since few are ever written out.
#[derive(Default)]
struct Ways<'a>(Vec<Way<'a>>);

struct Way<'a> {
    before: u32,
    keyword: &'static str,
    part: Part<'a>,
}

/// Which part of a keyword's value.
#[derive(Clone, Copy)]
enum Part<'a> {
    Whole,
    Item(usize),
    Member(Member<'a>),
}

impl<'a> Ways<'a> {
    /// To the root there is no step.
    const ROOT: u32 = u32::MAX;

    fn add(&mut self, before: u32, keyword: &'static str, part: Part<'a>) -> u32 {
        self.0.push(Way { before, keyword, part });
        u32::try_from(self.0.len() - 1).unwrap_or(Self::ROOT)
    }

    fn location(&self, way: u32) -> String {
        let mut steps = Vec::new();
        let mut at = way;
        while let Some(way) = self.0.get(at as usize) {
            steps.push(way);
            at = way.before;
        }
        let mut location = String::new();
        for way in steps.into_iter().rev() {
            location.push('/');
            location.push_str(way.keyword);
            // Writing to a `String` does not fail.
            let _ = match way.part {
                Part::Whole => Ok(()),
                Part::Item(index) => write!(location, "/{index}"),
                Part::Member(member) => {
                    location.push('/');
                    write_escaped(&mut location, &member.name())
                }
            };
        }
        location
    }
}

/// Calls `found` with each subschema of a schema object, whatever its form: what is malformed is judged elsewhere.
fn below<'a>(
    present: &Present<'a>,
    profile: Profile,
    language: Language,
    mut found: impl FnMut(Node<'a>, &'static str, Part<'a>),
) {
    let ref_only = language.dialect == Dialect::Draft07 && present.keyword("$ref").is_some();
    for (keyword, value) in present.all().filter(|(keyword, _)| keyword.holds != Holds::Nothing) {
        let on = keyword.use_in(profile, language.dialect) == Use::On
            && language.vocabularies.has(keyword.vocabulary);
        if !on || (ref_only && !matches!(keyword.name, "$defs" | "definitions")) {
            continue;
        }
        match value.kind() {
            Kind::Array => {
                for (index, item) in value.items().enumerate() {
                    found(item, keyword.name, Part::Item(index));
                }
            }
            Kind::Object if keyword.holds == Holds::Named => {
                for member in value.members() {
                    found(member.value(), keyword.name, Part::Member(member));
                }
            }
            Kind::Object | Kind::Bool => found(value, keyword.name, Part::Whole),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::json::Document;

    fn names_root_alone(text: &str) -> bool {
        let document = Document::read(text.as_bytes(), &crate::Limits::default().schema_text()).unwrap();
        super::names_root_alone(document.root())
    }

    #[test]
    fn a_text_that_may_name_a_part_is_walked_through() {
        assert!(names_root_alone(r##"{"$schema": "x", "$ref": "#/$defs/a", "$defs": {"a": {}}}"##));
        assert!(names_root_alone(r#"{"$id": "http://a.test/", "properties": {"id": {}}}"#));
        assert!(!names_root_alone(r#"{"$id": "http://a.test/", "items": {"$id": "b"}}"#));
        assert!(!names_root_alone(r#"{"items": {"$anchor": "b"}}"#));
        assert!(!names_root_alone(r#"{"items": {"$dynamicAnchor": "b"}}"#));
        assert!(!names_root_alone(r#"{"items": {"\u0024anchor": "b"}}"#));
        assert!(!names_root_alone(r#"{"items": {"$\u0061nchor": "b"}}"#));
    }
}
