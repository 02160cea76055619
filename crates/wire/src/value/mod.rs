//! JSON values that the wire carries: their own compact text, with members in the order in which they were put there
//! and numbers as they were spelled.
//!
//! | file | holds |
//! |---|---|
//! | `json` | any value |
//! | `object` | a value that is an object |
//! | `compact` | the text of a value that was read, without what does not matter |
//! | `scan` | whether a text is already as it would be written |
//! | `serialize` | Rust values on their way to JSON |
//! | `float` | the text of a double |
//! | `limits` | the maxima for values that come from outside |

mod compact;
mod float;
mod json;
mod limits;
mod object;
mod scan;
mod serialize;

pub(crate) use compact::{compact_finite, is_finite, push_text};
pub use json::Json;
use json::own_tape;
pub use limits::ValueLimits;
pub use object::Object;
