//! Numbers as exact decimals. Nothing here goes through a float.

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};

use num_bigint::BigUint;

use super::token::Short;

/// A number with the exact value of its text, whatever its size.
///
/// Equality, order and hash are those of the value: `1`, `1.0` and `1e0` are equal, and so are `0` and `-0`.
///
/// ```
/// use callgate_schema::json::Number;
/// let number = |text| Number::parse(text).unwrap();
/// assert_eq!(number("100"), number("1e2"));
/// assert!(number("9007199254740993") > number("9007199254740992"));
/// assert!(number("0.3").is_multiple_of(number("0.1")));
/// ```
#[derive(Clone, Copy)]
pub struct Number<'a> {
    raw: &'a str,
    small: Option<Small>,
}

/// A value of at most eighteen digits without exponent: `value` divided by ten to the power of `scale`.
#[derive(Clone, Copy)]
struct Small {
    value: i64,
    scale: u32,
}

const SMALL_DIGITS_MAX: usize = 18;

impl Small {
    /// The value times ten to the power of `scale`, which fits: eighteen digits and eighteen zeros.
    const fn scaled(self, scale: u32) -> i128 {
        self.value as i128 * 10i128.pow(scale)
    }
}

/// Bits of the largest difference of two exponents.
const EXPONENT_BITS: u64 = 14;

impl<'a> Number<'a> {
    /// The number that `text` is by the grammar of JSON, nothing around it.
    pub fn parse(text: &'a str) -> Option<Number<'a>> {
        let spelling = Spelling::scan(text.as_bytes(), 0).ok()?;
        (spelling.end == text.len()).then(|| Number::of_spelling(text, &spelling))
    }

    /// The number of a text that the reader took.
    pub(super) fn of_token(raw: &'a str, short: Option<Short>) -> Number<'a> {
        if let Some(Short { negative, scale, digits }) = short {
            let value = i64::from(digits);
            let small = Small { value: if negative { -value } else { value }, scale: u32::from(scale) };
            return Number { raw, small: Some(small) };
        }
        match Spelling::scan(raw.as_bytes(), 0) {
            Ok(spelling) => Number::of_spelling(raw, &spelling),
            Err(_) => Number { raw, small: None },
        }
    }

    fn of_spelling(raw: &'a str, spelling: &Spelling) -> Number<'a> {
        let fraction = spelling.fraction_end - spelling.point;
        let short = spelling.exponent.is_none() && spelling.digits <= SMALL_DIGITS_MAX;
        if !short || fraction > SMALL_DIGITS_MAX + 1 {
            return Number { raw, small: None };
        }
        let digits = raw.bytes().filter(u8::is_ascii_digit);
        let value = digits.fold(0, |value, digit| value * 10 + i64::from(digit - b'0'));
        let scale = u32::try_from(fraction.saturating_sub(1)).unwrap_or(0);
        Number { raw, small: Some(Small { value: if spelling.negative { -value } else { value }, scale }) }
    }

    /// The number as it was written.
    pub const fn raw(self) -> &'a str {
        self.raw
    }

    /// Is the value whole? `1.0`, `1e2` and `10e-1` are.
    pub fn is_integer(self) -> bool {
        match self.small {
            Some(Small { scale: 0, .. }) => true,
            _ => self.decimal().exponent >= 0,
        }
    }

    /// The value of a number of at most eighteen digits without an exponent: divided by ten to the power of the second.
    pub(crate) fn small_parts(self) -> Option<(i64, u8)> {
        let Small { value, scale } = self.small?;
        Some((value, u8::try_from(scale).ok()?))
    }

    /// The value, if it is a whole number that fits. `2.0` is 2.
    pub fn as_u64(self) -> Option<u64> {
        if let Some(Small { value, scale: 0 }) = self.small {
            return u64::try_from(value).ok();
        }
        let decimal = self.decimal();
        if decimal.negative { None } else { decimal.whole() }
    }

    /// The value, if it is a whole number that fits. `-2.0` is -2.
    pub fn as_i64(self) -> Option<i64> {
        if let Some(Small { value, scale: 0 }) = self.small {
            return Some(value);
        }
        let decimal = self.decimal();
        let size = i128::from(decimal.whole()?);
        i64::try_from(if decimal.negative { -size } else { size }).ok()
    }

    /// Is it zero, however it is written?
    pub fn is_zero(self) -> bool {
        match self.small {
            Some(small) => small.value == 0,
            None => self.decimal().count == 0,
        }
    }

    /// Is it less than zero? `-0` is not.
    pub fn is_negative(self) -> bool {
        match self.small {
            Some(small) => small.value < 0,
            None => self.decimal().negative,
        }
    }

    /// Is it `divisor` times a whole number? Zero divides only zero, and the signs do not matter.
    ///
    /// Exact. At most some dozen multiplications of numbers as long as the divisor, and none where the divisor is
    /// larger than the number; [`Number::multiple_of_work`] says how much that is.
    pub fn is_multiple_of(self, divisor: Number<'_>) -> bool {
        if let (Some(a), Some(b)) = (self.small, divisor.small) {
            return match b.value {
                0 => a.value == 0,
                _ => a.scaled(b.scale) % b.scaled(a.scale) == 0,
            };
        }
        let (a, b) = (self.decimal(), divisor.decimal());
        a.is_multiple_of(&b)
    }

    /// The work of [`Number::is_multiple_of`] in the units of [`crate::Work`]: a power of ten modulo the divisor takes a
    /// squaring, and a division by the divisor, for each of the exponent's bits.
    pub fn multiple_of_work(self, divisor: Number<'_>) -> u64 {
        if self.small.is_some() && divisor.small.is_some() {
            return 1;
        }
        let (size, length) = (divisor.raw.len() as u64 / 8 + 1, self.raw.len() as u64);
        2 * EXPONENT_BITS * size * size + size * (length / 8) + length
    }

    /// The value in its one normal form.
    pub(super) fn decimal(self) -> Decimal<'a> {
        match Spelling::scan(self.raw.as_bytes(), 0) {
            Ok(spelling) => Decimal::of(self.raw.as_bytes(), &spelling),
            // INVARIANT: `raw` was scanned when the number was made.
            Err(_) => Decimal { negative: false, digits: &[], count: 0, exponent: 0 },
        }
    }
}

impl Ord for Number<'_> {
    fn cmp(&self, other: &Self) -> Ordering {
        match (self.small, other.small) {
            (Some(a), Some(b)) if a.scale == b.scale => a.value.cmp(&b.value),
            (Some(a), Some(b)) => a.scaled(b.scale).cmp(&b.scaled(a.scale)),
            _ => self.decimal().cmp(&other.decimal()),
        }
    }
}

impl PartialOrd for Number<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Number<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Number<'_> {}

impl Hash for Number<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        let decimal = self.decimal();
        (decimal.negative, decimal.exponent, decimal.count).hash(state);
        decimal.digits().for_each(|digit| state.write_u8(digit));
    }
}

impl fmt::Debug for Number<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.raw)
    }
}

impl fmt::Display for Number<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.raw)
    }
}

/// How a number is written: where its parts are.
pub(super) struct Spelling {
    pub(super) negative: bool,
    /// Index of its first digit.
    first: usize,
    /// Index after the digits before the point.
    point: usize,
    /// Index after the fraction; the same as `point` if there is none.
    fraction_end: usize,
    /// The exponent as written, with saturation.
    pub(super) exponent: Option<i64>,
    /// Digits, not counting zeros before the first other digit.
    pub(super) digits: usize,
    /// Index after the number.
    pub(super) end: usize,
}

impl Spelling {
    /// The number that starts at `start`. Errs with the index of a byte that is no digit and must be one.
    pub(super) fn scan(text: &[u8], start: usize) -> Result<Spelling, usize> {
        let negative = text.get(start) == Some(&b'-');
        let first = start + usize::from(negative);
        let mut point = digits_end(text, first)?;
        if text.get(first) == Some(&b'0') {
            point = first + 1;
        }
        let mut end = point;
        if text.get(end) == Some(&b'.') {
            end = digits_end(text, end + 1)?;
        }
        let fraction_end = end;
        let zeros = text.get(first..end).unwrap_or_default().iter();
        let zeros = zeros.take_while(|&&byte| matches!(byte, b'0' | b'.'));
        // The point is among the bytes, before or after the first digit that counts.
        let digits = end - first - zeros.count();
        let digits = digits - usize::from(text.get(first) != Some(&b'0') && fraction_end > point);
        let mut exponent = None;
        if matches!(text.get(end), Some(b'e' | b'E')) {
            let sign = text.get(end + 1);
            let from = end + 1 + usize::from(matches!(sign, Some(b'+' | b'-')));
            end = digits_end(text, from)?;
            let size = text.get(from..end).unwrap_or_default().iter().fold(0i64, |size, digit| {
                // Far more than any exponent that is let through, and far less than what could overflow later.
                size.saturating_mul(10).saturating_add(i64::from(digit - b'0')).min(1 << 60)
            });
            exponent = Some(if sign == Some(&b'-') { -size } else { size });
        }
        Ok(Spelling { negative, first, point, fraction_end, exponent, digits, end })
    }
}

/// Index after the digits at `from`, at least one.
fn digits_end(text: &[u8], from: usize) -> Result<usize, usize> {
    let digits = text.get(from..).unwrap_or_default().iter().take_while(|byte| byte.is_ascii_digit()).count();
    if digits == 0 { Err(from) } else { Ok(from + digits) }
}

/// A value in its one normal form: `digits`, the first and last of which are not zero, times ten to the power of
/// `exponent`. Zero has no digits and exponent 0, and is not negative.
pub(super) struct Decimal<'a> {
    pub(super) negative: bool,
    /// The digits, perhaps with a point among them.
    digits: &'a [u8],
    /// How many digits.
    pub(super) count: usize,
    pub(super) exponent: i64,
}

impl<'a> Decimal<'a> {
    fn of(raw: &'a [u8], spelling: &Spelling) -> Decimal<'a> {
        let all = raw.get(spelling.first..spelling.fraction_end).unwrap_or_default();
        let counts = |byte: &u8| !matches!(byte, b'0' | b'.');
        let (Some(from), Some(last)) = (all.iter().position(counts), all.iter().rposition(counts)) else {
            return Decimal { negative: false, digits: &[], count: 0, exponent: 0 };
        };
        let digits = all.get(from..=last).unwrap_or_default();
        let point = spelling.point - spelling.first;
        let count = digits.len() - usize::from(from < point && point < last);
        // Places from the last digit to the point; negative where it stands after the point.
        let places = if last < point { distance(last + 1, point) } else { -distance(point, last) };
        Decimal {
            negative: spelling.negative,
            digits,
            count,
            exponent: spelling.exponent.unwrap_or(0).saturating_add(places),
        }
    }

    /// The digits, each as ASCII.
    pub(super) fn digits(&self) -> impl Iterator<Item = u8> + use<'a> {
        self.digits.iter().copied().filter(|&byte| byte != b'.')
    }

    /// Where the point stands, counted from before the first digit.
    pub(super) fn point(&self) -> i64 {
        self.exponent.saturating_add(distance(0, self.count))
    }

    /// The size of a whole number, if it fits.
    fn whole(&self) -> Option<u64> {
        if self.exponent < 0 || self.point() > 20 {
            return None;
        }
        let digits = self.digits().map(|digit| u64::from(digit - b'0'));
        let zeros = (0..self.exponent).map(|_| 0);
        digits.chain(zeros).try_fold(0u64, |value, digit| value.checked_mul(10)?.checked_add(digit))
    }

    fn cmp(&self, other: &Decimal<'_>) -> Ordering {
        let sign = |decimal: &Decimal<'_>| match (decimal.count, decimal.negative) {
            (0, _) => 0,
            (_, true) => -1,
            (_, false) => 1,
        };
        let signs = sign(self).cmp(&sign(other));
        let sizes = self.cmp_size(other);
        signs.then(if self.negative { sizes.reverse() } else { sizes })
    }

    fn cmp_size(&self, other: &Decimal<'_>) -> Ordering {
        self.point().cmp(&other.point()).then_with(|| self.digits().cmp(other.digits()))
    }

    fn is_multiple_of(&self, divisor: &Decimal<'_>) -> bool {
        if self.count == 0 || divisor.count == 0 {
            return self.count == 0;
        }
        // A smaller number is no multiple. If the divisor has more zeros at its end, or fewer places after the point,
        // then ten would have to divide the digits, whose last is not zero.
        let shift = self.exponent.saturating_sub(divisor.exponent);
        let (Ok(shift), false) = (u64::try_from(shift), self.cmp_size(divisor).is_lt()) else { return false };
        let big = |decimal: &Decimal<'_>| {
            let digits: Vec<u8> = decimal.digits().map(|digit| digit - b'0').collect();
            BigUint::from_radix_be(&digits, 10).unwrap_or_default()
        };
        let (a, b) = (big(self), big(divisor));
        let power = BigUint::from(10u8).modpow(&BigUint::from(shift), &b);
        (a % &b) * power % &b == BigUint::ZERO
    }
}

/// How far `to` is after `from`, both indexes into one text.
fn distance(from: usize, to: usize) -> i64 {
    i64::try_from(to - from).unwrap_or(i64::MAX)
}
