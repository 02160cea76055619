//! The texts that `enum` or `const` names.

use crate::json::Head;

/// More texts than these are left to the instructions, which have them sorted.
pub(super) const WORDS_MAX: usize = 64;

/// A few texts, each with its first bytes.
#[derive(Debug, Clone)]
pub(super) struct Words {
    pub(super) texts: Box<[(u64, u64, Box<str>)]>,
}

impl Words {
    pub(super) fn new(texts: Vec<String>) -> Words {
        let texts = texts.into_iter().map(|text| {
            let head = Head::of(text.as_bytes());
            (head.low, head.high, text.into_boxed_str())
        });
        Words { texts: texts.collect() }
    }

    /// Is the text one of them, and which? `low` and `high` are its first sixteen bytes.
    #[inline]
    pub(super) fn position(&self, text: &[u8], low: u64, high: u64) -> Option<usize> {
        self.texts.iter().position(|word| {
            word.0 == low
                && word.1 == high
                && word.2.len() == text.len()
                && (text.len() <= 16 || word.2.as_bytes() == text)
        })
    }

    pub(super) fn bytes(&self) -> usize {
        self.texts.iter().map(|word| size_of_val(word) + word.2.len()).sum()
    }
}
