//! Numbers by their exact value, the plain way: an integer and a power of ten.

use std::cmp::Ordering;

use num_bigint::BigInt;

/// `digits` times ten to the power of `exponent`; the digits do not end in a zero unless they are zero.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Decimal {
    digits: BigInt,
    exponent: i64,
}

impl Decimal {
    /// The number that JSON text spells.
    pub(crate) fn parse(text: &str) -> Decimal {
        let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let exponent: i64 = exponent.parse().expect("the reader has bounded the exponent");
        let digits = format!("{whole}{fraction}").parse().expect("the reader has checked the digits");
        Decimal { digits, exponent: exponent - i64::try_from(fraction.len()).expect("a short text") }.normal()
    }

    pub(crate) fn of(count: usize) -> Decimal {
        Decimal { digits: BigInt::from(count), exponent: 0 }.normal()
    }

    fn normal(mut self) -> Decimal {
        let (zero, ten) = (BigInt::from(0), BigInt::from(10));
        if self.digits == zero {
            return Decimal { digits: zero, exponent: 0 };
        }
        while &self.digits % &ten == zero {
            self.digits /= &ten;
            self.exponent += 1;
        }
        self
    }

    pub(crate) const fn is_integer(&self) -> bool {
        self.exponent >= 0
    }

    pub(crate) fn is_multiple_of(&self, divisor: &Decimal) -> bool {
        let (value, divisor) = self.scaled(divisor);
        value % divisor == BigInt::from(0)
    }

    /// Both as integers, with the same power of ten taken out.
    fn scaled(&self, other: &Decimal) -> (BigInt, BigInt) {
        let least = self.exponent.min(other.exponent);
        let scale = |number: &Decimal| {
            let power = u32::try_from(number.exponent - least).expect("the reader has bounded the exponent");
            &number.digits * BigInt::from(10).pow(power)
        };
        (scale(self), scale(other))
    }
}

impl PartialOrd for Decimal {
    fn partial_cmp(&self, other: &Decimal) -> Option<Ordering> {
        let (value, other) = self.scaled(other);
        value.partial_cmp(&other)
    }
}
