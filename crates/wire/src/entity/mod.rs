//! Entities: records of an app that agents may search, open and refer to.
//!
//! | file | holds |
//! |---|---|
//! | `reference` | which entity |
//! | `snapshot` | what is known of it, built in code |
//! | `form` | the JSON form of a snapshot, written and read |
//! | `moment` | when that was |
//! | `date` | the grammar of dates and times |
//! | `entity_type` | what a type of entities has |
//! | `project` | the row that an index keeps of a snapshot |

mod date;
mod entity_type;
mod form;
mod moment;
mod project;
mod reference;
mod snapshot;

pub use entity_type::{ENTITY_PROPERTIES_MAX, EntityProperty, EntityType, PropertyRole, PropertyType};
pub use moment::Moment;
pub use reference::EntityRef;
pub use snapshot::EntitySnapshot;

use crate::{ValueCode, ValueError};
use callgate_schema::json::Node;

fn malformed(field: &str, message: impl Into<String>) -> ValueError {
    ValueError::new(ValueCode::EntityMalformed, message).in_field(field)
}

fn wrong(field: &str, expected: &str, found: Option<Node<'_>>) -> ValueError {
    let found = found.map_or("none", |found| found.kind().name());
    malformed(field, format!("expected {expected}, found {found}"))
}
