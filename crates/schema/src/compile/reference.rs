//! References: what a `$ref` and a `$dynamicRef` point to. Nothing is ever fetched.

use crate::compile::{Compiler, Entry};
use crate::json::{Kind, Node, NodeId, ReadFault};
use crate::program::{BlockId, Op};
use crate::resolve::{Place, Reference, ResourceId, Spot, percent_decoded};
use crate::{Code, Detail, Finding};

/// Parts of an object or array among which each reference searches anew.
const PARTS_SEARCHED_MAX: usize = 16;

/// A reference, for the search of loops.
pub(crate) struct Link {
    pub(crate) from: BlockId,
    pub(crate) to: BlockId,
    pub(crate) location: String,
    pub(crate) offset: usize,
}

/// Why a reference leads nowhere.
enum Dangling {
    /// It is no URI reference.
    Malformed,
    /// No text of that URI was given.
    NotGiven(String),
    /// A text of that URI was given and cannot be read.
    Unreadable(String, ReadFault),
    /// There is nothing at that place of the text.
    Nowhere,
    /// What is there is no schema.
    NoSchema(Kind),
}

impl<'a> Compiler<'a> {
    /// The block that a reference points to.
    pub(crate) fn resolve(&mut self, entry: &Entry<'a, '_>) -> Option<BlockId> {
        let (_, place) = self.target(entry)?;
        Some(self.link(entry, place))
    }

    /// The instruction of a `$dynamicRef`: that of a `$ref` unless it names a dynamic anchor by its own name
    /// (2020-12 core, section 8.2.3.2).
    pub(crate) fn resolve_dynamic(&mut self, entry: &Entry<'a, '_>) -> Option<Op> {
        let (reference, place) = self.target(entry)?;
        let resource = place.resource;
        let block = self.link(entry, place);
        let name = percent_decoded(&reference.fragment).unwrap_or_default();
        if !self.index.is_dynamic(resource, &name) {
            return Some(Op::Ref { block });
        }
        let next = super::walk::index(self.dynamic_names.len());
        let anchor = *self.dynamic_names.entry(name).or_insert(next);
        Some(Op::DynamicRef { block, anchor })
    }

    fn link(&mut self, entry: &Entry<'a, '_>, place: Place) -> BlockId {
        let to = self.block_of(place.spot);
        self.pointed_to.push(place);
        let (location, offset) = (entry.location(), entry.value.span().start);
        self.links.push(Link { from: entry.block, to, location, offset });
        to
    }

    fn target(&mut self, entry: &Entry<'a, '_>) -> Option<(Reference, Place)> {
        let Some(written) = entry.value.as_str() else {
            self.malformed(entry, "a reference as text");
            return None;
        };
        if self.links.len() as u64 >= self.options.limits.references_max {
            self.too_many(entry);
            return None;
        }
        match self.locate(&written) {
            Ok((reference, place)) => Some((reference, place)),
            Err(dangling) => {
                self.dangling(entry, &written, &dangling);
                None
            }
        }
    }

    fn locate(&mut self, written: &str) -> Result<(Reference, Place), Dangling> {
        let base = self.index.entry(self.scope.resource).map_or("", |entry| &entry.uri);
        let reference = Reference::resolve(base, written).ok_or(Dangling::Malformed)?;
        let resource = self.reach(&reference.uri)?;
        let root = self.index.entry(resource).ok_or(Dangling::Nowhere)?;
        let fragment = percent_decoded(&reference.fragment).ok_or(Dangling::Malformed)?;
        let place = if fragment.is_empty() || fragment.starts_with('/') {
            let start = Place { spot: root.root, resource, location: root.location.clone() };
            self.step_down(start, &fragment).ok_or(Dangling::Nowhere)?
        } else {
            self.index.anchored(resource, &fragment).ok_or(Dangling::Nowhere)?.clone()
        };
        match self.node(place.spot).map(Node::kind) {
            Some(Kind::Object | Kind::Bool) => Ok((reference, place)),
            Some(kind) => Err(Dangling::NoSchema(kind)),
            None => Err(Dangling::Nowhere),
        }
    }

    /// The resource of that URI; a text that was given is read and indexed now.
    fn reach(&mut self, uri: &str) -> Result<ResourceId, Dangling> {
        if let Some(resource) = self.index.by_uri(uri) {
            return Ok(resource);
        }
        match self.sources.find(uri) {
            None => Err(Dangling::NotGiven(uri.to_owned())),
            Some(Err(fault)) => Err(Dangling::Unreadable(uri.to_owned(), fault.clone())),
            Some(Ok(document)) => Ok(self.add_document(document, uri)),
        }
    }

    /// Follows a JSON Pointer; on the way it may enter resources of their own.
    fn step_down(&mut self, start: Place, pointer: &str) -> Option<Place> {
        let mut place = start;
        for token in pointer.split('/').skip(1) {
            place.spot = Spot { node: self.part(place.spot, token)?, ..place.spot };
            place.location.push('/');
            place.location.push_str(token);
            place.resource = self.index.root_at(place.spot).unwrap_or(place.resource);
        }
        Some(place)
    }

    /// The part that one step of a JSON Pointer leads to. A large object or array is searched once for all references,
    /// which can be as many as its parts.
    fn part(&mut self, spot: Spot, token: &str) -> Option<NodeId> {
        let node = self.node(spot)?;
        // What is escaped in a pointer is seldom.
        if node.len() <= PARTS_SEARCHED_MAX || token.contains('~') {
            return match node.kind() {
                Kind::Object if !token.contains('~') => node.member(token),
                _ => node.pointer(&format!("/{token}")),
            }
            .map(Node::id);
        }
        let parts = self.large.entry(spot).or_insert_with(|| match node.kind() {
            Kind::Object => {
                node.members().map(|member| (member.name().into_owned(), member.value().id())).collect()
            }
            _ => node.items().enumerate().map(|(index, item)| (index.to_string(), item.id())).collect(),
        });
        parts.get(token).copied()
    }

    /// Compiles what is pointed to and stands at no place where schemas stand, and every dynamic anchor, until nothing
    /// new is reached.
    pub(crate) fn referenced(&mut self) {
        let (mut pointed_to, mut dynamic) = (0, 0);
        loop {
            let next = match self.pointed_to.get(pointed_to) {
                Some(place) => {
                    pointed_to += 1;
                    place.clone()
                }
                None => match self.index.dynamic().get(dynamic) {
                    Some((_, _, place)) if !self.dynamic_names.is_empty() => {
                        dynamic += 1;
                        place.clone()
                    }
                    _ => return,
                },
            };
            let id = self.block_of(next.spot);
            let Some(node) = self.node(next.spot) else { continue };
            if !self.is_compiled(id) {
                self.enter(&next);
                self.subschema_at(node, next.location, "$ref");
            }
        }
    }

    fn dangling(&mut self, entry: &Entry<'_, '_>, written: &str, dangling: &Dangling) {
        let message = match dangling {
            Dangling::Malformed => format!("expected a URI reference, found `{written}`"),
            Dangling::NotGiven(uri) if written.starts_with('#') => {
                format!("expected `{written}` to point into this schema, found no schema of `{uri}`")
            }
            Dangling::NotGiven(_) => {
                format!(
                    "expected a reference to a schema that was given, found `{written}`; nothing is fetched"
                )
            }
            Dangling::Unreadable(uri, fault) => {
                let fault = fault.finding().message;
                format!("expected `{written}` to point to JSON, found that `{uri}` cannot be read: {fault}")
            }
            Dangling::Nowhere => format!("expected `{written}` to point to a schema, found nothing there"),
            Dangling::NoSchema(kind) => {
                format!("expected `{written}` to point to a schema, found {} there", kind.name())
            }
        };
        self.fault(
            Finding::new(Code::SchemaReference, message)
                .with_help("put the schema under `$defs` and point to it with `#/$defs/name`")
                .with("reference", Detail::Text(written.to_owned()))
                .at_schema(entry.keyword, entry.location())
                .at_offset(entry.value.span().start),
        );
    }

    fn too_many(&mut self, entry: &Entry<'_, '_>) {
        let maximum = self.options.limits.references_max;
        self.fault(
            Finding::new(Code::LimitExceeded, format!("expected at most {maximum} references, found more"))
                .with("limit", Detail::Text("references".into()))
                .with("maximum", Detail::Count(maximum))
                .at_schema(entry.keyword, entry.location())
                .at_offset(entry.value.span().start),
        );
    }
}
