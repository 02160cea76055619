//! When something was, in microseconds.

use std::fmt;

use super::date;
use crate::{ValueCode, ValueError};

/// The last moment, and with a minus the first: 10^8 days from 1970 in microseconds, as far as ECMAScript's times reach.
const MICROS_MAX: i64 = 8_640_000_000_000_000_000;

/// A moment: microseconds since the beginning of 1970 in UTC, no further than 10^8 days either way.
///
/// ```
/// use callgate_wire::Moment;
/// let moment = Moment::parse("2026-06-29 14:30:00,5 +02:30")?;
/// assert_eq!(moment.to_string(), "2026-06-29T12:00:00.500Z");
/// assert_eq!(moment.unix_micros(), 1_782_734_400_500_000);
/// # Ok::<(), callgate_wire::ValueError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Moment(i64);

impl Moment {
    /// A moment by its microseconds since 1970; `None` beyond 10^8 days.
    pub const fn from_unix_micros(micros: i64) -> Option<Moment> {
        if micros >= -MICROS_MAX && micros <= MICROS_MAX { Some(Moment(micros)) } else { None }
    }

    /// Microseconds since 1970.
    pub const fn unix_micros(self) -> i64 {
        self.0
    }

    /// Reads a date, or a date and a time.
    ///
    /// A year of four to six digits with or without a sign, month and day of two, dashes or none; then `T` or a space
    /// and hours, minutes, seconds with colons or none; a fraction after `.` or `,`, cut to microseconds; then `Z`, `z`
    /// or an offset. What names no zone is in UTC, on every host. `24:00` is the next day's beginning and a second `60`
    /// the next minute's; any other value that no calendar has is refused.
    ///
    /// # Errors
    /// `entity-date`.
    pub fn parse(text: &str) -> Result<Moment, ValueError> {
        date::parse(text).and_then(Moment::from_unix_micros).ok_or_else(|| {
            let message = "expected a date or a date and a time, found another text";
            ValueError::new(ValueCode::EntityDate, message)
                .with_help("write it by RFC 3339, such as `2026-06-29T12:00:00Z`")
        })
    }
}

impl Moment {
    /// Appends the text that it displays as.
    pub(super) fn write(self, out: &mut String) {
        let date::Civil { year, month, day, micros } = date::civil(self.0);
        let width = if (-9999..=9999).contains(&year) { 4 } else { 6 };
        match year {
            ..0 => out.push('-'),
            0..=9999 => {}
            _ => out.push('+'),
        }
        digits(out, year.unsigned_abs(), width);
        let [month, day, micros] = [month, day, micros].map(i64::unsigned_abs);
        let (seconds, micros) = (micros / 1_000_000, micros % 1_000_000);
        for (before, value) in
            [('-', month), ('-', day), ('T', seconds / 3600), (':', seconds / 60 % 60), (':', seconds % 60)]
        {
            out.push(before);
            digits(out, value, 2);
        }
        out.push('.');
        if micros % 1000 == 0 {
            digits(out, micros / 1000, 3);
        } else {
            digits(out, micros, 6);
        }
        out.push('Z');
    }
}

/// Appends the last `width` digits, zeros before them.
fn digits(out: &mut String, value: u64, width: u32) {
    for place in (0..width).rev() {
        // A digit is below ten.
        out.push(char::from(b'0' + u8::try_from(value / 10u64.pow(place) % 10).unwrap_or_default()));
    }
}

/// `2026-06-29T12:00:00.000Z`: three digits of the second, six where there are microseconds; a sign and six digits for
/// years beyond four digits.
impl fmt::Display for Moment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = String::new();
        self.write(&mut text);
        f.write_str(&text)
    }
}
