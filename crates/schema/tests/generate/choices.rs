//! Bytes as choices: what makes schemas from random bytes also makes them from the bytes of a fuzzer, and a shorter
//! list of bytes makes a simpler schema, so that shrinking the one shrinks the other.

/// Choices that are left. When none is, each further one is the first option, which is always the simplest.
#[derive(Debug, Clone)]
pub(crate) struct Choices<'b> {
    bytes: &'b [u8],
}

impl<'b> Choices<'b> {
    pub(crate) const fn new(bytes: &'b [u8]) -> Self {
        Choices { bytes }
    }

    /// One of the numbers below `options`, of which there are at most 256.
    pub(crate) fn pick(&mut self, options: usize) -> usize {
        let Some((first, rest)) = self.bytes.split_first() else { return 0 };
        self.bytes = rest;
        usize::from(*first) % options.max(1)
    }

    /// True in one of `of` cases.
    pub(crate) fn one_in(&mut self, of: usize) -> bool {
        self.pick(of) == of - 1
    }

    pub(crate) fn of<T: Copy>(&mut self, options: &[T]) -> Option<T> {
        let at = self.pick(options.len());
        options.get(at).copied()
    }

    pub(crate) const fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }
}
