//! *What it finds*: a lower bound above its upper bound.
//!
//! *Why it matters for a model*: no value is good, so every call is refused and the model tries for ever.
//!
//! *Example*: `{"minimum": 10, "maximum": 1}`. *Instead*: `{"minimum": 1, "maximum": 10}`.

use std::cmp::Ordering;

use crate::keywords::KeywordSet;
use crate::preflight::Subject;
use crate::{Code, Finding};

/// Lower and upper keyword, and whether equal bounds leave a value.
const PAIRS: &[(&str, &str, bool)] = &[
    ("minimum", "maximum", true),
    ("minimum", "exclusiveMaximum", false),
    ("exclusiveMinimum", "maximum", false),
    ("exclusiveMinimum", "exclusiveMaximum", false),
    ("minLength", "maxLength", true),
    ("minItems", "maxItems", true),
    ("minContains", "maxContains", true),
    ("minProperties", "maxProperties", true),
];

/// The lower ones.
pub(super) const OF: KeywordSet =
    KeywordSet::of(&["minimum", "exclusiveMinimum", "minLength", "minItems", "minContains", "minProperties"]);
/// The upper ones.
const UPPER: KeywordSet =
    KeywordSet::of(&["maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxContains", "maxProperties"]);

pub(super) fn judge(subject: &Subject<'_>, doubts: &mut Vec<Finding>) {
    if !UPPER.meets(subject.present.set()) {
        return;
    }
    for &(lower, upper, may_be_equal) in PAIRS {
        let (Some(low), Some(high)) = (subject.keyword(lower), subject.keyword(upper)) else { continue };
        let (Some(low_number), Some(high_number)) = (low.as_number(), high.as_number()) else { continue };
        let crossed = match low_number.cmp(&high_number) {
            Ordering::Less => false,
            Ordering::Equal => !may_be_equal,
            Ordering::Greater => true,
        };
        if crossed {
            let message = format!(
                "expected `{lower}` to leave room below `{upper}`, found {} and {}",
                low.raw_str(),
                high.raw_str()
            );
            doubts.push(
                subject.doubt(Code::SchemaUnsatisfiable, lower, message).with_help("exchange the two bounds"),
            );
        }
    }
}
