//! Which entity.

use callgate_schema::json::{Kind, Node};

use super::{malformed, wrong};
use crate::value::push_text;
use crate::{Object, ValueError};

/// A reference to an entity: three texts, none of them empty.
///
/// Nothing is trimmed and no rule of naming applies; an index may have one. Equality is that of the texts.
///
/// ```
/// use callgate_wire::EntityRef;
/// let note = EntityRef::new("notes", "note", "note-1")?;
/// assert_eq!(note.to_object().as_str(), r#"{"namespace":"notes","type_name":"note","identifier":"note-1"}"#);
/// assert_eq!(EntityRef::new("notes", "", "x").unwrap_err().field(), Some("type_name"));
/// # Ok::<(), callgate_wire::ValueError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct EntityRef {
    namespace: String,
    type_name: String,
    identifier: String,
}

impl EntityRef {
    /// A reference.
    ///
    /// # Errors
    /// `entity-malformed` with the first text that is empty as the field.
    pub fn new(
        namespace: impl Into<String>,
        type_name: impl Into<String>,
        identifier: impl Into<String>,
    ) -> Result<EntityRef, ValueError> {
        let (namespace, type_name, identifier) = (namespace.into(), type_name.into(), identifier.into());
        for (field, text) in
            [("namespace", &namespace), ("type_name", &type_name), ("identifier", &identifier)]
        {
            if text.is_empty() {
                return Err(malformed(field, "expected a text that is not empty, found an empty one"));
            }
        }
        Ok(EntityRef { namespace, type_name, identifier })
    }

    /// The reference that a value is which was read; members that it does not have are passed over.
    ///
    /// # Errors
    /// `entity-malformed` with the first field that is missing, empty or no text; `ref` if it is no object.
    pub fn of(node: Node<'_>) -> Result<EntityRef, ValueError> {
        if node.kind() != Kind::Object {
            return Err(wrong("ref", "an object", Some(node)));
        }
        let text = |field: &str| {
            let value = node.member(field);
            let text = value.and_then(Node::as_str).ok_or_else(|| wrong(field, "a text", value))?;
            if text.is_empty() {
                return Err(malformed(field, "expected a text that is not empty, found an empty one"));
            }
            Ok(text.into_owned())
        };
        Ok(EntityRef {
            namespace: text("namespace")?,
            type_name: text("type_name")?,
            identifier: text("identifier")?,
        })
    }

    /// The domain of the app, such as `notes`.
    pub fn namespace(&self) -> &str {
        &self.namespace
    }

    /// The kind of entity within the namespace.
    pub fn type_name(&self) -> &str {
        &self.type_name
    }

    /// Which one of the kind.
    pub fn identifier(&self) -> &str {
        &self.identifier
    }

    /// The JSON form.
    pub fn to_object(&self) -> Object {
        let mut out = String::new();
        self.write(&mut out);
        Object::written(out)
    }

    pub(super) fn write(&self, out: &mut String) {
        out.push_str("{\"namespace\":");
        push_text(out, &self.namespace);
        out.push_str(",\"type_name\":");
        push_text(out, &self.type_name);
        out.push_str(",\"identifier\":");
        push_text(out, &self.identifier);
        out.push('}');
    }
}
