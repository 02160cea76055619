//! Profile `wire`: the few constraints that text-map transports have always asserted, and a warning for every other.
//!
//! It asserts the types of declared members, the choices of texts, the bounds of numbers, and, at the root and in the
//! items of arrays of objects, required and unknown names. Nothing else is looked at, and nothing is refused but a root
//! that is no object.

use crate::compile::Compiler;
use crate::json::{Kind, Node};
use crate::keywords::{self, Holds};
use crate::location::below;
use crate::program::{Additional, Block, BlockId, Bound, Instruction, ObjectPlan, Op, Order, Slot};
use crate::types::TypeSet;
use crate::{Code, Finding, WireForm};

/// The types that the profile knows. `null` is not among them.
const TYPES: [&str; 6] = ["string", "integer", "number", "boolean", "object", "array"];

impl<'a> Compiler<'a> {
    /// Compiles a tool's schema in this profile; `false` if its root is not what the profile demands.
    pub(crate) fn wire_root(&mut self) -> bool {
        let root = self.sources.main.root();
        if root.member("type").and_then(Node::as_str).as_deref() != Some("object") {
            let message =
                "expected the root to have `\"type\": \"object\"`, exactly that text, found another";
            let offset = root.member("type").map_or(root.span().start, |written| written.span().start);
            let mut finding = Finding::new(Code::SchemaRootText, message)
                .with_help("write `\"type\": \"object\"` at the root")
                .at_schema("type", "/type")
                .at_offset(offset);
            finding.wire = Some(WireForm { kind: "root_not_object", path: String::new() });
            self.fault(finding);
            return false;
        }
        let id = self.block_of(self.spot(root));
        let instructions = self.wire_object(root, "", &["type"]);
        self.place(id, "", instructions);
        true
    }

    /// Unknown names, then required ones, then values in the order of the arguments. `taken` are the keywords that the
    /// caller has asserted.
    fn wire_object(&mut self, schema: Node<'a>, location: &str, taken: &[&str]) -> Vec<Instruction> {
        let declared: Vec<_> = schema
            .member("properties")
            .into_iter()
            .flat_map(Node::members)
            .filter(|member| member.value().kind() == Kind::Object)
            .collect();
        let mut asserted = taken.to_vec();
        asserted.extend(["properties", "required"]);
        let mut instructions = Vec::new();
        if schema.member("additionalProperties").and_then(Node::as_bool) == Some(false) {
            asserted.push("additionalProperties");
            let anything = self.anything();
            let named = declared.iter().zip(0..).map(|(member, place)| Slot {
                name: member.name().into(),
                block: anything,
                place,
                required: false,
            });
            let plan = ObjectPlan::new(named.collect(), Vec::new(), Additional::None("additionalProperties"));
            instructions.push(members(plan));
        }
        let required: Vec<_> = schema.member("required").into_iter().flat_map(Node::items).collect();
        let mut names: Vec<Box<str>> = Vec::new();
        for name in required.into_iter().filter_map(Node::as_str) {
            if !names.iter().any(|known| **known == *name) {
                names.push(name.into());
            }
        }
        instructions.push(Instruction {
            keyword: "required",
            op: Op::Required { names: names.into(), counted: false },
        });
        let parent = format!("{location}/properties");
        let mut slots = Vec::new();
        for (member, place) in declared.into_iter().zip(0..) {
            let name = member.name();
            let block = self.wire_value(member.value(), &below(&parent, &name));
            slots.push(Slot { name: name.into(), block, place, required: false });
        }
        instructions.push(members(ObjectPlan::new(slots, Vec::new(), Additional::Open)));
        self.not_enforced(schema, location, &asserted);
        instructions
    }

    /// The constraints on a declared member.
    fn wire_value(&mut self, schema: Node<'a>, location: &str) -> BlockId {
        let id = self.block_of(self.spot(schema));
        let mut asserted = Vec::new();
        let mut instructions = Vec::new();
        let written = schema.member("type");
        let name = written.and_then(Node::as_str).filter(|name| TYPES.contains(&name.as_ref()));
        if let (Some(written), Some(types)) = (written, name.as_deref().and_then(TypeSet::named)) {
            asserted.push("type");
            instructions
                .push(Instruction { keyword: "type", op: Op::Type { types, written: self.spot(written) } });
        }
        match name.as_deref() {
            Some("string") => self.wire_choices(schema, &mut instructions, &mut asserted),
            Some("integer" | "number") => self.wire_bounds(schema, &mut instructions, &mut asserted),
            Some("array") => self.wire_items(schema, location, &mut instructions, &mut asserted),
            _ => {}
        }
        self.not_enforced(schema, location, &asserted);
        self.place(id, location, instructions);
        id
    }

    /// Only the texts among the choices count; without any, every text is good.
    fn wire_choices(
        &self,
        schema: Node<'a>,
        instructions: &mut Vec<Instruction>,
        asserted: &mut Vec<&'static str>,
    ) {
        let Some(written) = schema.member("enum") else { return };
        let texts = written.items().filter(|choice| choice.kind() == Kind::String);
        let mut members: Vec<_> = texts.map(|choice| (choice.value_hash(), self.spot(choice))).collect();
        if !members.is_empty() {
            members.sort_unstable();
            asserted.push("enum");
            let op = Op::Enum { members: members.into(), written: self.spot(written) };
            instructions.push(Instruction { keyword: "enum", op });
        }
    }

    fn wire_bounds(
        &self,
        schema: Node<'a>,
        instructions: &mut Vec<Instruction>,
        asserted: &mut Vec<&'static str>,
    ) {
        for (keyword, bound) in [("minimum", Bound::Minimum), ("maximum", Bound::Maximum)] {
            let Some(limit) = schema.member(keyword).filter(|limit| limit.kind() == Kind::Number) else {
                continue;
            };
            asserted.push(keyword);
            instructions.push(Instruction { keyword, op: Op::Number { bound, limit: self.spot(limit) } });
        }
    }

    /// Items are checked if they are described as objects with at least one declared or required member.
    fn wire_items(
        &mut self,
        schema: Node<'a>,
        location: &str,
        instructions: &mut Vec<Instruction>,
        asserted: &mut Vec<&'static str>,
    ) {
        let Some(items) = schema.member("items") else { return };
        let written = items.member("type");
        let is_object = written.and_then(Node::as_str).as_deref() == Some("object");
        let declares = items.member("properties").is_some_and(|properties| {
            properties.members().any(|member| member.value().kind() == Kind::Object)
        });
        let requires = items
            .member("required")
            .is_some_and(|names| names.items().any(|name| name.kind() == Kind::String));
        let (Some(written), true) = (written, is_object && (declares || requires)) else { return };
        asserted.push("items");
        let location = format!("{location}/items");
        let id = self.block_of(self.spot(items));
        let types = TypeSet::named("object").unwrap_or(TypeSet::EMPTY);
        let op = Op::Type { types, written: self.spot(written) };
        let mut inner = vec![Instruction { keyword: "type", op }];
        inner.extend(self.wire_object(items, &location, &["type"]));
        self.place(id, &location, inner);
        instructions
            .push(Instruction { keyword: "items", op: Op::Items { prefix: [].into(), rest: Some(id) } });
    }

    /// Warns of each constraint in a schema, and below it, that the profile does not assert.
    fn not_enforced(&mut self, schema: Node<'a>, location: &str, asserted: &[&str]) {
        for member in schema.members() {
            let name = member.name();
            if asserted.contains(&name.as_ref()) {
                continue;
            }
            let known = keywords::find(&name);
            let says_nothing = name.starts_with("x-") || known.is_some_and(|keyword| !keyword.asserts);
            let holds = known.is_some_and(|keyword| keyword.holds != Holds::Nothing);
            let accepts_all = member.value().as_bool() == Some(true);
            if says_nothing && !holds || accepts_all {
                continue;
            }
            let message =
                format!("expected a constraint of profile wire, found `{name}`, which is not enforced");
            self.warn(
                Finding::new(Code::SchemaNotEnforced, message)
                    .with_help("check with profile `standard` to enforce it")
                    .at_schema(name.clone().into_owned(), below(location, &name))
                    .at_offset(member.name_span().start),
            );
        }
    }

    /// A block that accepts every value.
    fn anything(&mut self) -> BlockId {
        let id = BlockId(super::walk::index(self.blocks.len()));
        self.blocks.push(Block {
            location: "".into(),
            resource: self.scope.resource,
            first: 0,
            end: 0,
            tracks: false,
        });
        id
    }

    fn place(&mut self, id: BlockId, location: &str, instructions: Vec<Instruction>) {
        let first = super::walk::index(self.code.len());
        self.code.extend(instructions);
        let end = super::walk::index(self.code.len());
        if let Some(block) = self.blocks.get_mut(id.0 as usize) {
            (block.location, block.first, block.end) = (location.into(), first, end);
        }
    }
}

fn members(mut plan: ObjectPlan) -> Instruction {
    plan.order = Order::Value;
    Instruction { keyword: "properties", op: Op::Properties(Box::new(plan)) }
}
