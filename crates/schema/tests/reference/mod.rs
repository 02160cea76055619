//! A plain evaluator of JSON Schema, to compare the engine with: it walks the schema's tree anew for each value, keeps
//! to the order of the specification, looks at everything and saves nothing. Nobody makes it faster.
//!
//! It takes schemas that the engine has admitted, so that it needs no answers about malformed ones, and it counts no
//! work. Patterns and the reading of text are the engine's own; numbers, equality, references and everything else are
//! written again here.
#![expect(
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "an evaluator that loses its way shall stop the test"
)]

mod index;
mod number;

use std::collections::BTreeSet;

use callgate_schema::json::{Document, Kind, Member, Node, write_string};
use callgate_schema::pattern::{Language as PatternLanguage, Pattern};
use callgate_schema::{Limits, Options, Work};
use index::{Index, Language, Place};
use number::Decimal;

/// A schema with everything that its references reach.
pub(crate) struct Reference {
    index: Index,
    root: Place,
}

/// What keywords have evaluated of a value: the names of an object, the items of an array.
#[derive(Debug, Default)]
struct Evaluated {
    names: BTreeSet<String>,
    items: BTreeSet<usize>,
}

/// A schema at work on a value: what holds so far, and what was evaluated.
struct Task<'r, 'v> {
    reference: &'r Reference,
    place: &'r Place,
    schema: Node<'r>,
    value: Node<'v>,
    /// The resources that were entered on the way here, outermost first.
    scope: Vec<String>,
    holds: bool,
    evaluated: Evaluated,
}

impl Reference {
    /// `None` if the schema is no JSON.
    pub(crate) fn new(schema: &[u8], options: &Options) -> Option<Reference> {
        let (index, root) = Index::of(schema, options)?;
        Some(Reference { index, root })
    }

    pub(crate) fn is_valid(&self, value: Node<'_>) -> bool {
        self.apply(&self.root, value, &[]).is_some()
    }

    /// What was evaluated, if the value keeps the schema.
    fn apply(&self, place: &Place, value: Node<'_>, scope: &[String]) -> Option<Evaluated> {
        let schema = self.index.node(place);
        if let Some(answer) = schema.as_bool() {
            return answer.then(Evaluated::default);
        }
        let mut scope = scope.to_vec();
        scope.push(place.base.clone());
        let mut task = Task {
            reference: self,
            place,
            schema,
            value,
            scope,
            holds: true,
            evaluated: Evaluated::default(),
        };
        task.references();
        if place.language == Language::Draft07 && schema.member("$ref").is_some() {
            // Draft-07 core, section 8.3: what stands beside `$ref` is ignored.
            return task.holds.then_some(task.evaluated);
        }
        task.any_kind();
        match value.kind() {
            Kind::Number => task.number(),
            Kind::String => task.string(),
            Kind::Array => task.array(),
            Kind::Object => task.object(),
            Kind::Null | Kind::Bool => {}
        }
        task.in_place();
        task.unevaluated();
        task.holds.then_some(task.evaluated)
    }
}

impl<'r> Task<'r, '_> {
    /// The value of a keyword that the dialect has.
    fn keyword(&self, name: &str) -> Option<Node<'r>> {
        let vocabulary = match name {
            "$ref" | "$dynamicRef" => "core",
            "unevaluatedItems" | "unevaluatedProperties" => "unevaluated",
            "prefixItems"
            | "items"
            | "contains"
            | "additionalProperties"
            | "properties"
            | "patternProperties"
            | "dependentSchemas"
            | "propertyNames"
            | "if"
            | "then"
            | "else"
            | "allOf"
            | "anyOf"
            | "oneOf"
            | "not"
            | "additionalItems"
            | "dependencies" => "applicator",
            _ => "validation",
        };
        let known = match &self.place.language {
            Language::Draft07 => {
                vocabulary != "unevaluated"
                    && !name.starts_with("dependent")
                    && !matches!(name, "$dynamicRef" | "prefixItems" | "minContains" | "maxContains")
            }
            Language::Draft202012(names) => {
                (vocabulary == "core" || names.iter().any(|known| known == vocabulary))
                    && name != "additionalItems"
            }
        };
        if known { self.schema.member(name) } else { None }
    }

    fn require(&mut self, holds: bool) {
        self.holds &= holds;
    }

    /// Applies a subschema to a value.
    fn applies(&self, schema: Node<'r>, value: Node<'_>) -> Option<Evaluated> {
        self.reference.apply(&self.reference.index.part(self.place, schema), value, &self.scope)
    }

    /// A subschema of the value itself must hold, and what it evaluates is evaluated.
    fn include(&mut self, result: Option<Evaluated>) {
        self.require(result.is_some());
        self.collect(result);
    }

    fn collect(&mut self, result: Option<Evaluated>) {
        let Evaluated { names, items } = result.unwrap_or_default();
        self.evaluated.names.extend(names);
        self.evaluated.items.extend(items);
    }

    fn references(&mut self) {
        let index = &self.reference.index;
        if let Some(reference) = self.keyword("$ref").and_then(Node::as_str) {
            let (target, _) = index.resolve(self.place, &reference);
            let result = self.reference.apply(&target, self.value, &self.scope);
            self.include(result);
        }
        if let Some(reference) = self.keyword("$dynamicRef").and_then(Node::as_str) {
            let (target, name) = index.resolve(self.place, &reference);
            let outermost = || self.scope.iter().find_map(|base| index.dynamic(base, &name));
            let target = index.dynamic(&target.base, &name).and_then(|_| outermost()).unwrap_or(target);
            let result = self.reference.apply(&target, self.value, &self.scope);
            self.include(result);
        }
    }

    fn any_kind(&mut self) {
        let value = self.value;
        if let Some(types) = self.keyword("type") {
            let is = |name: Node<'_>| {
                let name = name.as_str().unwrap_or_default();
                let is_integer = value.kind() == Kind::Number && decimal(value).is_integer();
                name == value.kind().name() || name == "integer" && is_integer
            };
            let holds = if types.kind() == Kind::Array { types.items().any(is) } else { is(types) };
            self.require(holds);
        }
        if let Some(members) = self.keyword("enum") {
            self.require(members.items().any(|member| same(member, value)));
        }
        if let Some(constant) = self.keyword("const") {
            self.require(same(constant, value));
        }
    }

    fn number(&mut self) {
        let value = decimal(self.value);
        let bound = |task: &Self, name| task.keyword(name).map(decimal);
        let holds = bound(self, "minimum").is_none_or(|bound| value >= bound)
            && bound(self, "maximum").is_none_or(|bound| value <= bound)
            && bound(self, "exclusiveMinimum").is_none_or(|bound| value > bound)
            && bound(self, "exclusiveMaximum").is_none_or(|bound| value < bound)
            && bound(self, "multipleOf").is_none_or(|divisor| value.is_multiple_of(&divisor));
        self.require(holds);
    }

    /// Whether a count lies between two keywords.
    fn counts(&mut self, count: usize, least: &str, most: &str) {
        let count = Decimal::of(count);
        let holds = self.keyword(least).is_none_or(|bound| count >= decimal(bound))
            && self.keyword(most).is_none_or(|bound| count <= decimal(bound));
        self.require(holds);
    }

    fn string(&mut self) {
        let text = self.value.as_str().unwrap_or_default();
        self.counts(text.chars().count(), "minLength", "maxLength");
        if let Some(pattern) = self.keyword("pattern") {
            self.require(matches(&pattern.as_str().unwrap_or_default(), &text));
        }
    }

    fn array(&mut self) {
        let items: Vec<Node<'_>> = self.value.items().collect();
        self.counts(items.len(), "minItems", "maxItems");
        if self.keyword("uniqueItems").and_then(Node::as_bool) == Some(true) {
            let repeats = |at: usize| items[..at].iter().any(|earlier| same(*earlier, items[at]));
            self.require(!(0..items.len()).any(repeats));
        }
        let mut prefix: Vec<Node<'r>> =
            self.keyword("prefixItems").into_iter().flat_map(Node::items).collect();
        let mut rest = self.keyword("items");
        if self.place.language == Language::Draft07
            && let Some(list) = rest.filter(|items| items.kind() == Kind::Array)
        {
            prefix = list.items().collect();
            rest = self.keyword("additionalItems");
        }
        for (at, item) in items.iter().enumerate() {
            if let Some(schema) = prefix.get(at).copied().or(rest) {
                self.require(self.applies(schema, *item).is_some());
                self.evaluated.items.insert(at);
            }
        }
        if let Some(schema) = self.keyword("contains") {
            let matching = |(at, item): (usize, &Node<'_>)| self.applies(schema, *item).map(|_| at);
            let matching: Vec<usize> = items.iter().enumerate().filter_map(matching).collect();
            self.counts(matching.len(), "minContains", "maxContains");
            self.require(!matching.is_empty() || self.keyword("minContains").is_some());
            self.evaluated.items.extend(matching);
        }
    }

    fn object(&mut self) {
        let value = self.value;
        self.counts(value.len(), "minProperties", "maxProperties");
        for name in self.keyword("required").into_iter().flat_map(Node::items) {
            self.require(value.member(&name.as_str().unwrap_or_default()).is_some());
        }
        let names_schema = self.keyword("propertyNames");
        let properties = self.keyword("properties");
        let patterns = self.keyword("patternProperties");
        let additional = self.keyword("additionalProperties");
        for member in value.members() {
            let name = member.name();
            if let Some(schema) = names_schema {
                let document = text_document(&name);
                self.require(self.applies(schema, document.root()).is_some());
            }
            let mut schemas: Vec<Node<'r>> =
                properties.and_then(|map| map.member(&name)).into_iter().collect();
            let by_pattern = patterns.into_iter().flat_map(Node::members);
            schemas.extend(by_pattern.filter(|rule| matches(&rule.name(), &name)).map(Member::value));
            if schemas.is_empty() {
                schemas.extend(additional);
            }
            for schema in schemas {
                self.require(self.applies(schema, member.value()).is_some());
                self.evaluated.names.insert(name.clone().into_owned());
            }
        }
        self.dependencies();
    }

    fn dependencies(&mut self) {
        for keyword in ["dependentRequired", "dependentSchemas", "dependencies"] {
            for rule in self.keyword(keyword).into_iter().flat_map(Node::members) {
                if self.value.member(&rule.name()).is_none() {
                    continue;
                }
                if rule.value().kind() == Kind::Array {
                    for name in rule.value().items() {
                        self.require(self.value.member(&name.as_str().unwrap_or_default()).is_some());
                    }
                } else {
                    self.include(self.applies(rule.value(), self.value));
                }
            }
        }
    }

    fn in_place(&mut self) {
        let branches = |task: &Self, name| -> Option<Vec<Option<Evaluated>>> {
            Some(task.keyword(name)?.items().map(|schema| task.applies(schema, task.value)).collect())
        };
        for result in branches(self, "allOf").into_iter().flatten() {
            self.include(result);
        }
        for (keyword, most) in [("anyOf", usize::MAX), ("oneOf", 1)] {
            let Some(results) = branches(self, keyword) else { continue };
            let holding = results.iter().flatten().count();
            self.require((1..=most).contains(&holding));
            for result in results {
                self.collect(result);
            }
        }
        if let Some(schema) = self.keyword("not") {
            self.require(self.applies(schema, self.value).is_none());
        }
        if let Some(condition) = self.keyword("if") {
            let result = self.applies(condition, self.value);
            let next = if result.is_some() { "then" } else { "else" };
            self.collect(result);
            if let Some(schema) = self.keyword(next) {
                self.include(self.applies(schema, self.value));
            }
        }
    }

    fn unevaluated(&mut self) {
        if let Some(schema) = self.keyword("unevaluatedItems") {
            for (at, item) in self.value.items().enumerate() {
                if self.evaluated.items.insert(at) {
                    self.require(self.applies(schema, item).is_some());
                }
            }
        }
        if let Some(schema) = self.keyword("unevaluatedProperties") {
            for member in self.value.members() {
                if self.evaluated.names.insert(member.name().into_owned()) {
                    self.require(self.applies(schema, member.value()).is_some());
                }
            }
        }
    }
}

fn decimal(number: Node<'_>) -> Decimal {
    Decimal::parse(number.raw_str())
}

/// A text as a JSON value.
fn text_document(text: &str) -> Document {
    let mut json = Vec::new();
    write_string(&mut json, text);
    Document::read(json, &Limits::default().arguments_text()).expect("what was written can be read")
}

fn matches(pattern: &str, text: &str) -> bool {
    let compiled = Pattern::compile(pattern, PatternLanguage::Standard, &Limits::default());
    let compiled = compiled.expect("the engine has admitted the pattern");
    compiled.is_match(text, &mut Work::new(u64::MAX)).expect("the allowance is without end")
}

/// Equality by value (2020-12 core, section 4.2.2).
fn same(a: Node<'_>, b: Node<'_>) -> bool {
    if a.kind() != b.kind() || a.len() != b.len() {
        return false;
    }
    match a.kind() {
        Kind::Null => true,
        Kind::Bool => a.as_bool() == b.as_bool(),
        Kind::Number => decimal(a) == decimal(b),
        Kind::String => a.as_str() == b.as_str(),
        Kind::Array => a.items().zip(b.items()).all(|(x, y)| same(x, y)),
        Kind::Object => a.members().all(|x| b.member(&x.name()).is_some_and(|y| same(x.value(), y))),
    }
}
