//! Random numbers from a seed (splitmix64), so that a run can be had again.

#[derive(Debug, Clone)]
pub(super) struct Lot(u64);

impl Lot {
    pub(super) fn new(seed: u64) -> Lot {
        Lot(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number from 0 to `max`, both included.
    pub(super) fn up_to(&mut self, max: u64) -> u64 {
        self.next() % (max + 1)
    }
}
