//! `regex`: what the keyword `pattern` takes, by the same parser.

use crate::Limits;
use crate::pattern::{Language, is_pattern};

/// A text beyond the default limits of patterns is none, as it would be refused under `pattern` too.
pub(super) fn is_regex(text: &str) -> bool {
    is_pattern(text, Language::Standard, &Limits::default())
}
