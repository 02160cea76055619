//! The maxima for values of the wire that come from outside, each with its reason.

use callgate_schema::Limits;
use callgate_schema::json::ReadLimits;

/// The maxima for one value's text. What exceeds one is refused with the limit's name and number.
///
/// ```
/// use callgate_wire::{Json, ValueLimits};
/// let limits = ValueLimits { depth_max: 2, ..ValueLimits::default() };
/// assert!(Json::parse_within("[[]]", &limits).is_ok());
/// assert_eq!(Json::parse_within("[[[]]]", &limits).unwrap_err().code(), "limit-exceeded");
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ValueLimits {
    /// Bytes of the text: those of arguments, so that what one call gives, another can take.
    pub bytes_max: u64,
    /// Arrays and objects within each other: those of arguments.
    pub depth_max: u64,
    /// Values, names not counted: those of arguments.
    pub nodes_max: u64,
    /// Digits of one number.
    pub number_digits_max: u64,
    /// The absolute value of one number's exponent.
    pub number_exponent_max: u64,
}

impl Default for ValueLimits {
    fn default() -> Self {
        ValueLimits::from(&Limits::default())
    }
}

impl From<&Limits> for ValueLimits {
    /// The limits of arguments, for a value.
    fn from(limits: &Limits) -> Self {
        ValueLimits {
            bytes_max: limits.arguments_bytes_max,
            depth_max: limits.arguments_depth_max,
            nodes_max: limits.arguments_nodes_max,
            number_digits_max: limits.number_digits_max,
            number_exponent_max: limits.number_exponent_max,
        }
    }
}

impl ValueLimits {
    /// The same as limits of the reader. Refusals name them `value_bytes`, `value_depth`, `value_nodes`.
    pub const fn text(&self) -> ReadLimits {
        ReadLimits {
            subject: "value",
            bytes_max: self.bytes_max,
            depth_max: self.depth_max,
            nodes_max: self.nodes_max,
            number_digits_max: self.number_digits_max,
            number_exponent_max: self.number_exponent_max,
        }
    }
}
