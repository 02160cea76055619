//! Revision 2025-06-18: structured output; arrays of messages are gone again.

use super::Revision;

pub(super) const REVISION: Revision = Revision { date: "2025-06-18", over_http: true, refused: &[] };
