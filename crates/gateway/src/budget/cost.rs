//! What one call costs.

use callgate_schema::json::Node;

/// What one call costs, in whole units of whatever the operator counts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Cost {
    /// Always this.
    Fixed(u64),
    /// What the arguments say.
    Argument {
        /// A JSON Pointer to a whole number that is not negative; `2.0` and `1e3` are whole.
        pointer: String,
        /// What is charged where there is no such number. Without a ceiling such a call is refused.
        ceiling: Option<u64>,
    },
}

impl Cost {
    /// What a call with these arguments costs; `None` if nobody can say.
    ///
    /// A number over 64 bits costs `u64::MAX`, which no counter takes. A negative one is no cost: it would give back
    /// what others have taken.
    pub fn of(&self, arguments: Node<'_>) -> Option<u64> {
        match self {
            Cost::Fixed(amount) => Some(*amount),
            Cost::Argument { pointer, ceiling } => {
                let number = arguments.pointer(pointer).and_then(Node::as_number);
                let stated = number.filter(|number| number.is_integer() && !number.is_negative());
                stated.map(|number| number.as_u64().unwrap_or(u64::MAX)).or(*ceiling)
            }
        }
    }
}
