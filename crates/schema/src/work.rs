//! The work allowance: a number that every path of a check draws from, the same on every machine.

/// What is left of a check's allowance.
///
/// One unit is a subschema entered, a member or item looked at, or a byte scanned by a comparison or a pattern.
///
/// ```
/// let mut work = callgate_schema::Work::new(10);
/// assert!(work.charge(10).is_ok());
/// assert!(work.charge(1).is_err());
/// ```
#[derive(Debug, Clone)]
pub struct Work {
    total: u64,
    left: u64,
}

/// The allowance is spent. This is never read as "did not match".
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Exhausted;

impl Work {
    /// An allowance of `total` units.
    pub const fn new(total: u64) -> Self {
        Work { total, left: total }
    }

    /// Draws `units`.
    ///
    /// # Errors
    /// [`Exhausted`] if fewer are left; the allowance is then empty for good.
    #[inline]
    pub fn charge(&mut self, units: u64) -> Result<(), Exhausted> {
        if let Some(left) = self.left.checked_sub(units) {
            self.left = left;
            return Ok(());
        }
        self.left = 0;
        Err(Exhausted)
    }

    /// Takes a share out of what is left: a quarter, so that attempts within attempts come to an end, and at most `most`.
    pub(crate) fn share(&mut self, most: u64) -> Work {
        let share = (self.left / 4).min(most);
        self.left -= share;
        Work::new(share)
    }

    /// Gives back what is left of a share.
    pub(crate) fn give_back(&mut self, share: &Work) {
        self.left += share.left;
    }

    /// What the allowance was at first.
    pub const fn total(&self) -> u64 {
        self.total
    }

    /// What has been drawn.
    pub const fn used(&self) -> u64 {
        self.total - self.left
    }
}
