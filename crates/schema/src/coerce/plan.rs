//! A schema as profile `wire` reads it for coercion: declared members and the types that they name, nothing else.

use crate::json::{Kind, Member, Node, name_hash};

/// Index of a plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct PlanId(u32);

/// What a value is to be, as far as coercion looks.
#[derive(Debug)]
pub(super) enum Plan {
    /// `type` is no text: whatever stands there is left alone.
    Untyped,
    /// A type word that the profile does not know. Blank text goes all the same.
    Unknown,
    String,
    Integer,
    Number,
    Boolean,
    Array {
        items: Option<PlanId>,
    },
    Object(ObjectPlan),
}

/// The members of an object.
#[derive(Debug, Default)]
pub(super) struct ObjectPlan {
    /// By hash of the name.
    fields: Box<[Field]>,
    /// Nothing is declared and everything allowed: texts that look like objects are read as such.
    pub(super) open: bool,
}

#[derive(Debug)]
struct Field {
    hash: u32,
    name: Box<str>,
    plan: PlanId,
}

/// The plans of one schema.
#[derive(Debug, Default)]
pub(super) struct Plans {
    plans: Vec<Plan>,
    /// `None` if the root's `type` is not the text `object`: then nothing is coerced.
    pub(super) root: Option<ObjectPlan>,
}

impl Plans {
    /// Reads a schema. Nothing is refused: what is not understood is left alone.
    pub(super) fn of(schema: Node<'_>) -> Plans {
        let mut plans = Plans::default();
        if type_of(schema).as_deref() == Some("object") {
            let root = plans.object(schema);
            plans.root = Some(ObjectPlan { open: false, ..root });
        }
        plans
    }

    pub(super) fn get(&self, id: PlanId) -> &Plan {
        self.plans.get(id.0 as usize).unwrap_or(&Plan::Untyped)
    }

    /// Recursion ends with the schema's own nesting, which the reader has bounded.
    fn add(&mut self, schema: Node<'_>) -> PlanId {
        let plan = match type_of(schema).as_deref() {
            None => Plan::Untyped,
            Some("string") => Plan::String,
            Some("integer") => Plan::Integer,
            Some("number") => Plan::Number,
            Some("boolean") => Plan::Boolean,
            Some("object") => Plan::Object(self.object(schema)),
            Some("array") => {
                let items = schema.member("items").filter(|items| items.kind() == Kind::Object);
                Plan::Array { items: items.map(|items| self.add(items)) }
            }
            Some(_) => Plan::Unknown,
        };
        let id = PlanId(u32::try_from(self.plans.len()).unwrap_or(u32::MAX));
        self.plans.push(plan);
        id
    }

    /// A name is declared if what stands under it is an object.
    fn object(&mut self, schema: Node<'_>) -> ObjectPlan {
        let declared = schema.member("properties").into_iter().flat_map(Node::members);
        let declared = declared.filter(|member| member.value().kind() == Kind::Object);
        let mut fields: Vec<Field> = declared
            .map(|member| {
                let name = member.name();
                Field { hash: name_hash(&name), name: name.into(), plan: self.add(member.value()) }
            })
            .collect();
        fields.sort_unstable_by_key(|field| field.hash);
        let allows = schema.member("additionalProperties").and_then(Node::as_bool) == Some(true);
        ObjectPlan { open: fields.is_empty() && allows, fields: fields.into() }
    }
}

impl ObjectPlan {
    /// What a member is to be, if it is declared.
    pub(super) fn field(&self, member: Member<'_>) -> Option<PlanId> {
        let hash = member.name_hash();
        let first = self.fields.partition_point(|field| field.hash < hash);
        let candidates = self.fields.get(first..)?.iter().take_while(|field| field.hash == hash);
        candidates.into_iter().find(|field| member.name_is(&field.name)).map(|field| field.plan)
    }

    pub(super) fn declares(&self) -> bool {
        !self.fields.is_empty()
    }
}

fn type_of(schema: Node<'_>) -> Option<std::borrow::Cow<'_, str>> {
    schema.member("type").and_then(Node::as_str)
}
