//! What an entry is called and what it says of itself.

use callgate_wire::{
    Object, Scheme, UriTemplate, resource_input_schema, resource_uri, template_input_schema,
};

use super::RegistryError;

/// Whether an entry is called or read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum EntryKind {
    /// It is called with arguments.
    Tool,
    /// It is read, by its URI.
    Resource,
}

/// What an entry is called and what it says of itself.
///
/// ```
/// use callgate_gateway::registry::Descriptor;
/// let ping = Descriptor::tool("demo", "ping", "Answers")?;
/// assert_eq!((ping.qualified_name().as_str(), ping.method_name()), ("demo_ping", "ping"));
/// assert!(Descriptor::tool("demo", "demo_ping", "Answers").is_err());
/// assert!(Descriptor::tool("demo", "Ping", "Answers").is_err());
/// # Ok::<(), callgate_gateway::registry::RegistryError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Descriptor {
    namespace: String,
    name: String,
    kind: EntryKind,
    /// What it does, to people and models.
    pub description: String,
    /// What the arguments must be.
    pub input_schema: Object,
    /// What the data of its successes are, if it says so.
    pub output_schema: Option<Object>,
    /// The name of the function behind it, if it is another than the entry's.
    pub method: Option<String>,
    /// Where it is read, if it says so; with braces, a template of such places.
    pub uri: Option<String>,
    /// The media type of what is read.
    pub media_type: String,
}

impl Descriptor {
    /// A tool that takes any object.
    ///
    /// # Errors
    /// [`RegistryError::Name`] if namespace or name is not `[a-z][a-z0-9_]*`, or the name begins with the namespace and
    /// `_`, which would stand twice in the qualified name.
    pub fn tool(
        namespace: impl Into<String>,
        name: impl Into<String>,
        description: impl Into<String>,
    ) -> Result<Descriptor, RegistryError> {
        let schema = Object::new().with("type", "object");
        Descriptor::new(EntryKind::Tool, namespace.into(), name.into(), description.into(), schema)
    }

    /// A resource of JSON that is read by its URI.
    ///
    /// # Errors
    /// Those of [`Descriptor::tool`].
    pub fn resource(
        namespace: impl Into<String>,
        name: impl Into<String>,
        description: impl Into<String>,
    ) -> Result<Descriptor, RegistryError> {
        let schema = resource_input_schema();
        Descriptor::new(EntryKind::Resource, namespace.into(), name.into(), description.into(), schema)
    }

    fn new(
        kind: EntryKind,
        namespace: String,
        name: String,
        description: String,
        input_schema: Object,
    ) -> Result<Descriptor, RegistryError> {
        for (field, text) in [("namespace", &namespace), ("name", &name)] {
            let first = text.starts_with(|c: char| c.is_ascii_lowercase());
            let rest = text.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_');
            if !(first && rest) {
                let reason = "of lower-case letters, digits and `_` that begins with a letter";
                return Err(RegistryError::Name { field, found: text.clone(), reason });
            }
        }
        if name.strip_prefix(namespace.as_str()).is_some_and(|rest| rest.starts_with('_')) {
            let reason = "without its namespace, which is put before it";
            return Err(RegistryError::Name { field: "name", found: name, reason });
        }
        Ok(Descriptor {
            namespace,
            name,
            kind,
            description,
            input_schema,
            output_schema: None,
            method: None,
            uri: None,
            media_type: "application/json".to_owned(),
        })
    }

    /// The same with this input schema.
    #[must_use]
    pub fn with_input_schema(mut self, schema: Object) -> Descriptor {
        self.input_schema = schema;
        self
    }

    /// The same with this output schema.
    #[must_use]
    pub fn with_output_schema(mut self, schema: Object) -> Descriptor {
        self.output_schema = Some(schema);
        self
    }

    /// The same with this URI or template. A resource that still has the schema of a plain read gets that of the
    /// template, whose variables it is then read with.
    #[must_use]
    pub fn with_uri(mut self, uri: impl Into<String>) -> Descriptor {
        let uri = uri.into();
        if self.kind == EntryKind::Resource
            && self.input_schema == resource_input_schema()
            && let Ok(template) = UriTemplate::new(uri.as_str())
            && let Ok(schema) = template_input_schema(template.variables())
        {
            self.input_schema = if uri.contains('{') { schema } else { self.input_schema };
        }
        self.uri = Some(uri);
        self
    }

    /// The namespace.
    pub fn namespace(&self) -> &str {
        &self.namespace
    }

    /// The name within the namespace.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Tool or resource.
    pub const fn kind(&self) -> EntryKind {
        self.kind
    }

    /// The namespace and the name, joined by `_`.
    pub fn qualified_name(&self) -> String {
        format!("{}_{}", self.namespace, self.name)
    }

    /// The name of the function behind it.
    pub fn method_name(&self) -> &str {
        self.method.as_deref().unwrap_or(&self.name)
    }

    /// Where it is read: the URI that it says, else that of its name in the app's scheme.
    pub fn resource_uri(&self, scheme: Option<&Scheme>) -> Option<String> {
        self.uri.clone().or_else(|| scheme.map(|scheme| resource_uri(scheme, &self.name)))
    }

    /// Whether it is read at many places, which its URI is a template of.
    pub fn is_template(&self) -> bool {
        self.uri.as_deref().is_some_and(|uri| uri.contains('{'))
    }
}
