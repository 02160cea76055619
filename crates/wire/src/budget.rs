//! What a call takes from a budget.

use crate::Timestamp;

/// What one call takes from one counter of a budget. Two calls share a counter if budget, scope and window are the same.
///
/// ```
/// use callgate_wire::{Charge, Timestamp};
///
/// let charge = Charge {
///     budget: "payments".to_owned(),
///     scope: "principal=local:ada".to_owned(),
///     window: Some(Timestamp(1_764_547_200_000)),
///     resets_at: Some(Timestamp(1_764_633_600_000)),
///     amount: 250,
///     limit: 1_000,
/// };
/// assert!(charge.fits(750) && !charge.fits(751));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Charge {
    /// The budget's name in the configuration.
    pub budget: String,
    /// Whose counter this is, as the budget counts apart: such as `principal=local:ada`, or empty for one counter for all.
    pub scope: String,
    /// When the window began in which this counts; none for a budget that never resets.
    pub window: Option<Timestamp>,
    /// When the next window begins.
    pub resets_at: Option<Timestamp>,
    /// What the call takes: calls, or units of cost; at most [`Charge::AMOUNT_MAX`], as the limit is.
    pub amount: u64,
    /// The most that the counter may reach.
    pub limit: u64,
}

impl Charge {
    /// The largest amount and limit: what every store keeps exactly.
    pub const AMOUNT_MAX: u64 = i64::MAX as u64;

    /// Whether the counter, which stands at `used` with what is reserved, takes this too.
    pub fn fits(&self, used: u64) -> bool {
        used.checked_add(self.amount).is_some_and(|sum| sum <= self.limit)
    }
}
