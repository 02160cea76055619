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

/// `2026-06-29T12:00:00.000Z`: three digits of the second, six where there are microseconds; a sign and six digits for
/// years beyond four digits.
impl fmt::Display for Moment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let date::Civil { year, month, day, micros } = date::civil(self.0);
        match year {
            -9999..=-1 => write!(f, "-{:04}", -year)?,
            0..=9999 => write!(f, "{year:04}")?,
            _ => write!(f, "{year:+07}")?,
        }
        let (seconds, micros) = (micros / 1_000_000, micros % 1_000_000);
        let (hour, minute, second) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
        write!(f, "-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{:03}", micros / 1000)?;
        match micros % 1000 {
            0 => f.write_str("Z"),
            rest => write!(f, "{rest:03}Z"),
        }
    }
}
