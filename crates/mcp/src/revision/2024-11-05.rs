//! Revision 2024-11-05: the first one.

use super::Revision;

pub(super) const REVISION: Revision = Revision { date: "2024-11-05", over_http: false, refused: &[] };
