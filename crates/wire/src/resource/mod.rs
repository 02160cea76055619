//! Resources: their URIs, the templates of URIs, and what reading one takes.
//!
//! | file | holds |
//! |---|---|
//! | `uri` | schemes, and the URI of a resource by its name |
//! | `template` | URIs with variables in their path |
//! | `input_schema` | the input schemas of reading |

mod input_schema;
mod template;
mod uri;

pub use input_schema::{resource_input_schema, schema_of_registration, template_input_schema};
pub use template::{TEMPLATE_VARIABLES_DEFAULT, UriTemplate};
pub use uri::{Scheme, resource_uri};
