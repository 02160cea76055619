//! Sets of the seven type names of JSON Schema, and the kind of a value in their terms.

use crate::json::{Kind, Node, Number, kind};

/// The type names, in the order in which a set prints them.
const NAMES: [(&str, u8); 7] = [
    ("object", 1 << 0),
    ("array", 1 << 1),
    ("string", 1 << 2),
    ("number", NUMBER),
    ("integer", INTEGER),
    ("boolean", 1 << 5),
    ("null", 1 << 6),
];

const INTEGER: u8 = 1 << 3;
/// A number is an integer or one with a fraction.
const NUMBER: u8 = INTEGER | 1 << 4;

/// A set of types.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TypeSet(u8);

impl TypeSet {
    pub(crate) const EMPTY: TypeSet = TypeSet(0);
    pub(crate) const ALL: TypeSet = TypeSet(0x7F);
    pub(crate) const STRING: TypeSet = TypeSet(1 << 2);
    pub(crate) const BOOLEAN: TypeSet = TypeSet(1 << 5);
    pub(crate) const NULL: TypeSet = TypeSet(1 << 6);
    pub(crate) const ARRAY: TypeSet = TypeSet(1 << 1);
    pub(crate) const OBJECT: TypeSet = TypeSet(1 << 0);
    pub(crate) const NUMBER: TypeSet = TypeSet(NUMBER);

    /// The narrowest set that the value is in.
    pub(crate) fn of(value: Node<'_>) -> TypeSet {
        match value.kind() {
            Kind::Object => TypeSet::OBJECT,
            Kind::Array => TypeSet::ARRAY,
            Kind::String => TypeSet::STRING,
            Kind::Bool => TypeSet::BOOLEAN,
            Kind::Null => TypeSet::NULL,
            Kind::Number if value.as_number().is_some_and(Number::is_integer) => TypeSet(INTEGER),
            Kind::Number => TypeSet::NUMBER,
        }
    }

    /// The type of that name alone.
    pub(crate) fn named(name: &str) -> Option<TypeSet> {
        NAMES.iter().find(|(known, _)| *known == name).map(|&(_, bits)| TypeSet(bits))
    }

    /// The type whose name a value is.
    pub(crate) fn named_by(name: Node<'_>) -> Option<TypeSet> {
        NAMES.iter().find(|(known, _)| name.is_text(known)).map(|&(_, bits)| TypeSet(bits))
    }

    /// The types that a well-formed `type` states.
    pub(crate) fn written(written: Node<'_>) -> Option<TypeSet> {
        if written.kind() == Kind::Array {
            let mut names = written.items();
            return names.try_fold(TypeSet::EMPTY, |set, name| Some(set.union(TypeSet::named_by(name)?)));
        }
        TypeSet::named_by(written)
    }

    pub(crate) const fn overlaps(self, other: TypeSet) -> bool {
        self.0 & other.0 != 0
    }

    pub(crate) const fn union(self, other: TypeSet) -> TypeSet {
        TypeSet(self.0 | other.0)
    }

    pub(crate) const fn intersection(self, other: TypeSet) -> TypeSet {
        TypeSet(self.0 & other.0)
    }

    /// Whether the only numbers in it are whole.
    pub(crate) const fn is_whole(self) -> bool {
        self.0 & NUMBER == INTEGER
    }

    /// The kinds of values that have one of the types, as [`kind`] has them, and whether numbers must be whole.
    pub(crate) fn kinds(self) -> (u8, bool) {
        const KINDS: [(u8, u8); 6] = [
            (1 << 0, kind::OBJECT),
            (1 << 1, kind::ARRAY),
            (1 << 2, kind::STRING),
            (NUMBER, kind::NUMBER),
            (1 << 5, kind::BOOL),
            (1 << 6, kind::NULL),
        ];
        let has = KINDS.iter().filter(|(types, _)| self.0 & types != 0);
        (has.fold(0, |kinds, (_, kind)| kinds | kind), self.is_whole())
    }

    /// Whether the value has one of the types.
    #[inline]
    pub(crate) fn has(self, value: Node<'_>) -> bool {
        let bit = match value.kind() {
            Kind::Object => 1 << 0,
            Kind::Array => 1 << 1,
            Kind::String => 1 << 2,
            Kind::Bool => 1 << 5,
            Kind::Null => 1 << 6,
            Kind::Number => return self.has_number(value),
        };
        self.0 & bit != 0
    }

    fn has_number(self, value: Node<'_>) -> bool {
        match self.0 & NUMBER {
            NUMBER => true,
            INTEGER => value.as_number().is_some_and(Number::is_integer),
            _ => false,
        }
    }

    /// The names, such as `string or null`.
    pub(crate) fn names(self) -> String {
        let mut left = self.0;
        let mut names = Vec::new();
        for (name, bits) in NAMES {
            if left & bits == bits {
                left &= !bits;
                names.push(name);
            }
        }
        alternatives(&names)
    }
}

/// `a`, `a or b`, `a, b or c`.
pub(crate) fn alternatives<T: AsRef<str>>(names: &[T]) -> String {
    match names {
        [] => String::from("nothing"),
        [only] => only.as_ref().to_owned(),
        [first @ .., last] => {
            let first: Vec<&str> = first.iter().map(AsRef::as_ref).collect();
            format!("{} or {}", first.join(", "), last.as_ref())
        }
    }
}

/// The article before a type's name.
pub(crate) fn article(name: &str) -> &'static str {
    if name.starts_with(['a', 'e', 'i', 'o', 'u']) { "an" } else { "a" }
}

/// The name of a value's type, the narrowest one.
pub(crate) fn found(value: Node<'_>) -> &'static str {
    match value.kind() {
        Kind::Number if value.as_number().is_some_and(Number::is_integer) => "integer",
        Kind::Number => "number with a fraction",
        kind => kind.name(),
    }
}
