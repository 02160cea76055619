//! The walk over subschemas: which keywords an object has, and what each becomes.

use std::borrow::Cow;

use crate::compile::{Compiler, Draft, UnknownKeywords};
use crate::dialect::{Dialect, Profile};
use crate::json::{Kind, Node};
use crate::keywords::{self, Keyword, Present, Use};
use crate::location::{below, below_keyword, joined};
use crate::program::{BlockId, Instruction, Op};
use crate::resolve::Place;
use crate::{Code, Detail, Finding};

/// One keyword of one schema object.
pub(crate) struct Entry<'a, 'l> {
    /// As written.
    pub(crate) keyword: &'static str,
    pub(crate) value: Node<'a>,
    /// The object that it stands in.
    pub(crate) schema: Node<'a>,
    /// The keywords of that object.
    pub(crate) present: &'l Present<'a>,
    pub(crate) block: BlockId,
    /// The place of that object.
    pub(crate) schema_location: &'l str,
}

impl<'a> Entry<'a, '_> {
    /// The place of the keyword's value. Keywords need no escaping.
    pub(crate) fn location(&self) -> String {
        joined(self.schema_location, self.keyword)
    }

    /// A keyword beside this one.
    pub(crate) fn sibling(&self, keyword: &str) -> Option<Node<'a>> {
        self.present.keyword(keyword)
    }
}

impl<'a> Compiler<'a> {
    /// Compiles the subschema that is the whole value of a keyword.
    pub(crate) fn subschema(&mut self, entry: &Entry<'a, '_>) -> BlockId {
        self.subschema_at(entry.value, entry.location(), entry.keyword)
    }

    /// Compiles the subschema at `token` within a keyword's value.
    pub(crate) fn subschema_in(&mut self, entry: &Entry<'a, '_>, token: &str, schema: Node<'a>) -> BlockId {
        let location = below_keyword(entry.schema_location, entry.keyword, token);
        self.subschema_at(schema, location, entry.keyword)
    }

    /// Compiles the subschemas of a list, which must not be empty.
    pub(crate) fn subschemas(&mut self, entry: &Entry<'a, '_>) -> Option<Vec<BlockId>> {
        if entry.value.kind() != Kind::Array || entry.value.len() == 0 {
            self.malformed(entry, "a list of at least one schema");
            return None;
        }
        let branches = entry.value.items().enumerate();
        Some(branches.map(|(index, branch)| self.subschema_in(entry, &index.to_string(), branch)).collect())
    }

    /// Compiles the subschemas of an object, in byte order of their names.
    pub(crate) fn named_subschemas(&mut self, entry: &Entry<'a, '_>) -> Option<Vec<(Cow<'a, str>, BlockId)>> {
        if entry.value.kind() != Kind::Object {
            self.malformed(entry, "an object of schemas");
            return None;
        }
        let mut members: Vec<_> =
            entry.value.members().map(|member| (member.name(), member.value())).collect();
        members.sort_unstable_by(|a, b| a.0.cmp(&b.0));
        let compiled = members.into_iter().map(|(name, schema)| {
            let block = self.subschema_in(entry, &name, schema);
            (name, block)
        });
        Some(compiled.collect())
    }

    /// Compiles a subschema; `keyword` is the one that holds it.
    pub(crate) fn subschema_at(
        &mut self,
        schema: Node<'a>,
        location: String,
        keyword: &'static str,
    ) -> BlockId {
        let outer = self.scope;
        let spot = self.spot(schema);
        if let Some(resource) = self.index.root_at(spot) {
            self.enter(&Place { spot, resource, location: String::new() });
        }
        let id = self.block_of(spot);
        let resource = self.scope.resource;
        if let Some(block) = self.blocks.get_mut(id.0 as usize) {
            // A reference back to here from within must not compile it again.
            (block.resource, block.end) = (resource, 0);
        }
        let instructions = self.instructions(schema, id, &location, keyword);
        let tracks = instructions.iter().any(|instruction| {
            matches!(instruction.op, Op::UnevaluatedItems { .. } | Op::UnevaluatedProperties { .. })
        });
        let first = index(self.code.len());
        self.code.extend(instructions);
        if let Some(block) = self.blocks.get_mut(id.0 as usize) {
            (block.first, block.end, block.tracks) = (first, index(self.code.len()), tracks);
            block.location = location.into();
        }
        self.scope = outer;
        id
    }

    fn instructions(
        &mut self,
        schema: Node<'a>,
        id: BlockId,
        location: &str,
        keyword: &'static str,
    ) -> Vec<Instruction> {
        let boolean = self.options.profile == Profile::Standard;
        match schema.as_bool() {
            Some(true) if boolean => Vec::new(),
            Some(false) if boolean => vec![Instruction { keyword: "false", op: Op::Never }],
            _ if schema.kind() == Kind::Object => self.object(schema, id, location),
            _ => {
                let expected = if boolean { "an object or a boolean" } else { "an object" };
                let message =
                    format!("expected {expected} as a schema, found {}", crate::types::found(schema));
                let name = location.rsplit('/').next().unwrap_or_default();
                let finding =
                    Finding::new(Code::SchemaShape, message).with_help(keywords::shape(name, schema.kind()));
                self.fault(finding.at_schema(keyword, location).at_offset(schema.span().start));
                Vec::new()
            }
        }
    }

    fn object(&mut self, schema: Node<'a>, block: BlockId, location: &str) -> Vec<Instruction> {
        let present = Present::of(schema);
        if present.has_others() || !present.all().all(|(keyword, _)| self.is_on(keyword)) {
            self.unknown_keywords(schema, location);
        }
        let mut draft = Draft::default();
        for (keyword, value) in present.all() {
            if !self.is_on(keyword) {
                continue;
            }
            if self.is_beside_reference(&present, keyword) {
                self.ignored_sibling(keyword, value, location);
                continue;
            }
            let entry = Entry {
                keyword: keyword.name,
                value,
                schema,
                present: &present,
                block,
                schema_location: location,
            };
            (keyword.compile)(self, &mut draft, &entry);
        }
        draft.finish(self.has_unevaluated())
    }

    /// Draft-07, section 8.3: beside `$ref` all other members are ignored. Containers of references are still read.
    fn is_beside_reference(&self, present: &Present<'_>, keyword: &Keyword) -> bool {
        self.options.profile == Profile::Standard
            && self.dialect() == Dialect::Draft07
            && !matches!(keyword.name, "$ref" | "$defs" | "definitions")
            && present.keyword("$ref").is_some_and(|value| value.kind() == Kind::String)
    }

    fn ignored_sibling(&mut self, keyword: &Keyword, value: Node<'_>, location: &str) {
        if keyword.asserts {
            let message =
                format!("expected `$ref` alone, found `{}` beside it, which draft-07 ignores", keyword.name);
            let finding = Finding::new(Code::SchemaIgnoredSibling, message)
                .with_help("move both into an `allOf`, or declare 2020-12")
                .at_schema(keyword.name, format!("{location}/{}", keyword.name));
            self.warn(finding.at_offset(value.span().start));
        }
    }

    /// Judges the keywords that are not enforced, in byte order.
    fn unknown_keywords(&mut self, schema: Node<'_>, location: &str) {
        let mut unknown: Vec<_> = schema
            .members()
            .filter(|member| {
                let name = member.name();
                !keywords::find(&name).is_some_and(|keyword| self.is_on(keyword))
                    && !self.is_annotation(&name)
            })
            .map(|member| (member.name().into_owned(), member.name_span().start))
            .collect();
        unknown.sort_unstable();
        for (name, offset) in unknown {
            self.unknown_keyword(&name, below(location, &name), offset);
        }
    }

    /// Whether the profile, the dialect and its vocabularies have the keyword.
    fn is_on(&self, keyword: &Keyword) -> bool {
        keyword.use_in(self.options.profile, self.dialect()) == Use::On
            && self.scope.language.vocabularies.has(keyword.vocabulary)
    }

    fn is_annotation(&self, name: &str) -> bool {
        self.options.profile == Profile::Standard
            && (name.starts_with("x-") || self.options.annotations.iter().any(|known| known == name))
    }

    fn unknown_keyword(&mut self, name: &str, location: String, offset: usize) {
        let profile = self.options.profile;
        let known = keywords::find(name);
        if self.options.unknown_keywords == UnknownKeywords::Annotate {
            let message =
                format!("expected a keyword of {}, found `{name}`, which is not enforced", self.dialect());
            self.warn(
                Finding::new(Code::SchemaNotEnforced, message)
                    .at_schema(name.to_owned(), location)
                    .at_offset(offset),
            );
            return;
        }
        let (code, message) = if profile == Profile::Portable && known.is_some() {
            (
                Code::SchemaUnsupportedKeyword,
                format!("expected a keyword that profile {profile} enforces, found `{name}`"),
            )
        } else {
            let dialect = match profile {
                Profile::Standard => format!("JSON Schema {}", self.dialect()),
                Profile::Portable | Profile::Wire => format!("profile {profile}"),
            };
            (Code::SchemaUnknownKeyword, format!("expected a keyword of {dialect}, found `{name}`"))
        };
        let mut finding = Finding::new(code, message).with("keyword", Detail::Text(name.to_owned()));
        if self.has_room()
            && let Some(help) = keywords::advice(name, profile, self.dialect())
        {
            finding = finding.with_help(help);
        }
        self.fault(finding.at_schema(name.to_owned(), location).at_offset(offset));
    }
}

/// An index that the limits on a schema's size keep small.
pub(crate) fn index(length: usize) -> u32 {
    u32::try_from(length).unwrap_or(u32::MAX)
}
