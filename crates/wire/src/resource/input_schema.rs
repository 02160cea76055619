//! The input schemas of reading a resource, a template and what a registration declares.

use callgate_schema::json::Kind;
use callgate_schema::json::Tape;

use super::template::check_variable;
use crate::{Json, Object, ValueCode, ValueError};

/// The schema of reading a resource: a closed object with the required text `uri`.
///
/// ```
/// let schema = callgate_wire::resource_input_schema();
/// assert_eq!(
///     schema.as_str(),
///     r#"{"type":"object","additionalProperties":false,"required":["uri"],"properties":{"uri":{"type":"string","description":"The URI of the resource to read."}}}"#
/// );
/// ```
pub fn resource_input_schema() -> Object {
    schema("The URI of the resource to read.", &[])
}

/// The schema of reading through a template: that of a resource, and one property for each variable in order. `count`
/// is an integer, the others are texts; `uri` stays what it is, a name that comes twice counts once, and none is
/// required.
///
/// # Errors
/// `uri-template` for a name that is empty or holds a brace.
///
/// ```
/// let schema = callgate_wire::template_input_schema(["count", "id"])?;
/// let count = schema.get("properties").and_then(|all| all.into_object()?.get("count"));
/// assert_eq!(count.unwrap().as_str(), r#"{"type":"integer"}"#);
/// # Ok::<(), callgate_wire::ValueError>(())
/// ```
pub fn template_input_schema<'v>(variables: impl IntoIterator<Item = &'v str>) -> Result<Object, ValueError> {
    let variables: Vec<&str> = variables.into_iter().collect();
    for name in &variables {
        check_variable(name)?;
    }
    Ok(schema("The URI to read, which the template matches.", &variables))
}

fn schema(description: &str, variables: &[&str]) -> Object {
    let uri = Object::new().with("type", "string").with("description", description);
    let of_variable = |name: &str| {
        Json::from(Object::new().with("type", if name == "count" { "integer" } else { "string" }))
    };
    let variables = variables.iter().filter(|name| **name != "uri").map(|name| (*name, of_variable(name)));
    let properties: Object = std::iter::once(("uri", Json::from(uri))).chain(variables).collect();
    Object::new()
        .with("type", "object")
        .with("additionalProperties", false)
        .with("required", vec!["uri"])
        .with("properties", properties)
}

/// The input schema that a registration declares under `inputSchema`; that of reading a resource where it declares none.
/// What the schema says is not judged here.
///
/// # Errors
/// `value-not-object` for anything but an object or null.
pub fn schema_of_registration(registration: &Object) -> Result<Object, ValueError> {
    let mut tape = Tape::new();
    let declared = registration.read(&mut tape).member("inputSchema").filter(|schema| !schema.is_null());
    let Some(declared) = declared else { return Ok(resource_input_schema()) };
    Object::of(declared).ok_or_else(|| {
        debug_assert_ne!(declared.kind(), Kind::Object, "an object is taken");
        let message = format!("expected a schema as an object, found {}", declared.kind().name());
        ValueError::new(ValueCode::NotObject, message).in_field("inputSchema")
    })
}
