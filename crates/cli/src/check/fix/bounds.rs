//! Exclusive bounds in the form of draft-04, where they say of the other bound that it is exclusive.

use super::Fix;
use super::object::Object;

/// `"minimum": 0, "exclusiveMinimum": true` becomes `"exclusiveMinimum": 0`; with `false` the word goes.
pub(super) fn fix(object: &Object<'_>, exclusive: &str, inclusive: &str) -> Option<Fix> {
    if !object.get(exclusive)?.as_bool()? {
        let splices = vec![object.remove(exclusive)?];
        return Some(Fix { what: format!("left out `{exclusive}: false`"), splices });
    }
    let bound = object.get(inclusive).filter(|bound| bound.as_number().is_some())?;
    let splices = vec![object.replace(exclusive, bound.raw())?, object.remove(inclusive)?];
    Some(Fix { what: format!("wrote the bound of `{inclusive}` as that of `{exclusive}`"), splices })
}
