//! Revision 2025-03-26: tool annotations, and several messages in one array.

use super::Revision;

pub(super) const REVISION: Revision =
    Revision { date: "2025-03-26", over_http: true, refused: &["several messages in one array"] };
