//! The schema `false` (2020-12 core, section 4.3.2): nothing is valid against it.

use crate::check::{Run, Site, Stop};
use crate::{Code, Finding};

#[cold]
pub(crate) fn holds<'i, const COLLECT: bool>(
    run: &mut Run<'_, 'i>,
    at: Site,
    value: crate::json::Node<'i>,
) -> Result<bool, Stop> {
    run.refuse::<COLLECT>(at, value, || {
        Finding::new(Code::NeverValid, "expected nothing here, found a value")
    })
}
