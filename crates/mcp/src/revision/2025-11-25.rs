//! Revision 2025-11-25: invalid arguments are results by the text; tasks, as an experiment.

use super::Revision;

pub(super) const REVISION: Revision =
    Revision { date: "2025-11-25", over_http: true, refused: &["calls that run as tasks"] };
