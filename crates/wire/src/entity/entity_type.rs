//! What a type of entities has: its names, its properties, and which of them an index shows.

use callgate_schema::json::{Kind, Node};

use crate::{Json, Object, ValueCode, ValueError};

/// Properties of one type: many more than a form has fields, and few enough to compare each with the others.
pub const ENTITY_PROPERTIES_MAX: usize = 1_000;

/// What an app says of a type of entities.
///
/// ```
/// use callgate_wire::{EntityProperty, EntityType, PropertyRole, PropertyType};
/// let job = EntityType::new("jobs", "job", "jobId")?
///     .with_property(EntityProperty::new("headline", PropertyType::String).with_role(PropertyRole::Title))?;
/// assert_eq!(job.title_key(), "headline");
/// assert_eq!(job.subtitle_key(), "subtitle");
/// # Ok::<(), callgate_wire::ValueError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EntityType {
    namespace: String,
    name: String,
    identifier_name: String,
    properties: Vec<EntityProperty>,
}

/// One property of a type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EntityProperty {
    /// The name, `[a-z][a-z0-9_]*`.
    pub name: String,
    /// What values it has.
    pub value_type: PropertyType,
    /// Whether people are shown it.
    pub display: bool,
    /// Whether it is searched.
    pub searchable: bool,
    /// Whether it is kept in an index of its own.
    pub indexed: bool,
    /// Which place of an index's row it fills.
    pub role: Option<PropertyRole>,
}

macro_rules! words {
    ($($(#[$doc:meta])* $name:ident { $($(#[$row_doc:meta])* $row:ident $text:literal,)* })*) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum $name {
            $($(#[$row_doc])* $row,)*
        }

        impl $name {
            /// The word for it.
            pub const fn as_str(self) -> &'static str {
                match self {
                    $($name::$row => $text,)*
                }
            }

            /// What the word stands for, if it is one.
            pub fn parse(text: &str) -> Option<$name> {
                [$($name::$row,)*].into_iter().find(|one| one.as_str() == text)
            }
        }
    )*};
}

words! {
    /// What values a property has.
    PropertyType {
        /// A text.
        String "string",
        /// A whole number.
        Integer "integer",
        /// A number.
        Number "number",
        /// True or false.
        Boolean "boolean",
        /// An object.
        Object "object",
        /// A list.
        Array "array",
    }
    /// The places of an index's row that a property can fill.
    PropertyRole {
        /// The title.
        Title "title",
        /// The second line.
        Subtitle "subtitle",
        /// What it is found by.
        Keywords "keywords",
    }
}

impl EntityProperty {
    /// A property that is neither shown nor searched nor indexed, and has no role.
    pub fn new(name: impl Into<String>, value_type: PropertyType) -> EntityProperty {
        let name = name.into();
        EntityProperty { name, value_type, display: false, searchable: false, indexed: false, role: None }
    }

    /// The same, shown.
    #[must_use]
    pub const fn displayed(mut self) -> EntityProperty {
        self.display = true;
        self
    }

    /// The same, searched.
    #[must_use]
    pub const fn searched(mut self) -> EntityProperty {
        self.searchable = true;
        self
    }

    /// The same with a role.
    #[must_use]
    pub const fn with_role(mut self, role: PropertyRole) -> EntityProperty {
        self.role = Some(role);
        self
    }

    fn of(node: Node<'_>) -> Result<EntityProperty, ValueError> {
        if node.kind() != Kind::Object {
            return Err(malformed("properties", "expected properties as objects, found another value"));
        }
        let value_type = node.member("value_type").map_or(Some(PropertyType::String), |word| {
            word.as_str().and_then(|word| PropertyType::parse(&word))
        });
        let role = match node.member("role").filter(|role| !role.is_null()) {
            None => None,
            Some(word) => {
                let role = word.as_str().and_then(|word| PropertyRole::parse(&word));
                let message = "expected `title`, `subtitle` or `keywords`, found another value";
                Some(role.ok_or_else(|| malformed("role", message))?)
            }
        };
        let message = "expected one of the six types of JSON Schema's values, found another value";
        Ok(EntityProperty {
            name: word(node, "name")?,
            value_type: value_type.ok_or_else(|| malformed("value_type", message))?,
            display: flag(node, "display")?,
            searchable: flag(node, "searchable")?,
            indexed: flag(node, "indexed")?,
            role,
        })
    }
}

impl EntityType {
    /// A type without properties. Namespace and name are `[a-z][a-z0-9_]*`, the identifier's name is
    /// `[A-Za-z_][A-Za-z0-9_]*`.
    ///
    /// # Errors
    /// `entity-type` with the field whose name is not of that form.
    pub fn new(
        namespace: impl Into<String>,
        name: impl Into<String>,
        identifier_name: impl Into<String>,
    ) -> Result<EntityType, ValueError> {
        let (namespace, name, identifier_name) = (namespace.into(), name.into(), identifier_name.into());
        for (field, text) in [("namespace", &namespace), ("name", &name)] {
            if !is_name(text) {
                return Err(malformed(field, NAME));
            }
        }
        let mut bytes = identifier_name.bytes();
        let first = bytes.next().is_some_and(|b| b == b'_' || b.is_ascii_alphabetic());
        if !first || !bytes.all(|b| b == b'_' || b.is_ascii_alphanumeric()) {
            let message = "expected a letter or `_` and then letters, digits and `_`, found another text";
            return Err(malformed("identifier_name", message));
        }
        Ok(EntityType { namespace, name, identifier_name, properties: Vec::new() })
    }

    /// The same with one more property, of at most [`ENTITY_PROPERTIES_MAX`].
    ///
    /// # Errors
    /// `entity-type` where there are too many, with the field `properties`; where its name is not of the form or is there already, with the field `name`, and where another
    /// property has its role, with the field `role`.
    pub fn with_property(mut self, property: EntityProperty) -> Result<EntityType, ValueError> {
        if !is_name(&property.name) {
            return Err(malformed("name", NAME));
        }
        if self.properties.len() >= ENTITY_PROPERTIES_MAX {
            let message = format!("expected at most {ENTITY_PROPERTIES_MAX} properties, found more");
            return Err(malformed("properties", message));
        }
        if self.properties.iter().any(|known| known.name == property.name) {
            let message = format!("expected each property once, found `{}` twice", property.name);
            return Err(malformed("name", message));
        }
        let rival =
            self.properties.iter().find(|known| property.role.is_some() && known.role == property.role);
        if let (Some(rival), Some(role)) = (rival, property.role) {
            let message = format!(
                "expected one property with the role `{}`, found `{}` and `{}`",
                role.as_str(),
                rival.name,
                property.name
            );
            return Err(malformed("role", message).with_help("keep the role at one of them"));
        }
        self.properties.push(property);
        Ok(self)
    }

    /// The type that a value describes which was read: `namespace`, `name`, `identifier_name` (absent: `id`) and
    /// `properties`, each with `name`, `value_type` (absent: `string`), `display`, `searchable`, `indexed`, `role`.
    ///
    /// # Errors
    /// `entity-type` with the field that is wrong.
    pub fn of(node: Node<'_>) -> Result<EntityType, ValueError> {
        if node.kind() != Kind::Object {
            return Err(ValueError::not_object(node.kind()));
        }
        let identifier_name = match node.member("identifier_name").filter(|name| !name.is_null()) {
            None => "id".to_owned(),
            Some(_) => word(node, "identifier_name")?,
        };
        let mut entity_type =
            EntityType::new(word(node, "namespace")?, word(node, "name")?, identifier_name)?;
        let Some(properties) = node.member("properties").filter(|list| !list.is_null()) else {
            return Ok(entity_type);
        };
        if properties.kind() != Kind::Array {
            return Err(malformed("properties", "expected a list of properties, found another value"));
        }
        for property in properties.items() {
            entity_type = entity_type.with_property(EntityProperty::of(property)?)?;
        }
        Ok(entity_type)
    }

    /// The namespace.
    pub fn namespace(&self) -> &str {
        &self.namespace
    }

    /// The name within the namespace.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The namespace and the name, joined by `_`.
    pub fn qualified_name(&self) -> String {
        format!("{}_{}", self.namespace, self.name)
    }

    /// What the app calls the identifier.
    pub fn identifier_name(&self) -> &str {
        &self.identifier_name
    }

    /// The properties in their order.
    pub fn properties(&self) -> &[EntityProperty] {
        &self.properties
    }

    /// The properties that people are shown, in their order: those that say so, and those that are a title or a second
    /// line.
    pub fn shown(&self) -> impl Iterator<Item = &EntityProperty> {
        let by_role = |role| matches!(role, PropertyRole::Title | PropertyRole::Subtitle);
        self.properties.iter().filter(move |one| one.display || one.role.is_some_and(by_role))
    }

    /// The properties that are searched, in their order: those that say so, and those that are a second line or keywords.
    pub fn searched(&self) -> impl Iterator<Item = &EntityProperty> {
        let by_role = |role| matches!(role, PropertyRole::Subtitle | PropertyRole::Keywords);
        self.properties.iter().filter(move |one| one.searchable || one.role.is_some_and(by_role))
    }

    /// The properties that are kept in an index of their own, in their order.
    pub fn indexed(&self) -> impl Iterator<Item = &EntityProperty> {
        self.properties.iter().filter(|one| one.indexed)
    }

    /// The schema of an entity as an object of its own: the identifier as a text, which must be there, and each property
    /// with its type. What else is known of a property is not in it, so that every profile takes it.
    ///
    /// ```
    /// use callgate_wire::{EntityProperty, EntityType, PropertyType};
    /// let memo = EntityType::new("memos", "memo", "memoId")?
    ///     .with_property(EntityProperty::new("rank", PropertyType::Integer))?;
    /// assert_eq!(
    ///     memo.schema().as_str(),
    ///     r#"{"type":"object","required":["memoId"],"properties":{"memoId":{"type":"string"},"rank":{"type":"integer"}}}"#
    /// );
    /// # Ok::<(), callgate_wire::ValueError>(())
    /// ```
    pub fn schema(&self) -> Object {
        let typed = |word: &str| Json::from(Object::new().with("type", word));
        let identifier = (self.identifier_name.as_str(), typed(PropertyType::String.as_str()));
        let others = self.properties.iter().filter(|one| one.name != self.identifier_name);
        let others = others.map(|one| (one.name.as_str(), typed(one.value_type.as_str())));
        let properties: Object = std::iter::once(identifier).chain(others).collect();
        Object::new()
            .with("type", "object")
            .with("required", vec![self.identifier_name.as_str()])
            .with("properties", properties)
    }

    /// Under which name a row has the title: the property with the role, else the first that is shown, else `title`.
    pub fn title_key(&self) -> &str {
        self.role(PropertyRole::Title)
            .or_else(|| self.properties.iter().find(|property| is_shown(property)))
            .map_or("title", |property| &property.name)
    }

    /// Under which name a row has the second line: the property with the role, else the next that is shown beside the
    /// title, else the first that is searched beside it, else `subtitle`.
    pub fn subtitle_key(&self) -> &str {
        let title = self.title_key();
        let mut others = self.properties.iter().filter(|property| property.name != title);
        self.role(PropertyRole::Subtitle)
            .or_else(|| others.clone().find(|property| is_shown(property)))
            .or_else(|| others.find(|property| property.searchable && property.role.is_none()))
            .map_or("subtitle", |property| &property.name)
    }

    /// Under which name a row has the keywords: the property with the role, else the first list that is searched, else
    /// `keywords`.
    pub fn keywords_key(&self) -> &str {
        let list = |property: &&EntityProperty| {
            property.searchable && property.value_type == PropertyType::Array && property.role.is_none()
        };
        self.role(PropertyRole::Keywords)
            .or_else(|| self.properties.iter().find(list))
            .map_or("keywords", |property| &property.name)
    }

    fn role(&self, role: PropertyRole) -> Option<&EntityProperty> {
        self.properties.iter().find(|property| property.role == Some(role))
    }
}

/// What has a role of its own is no candidate for another place.
const fn is_shown(property: &EntityProperty) -> bool {
    property.display && property.role.is_none()
}

const NAME: &str = "expected a small letter and then small letters, digits and `_`, found another text";

fn is_name(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_lowercase())
        && text.bytes().all(|b| b == b'_' || b.is_ascii_lowercase() || b.is_ascii_digit())
}

fn word(node: Node<'_>, field: &str) -> Result<String, ValueError> {
    let text = node.member(field).and_then(Node::as_str);
    text.map(std::borrow::Cow::into_owned)
        .ok_or_else(|| malformed(field, "expected a text, found none or another value"))
}

fn flag(node: Node<'_>, field: &str) -> Result<bool, ValueError> {
    match node.member(field).filter(|flag| !flag.is_null()) {
        None => Ok(false),
        Some(flag) => {
            flag.as_bool().ok_or_else(|| malformed(field, "expected true or false, found another value"))
        }
    }
}

fn malformed(field: &str, message: impl Into<String>) -> ValueError {
    ValueError::new(ValueCode::EntityType, message).in_field(field)
}
