//! Where schemas stand in a text: its resources (`$id`), their anchors, and the dialect that each has.

use std::collections::{HashMap, HashSet};

use crate::Profile;
use crate::dialect::Dialect;
use crate::json::{Kind, Node};
use crate::keywords::{Holds, KEYWORDS, Use};
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
    by_root: HashMap<Spot, ResourceId>,
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
        let mut open = vec![(root, id, String::new())];
        while let Some((schema, outer, location)) = open.pop() {
            let resource = self.schema(document, schema, outer, &location, language_of);
            let language = self.resources.get(resource.0 as usize).map_or(language, |entry| entry.language);
            below(schema, &location, profile, language, |child, location| {
                open.push((child, resource, location));
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
        document: DocumentId,
        schema: Node<'_>,
        outer: ResourceId,
        location: &str,
        language_of: &mut impl FnMut(&str) -> Option<Language>,
    ) -> ResourceId {
        let spot = Spot { document, node: schema.id() };
        let Some(entry) = self.resources.get(outer.0 as usize) else { return outer };
        let (base, mut language) = (entry.uri.clone(), entry.language);
        let mut resource = outer;
        let draft_07 = language.dialect == Dialect::Draft07;
        // Draft-07, section 8.3: `$id` beside `$ref` is ignored.
        let ignored = draft_07 && schema.member("$ref").is_some();
        if let Some(id) = schema.member("$id").and_then(Node::as_str).filter(|_| !ignored)
            && let Some(Reference { uri, fragment }) = Reference::resolve(&base, &id)
        {
            if !id.starts_with('#') {
                let named = schema.member("$schema").and_then(Node::as_str);
                language = named.and_then(|uri| language_of(&uri)).unwrap_or(language);
                resource = match self.by_root.get(&spot) {
                    Some(&root) => self.rename(root, uri),
                    None => self.resource(uri, spot, location.to_owned(), language),
                };
            }
            // Draft-07, section 8.2.3: a fragment alone names a place.
            if draft_07 && !fragment.is_empty() {
                self.anchor(resource, fragment, spot, location);
            }
        }
        if !draft_07 {
            for keyword in ["$anchor", "$dynamicAnchor"] {
                let Some(name) = schema.member(keyword).and_then(Node::as_str) else { continue };
                self.anchor(resource, name.clone().into_owned(), spot, location);
                if keyword == "$dynamicAnchor" {
                    let place = Place { spot, resource, location: location.to_owned() };
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

/// Calls `found` with each subschema of a schema object, whatever its form: what is malformed is judged elsewhere.
fn below<'a>(
    schema: Node<'a>,
    location: &str,
    profile: Profile,
    language: Language,
    mut found: impl FnMut(Node<'a>, String),
) {
    if schema.kind() != Kind::Object {
        return;
    }
    let ref_only = language.dialect == Dialect::Draft07 && schema.member("$ref").is_some();
    for keyword in KEYWORDS.iter().filter(|keyword| keyword.holds != Holds::Nothing) {
        let on = keyword.use_in(profile, language.dialect) == Use::On
            && language.vocabularies.has(keyword.vocabulary);
        if !on || (ref_only && !matches!(keyword.name, "$defs" | "definitions")) {
            continue;
        }
        let Some(value) = schema.member(keyword.name) else { continue };
        let location = format!("{location}/{}", keyword.name);
        match value.kind() {
            Kind::Array => {
                for (index, item) in value.items().enumerate() {
                    found(item, format!("{location}/{index}"));
                }
            }
            Kind::Object if keyword.holds == Holds::Named => {
                for member in value.members() {
                    found(member.value(), crate::location::below(&location, &member.name()));
                }
            }
            Kind::Object | Kind::Bool => found(value, location),
            _ => {}
        }
    }
}
