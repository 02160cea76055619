//! Where the schemas of a set of texts stand, under which URI, and in which dialect.

use std::collections::{HashMap, HashSet};

use callgate_schema::json::{Document, Kind, Node, NodeId};
use callgate_schema::{Dialect, Limits, Options};
use fluent_uri::{Iri, IriRef};

/// The base of a schema without a URI.
const BASE: &str = "callgate-schema:///";

const METASCHEMAS: [(&str, &str); 10] = [
    (
        "https://json-schema.org/draft/2020-12/schema",
        include_str!("../../src/resolve/metaschema/2020-12.json"),
    ),
    (
        "https://json-schema.org/draft/2020-12/meta/core",
        include_str!("../../src/resolve/metaschema/2020-12-core.json"),
    ),
    (
        "https://json-schema.org/draft/2020-12/meta/applicator",
        include_str!("../../src/resolve/metaschema/2020-12-applicator.json"),
    ),
    (
        "https://json-schema.org/draft/2020-12/meta/unevaluated",
        include_str!("../../src/resolve/metaschema/2020-12-unevaluated.json"),
    ),
    (
        "https://json-schema.org/draft/2020-12/meta/validation",
        include_str!("../../src/resolve/metaschema/2020-12-validation.json"),
    ),
    (
        "https://json-schema.org/draft/2020-12/meta/meta-data",
        include_str!("../../src/resolve/metaschema/2020-12-meta-data.json"),
    ),
    (
        "https://json-schema.org/draft/2020-12/meta/format-annotation",
        include_str!("../../src/resolve/metaschema/2020-12-format-annotation.json"),
    ),
    (
        "https://json-schema.org/draft/2020-12/meta/format-assertion",
        include_str!("../../src/resolve/metaschema/2020-12-format-assertion.json"),
    ),
    (
        "https://json-schema.org/draft/2020-12/meta/content",
        include_str!("../../src/resolve/metaschema/2020-12-content.json"),
    ),
    ("http://json-schema.org/draft-07/schema", include_str!("../../src/resolve/metaschema/draft-07.json")),
];

/// Keywords whose value is a schema or a list of schemas, and those whose members are schemas.
const HOLD_SCHEMAS: [&str; 17] = [
    "additionalProperties",
    "propertyNames",
    "items",
    "prefixItems",
    "additionalItems",
    "contains",
    "not",
    "if",
    "then",
    "else",
    "allOf",
    "anyOf",
    "oneOf",
    "contentSchema",
    "unevaluatedItems",
    "unevaluatedProperties",
    "additional_properties",
];
const HOLD_NAMED: [&str; 6] =
    ["properties", "patternProperties", "dependentSchemas", "dependencies", "$defs", "definitions"];

/// What keywords mean.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Language {
    Draft07,
    /// With the names of the vocabularies, such as `validation`.
    Draft202012(Vec<String>),
}

/// A schema: which text, which value of it, the URI of its resource, its dialect.
#[derive(Debug, Clone)]
pub(crate) struct Place {
    pub(crate) document: usize,
    pub(crate) node: NodeId,
    pub(crate) base: String,
    pub(crate) language: Language,
}

/// Everything that a reference can name.
#[derive(Debug, Default)]
pub(crate) struct Index {
    documents: Vec<Document>,
    by_uri: HashMap<String, usize>,
    /// All schemas at places where schemas stand.
    schemas: HashMap<(usize, NodeId), Place>,
    resources: HashMap<String, Place>,
    anchors: HashMap<(String, String), Place>,
    dynamic: HashSet<(String, String)>,
}

impl Index {
    /// Reads all texts; gives the index and the place of the schema itself, or nothing if that is no JSON.
    pub(crate) fn of(schema: &[u8], options: &Options) -> Option<(Index, Place)> {
        let mut index = Index::default();
        let limits = Limits::default().schema_text();
        let given = options.resources.iter().map(|resource| (resource.uri.as_str(), &*resource.text));
        let known = METASCHEMAS.iter().map(|(uri, text)| (*uri, text.as_bytes()));
        for (uri, text) in known.chain(given) {
            if let Ok(document) = Document::read(text, &limits) {
                index.by_uri.insert(uri.to_owned(), index.documents.len());
                index.documents.push(document);
            }
        }
        let main = index.documents.len();
        index.documents.push(Document::read(schema, &limits).ok()?);
        // The schema itself comes last, so that its names win.
        let texts: Vec<(String, usize)> = index.by_uri.clone().into_iter().collect();
        for (uri, document) in texts {
            index.add(document, &uri, options.dialect);
        }
        let place = index.add(main, BASE, options.dialect);
        Some((index, place))
    }

    pub(crate) fn node(&self, place: &Place) -> Node<'_> {
        self.documents[place.document].node(place.node)
    }

    /// A part of a schema, as a schema.
    pub(crate) fn part(&self, of: &Place, node: Node<'_>) -> Place {
        let elsewhere = || Place { node: node.id(), ..of.clone() };
        self.schemas.get(&(of.document, node.id())).cloned().unwrap_or_else(elsewhere)
    }

    /// What a reference names, and its fragment.
    pub(crate) fn resolve(&self, from: &Place, reference: &str) -> (Place, String) {
        let (uri, fragment) = resolve(&from.base, reference);
        let root = self.resources.get(&uri).expect("the engine has admitted the reference");
        if fragment.is_empty() || fragment.starts_with('/') {
            let mut place = root.clone();
            for token in fragment.split('/').skip(1) {
                let node = self.node(&place).pointer(&format!("/{token}")).expect("it points to something");
                place = self.part(&place, node);
            }
            return (place, fragment);
        }
        (self.anchors[&(uri, fragment.clone())].clone(), fragment)
    }

    /// The schema that has a dynamic anchor in a resource.
    pub(crate) fn dynamic(&self, base: &str, name: &str) -> Option<Place> {
        let key = (base.to_owned(), name.to_owned());
        self.dynamic.contains(&key).then(|| self.anchors[&key].clone())
    }

    fn add(&mut self, document: usize, uri: &str, dialect: Dialect) -> Place {
        let default = match dialect {
            Dialect::Draft07 => "http://json-schema.org/draft-07/schema",
            Dialect::Draft202012 => "https://json-schema.org/draft/2020-12/schema",
        };
        let read = self.documents[document].clone();
        let language = self.language(default);
        let place = Place { document, node: read.root().id(), base: uri.to_owned(), language };
        self.resources.insert(uri.to_owned(), place.clone());
        self.schema(read.root(), place.clone());
        let own = self.schemas.get(&(document, place.node)).cloned().unwrap_or(place);
        self.resources.insert(uri.to_owned(), own.clone());
        own
    }

    /// The dialect of a metaschema's URI.
    fn language(&self, uri: &str) -> Language {
        let uri = uri.strip_suffix('#').unwrap_or(uri);
        if Dialect::from_uri(uri) == Some(Dialect::Draft07) {
            return Language::Draft07;
        }
        let metaschema = self.by_uri.get(uri).and_then(|&at| self.documents[at].root().member("$vocabulary"));
        let names = metaschema.into_iter().flat_map(Node::members);
        let short = |name: &str| name.rsplit('/').next().unwrap_or_default().to_owned();
        Language::Draft202012(names.map(|member| short(&member.name())).collect())
    }

    fn schema(&mut self, node: Node<'_>, mut place: Place) {
        if node.kind() == Kind::Object {
            self.identify(node, &mut place);
        }
        place.node = node.id();
        self.schemas.insert((place.document, node.id()), place.clone());
        let alone = place.language == Language::Draft07 && node.member("$ref").is_some();
        for keyword in HOLD_SCHEMAS.iter().filter(|_| !alone) {
            let Some(value) = node.member(keyword) else { continue };
            match value.kind() {
                Kind::Array => value.items().for_each(|item| self.schema(item, place.clone())),
                Kind::Object | Kind::Bool => self.schema(value, place.clone()),
                _ => {}
            }
        }
        let is_there = |keyword: &&&str| !alone || matches!(**keyword, "$defs" | "definitions");
        for keyword in HOLD_NAMED.iter().filter(is_there) {
            let named = node.member(keyword).into_iter().flat_map(Node::members);
            named.for_each(|member| self.schema(member.value(), place.clone()));
        }
    }

    /// The names that a schema gives itself.
    fn identify(&mut self, node: Node<'_>, place: &mut Place) {
        place.node = node.id();
        let text = |keyword| node.member(keyword).and_then(Node::as_str);
        let is_root = node.id() == self.documents[place.document].root().id();
        let mut anchors = Vec::new();
        let is_ignored = |place: &Place| place.language == Language::Draft07 && node.member("$ref").is_some();
        if is_root && let Some(uri) = text("$schema") {
            place.language = self.language(&uri);
        }
        if let Some(id) = text("$id").filter(|_| !is_ignored(place)) {
            let (uri, fragment) = resolve(&place.base, &id);
            if !id.starts_with('#') {
                place.base = uri;
                if let Some(uri) = text("$schema") {
                    place.language = self.language(&uri);
                }
                self.resources.insert(place.base.clone(), place.clone());
            }
            if place.language == Language::Draft07 && !fragment.is_empty() {
                anchors.push((fragment, false));
            }
        }
        if place.language != Language::Draft07 {
            anchors.extend(text("$anchor").map(|name| (name.into_owned(), false)));
            anchors.extend(text("$dynamicAnchor").map(|name| (name.into_owned(), true)));
        }
        for (name, dynamic) in anchors {
            let key = (place.base.clone(), name);
            if dynamic {
                self.dynamic.insert(key.clone());
            }
            self.anchors.insert(key, place.clone());
        }
    }
}

/// A reference against its base: the URI without a fragment, and the fragment without percent signs.
fn resolve(base: &str, reference: &str) -> (String, String) {
    let (uri, fragment) = if let Some(fragment) = reference.strip_prefix('#') {
        (base.to_owned(), fragment.to_owned())
    } else {
        let base = Iri::parse(base).expect("a base is a URI");
        let reference = IriRef::parse(reference).expect("a reference is a URI reference");
        let resolved = reference.resolve_against(&base).expect("it can be resolved").normalize();
        let (uri, fragment) = resolved.as_str().split_once('#').unwrap_or((resolved.as_str(), ""));
        (uri.to_owned(), fragment.to_owned())
    };
    let encoded = fluent_uri::pct_enc::EStr::<fluent_uri::pct_enc::encoder::IFragment>::new(&fragment);
    let decoded = encoded.map(|text| text.decode().to_string_lossy().into_owned()).unwrap_or(fragment);
    (uri, decoded)
}
