//! When a counter begins anew: by the clock on the wall of a place, summer time included.

use std::fmt;

use callgate_wire::Timestamp;
use jiff::ToSpan as _;
use jiff::civil::{Date, Time};
use jiff::tz::TimeZone;

/// The turns of a window after which the search for the next one is given up. A zone that leaves out a day, as Samoa's did
/// at the end of 2011, needs two.
const TURNS_MAX: usize = 8;
/// Milliseconds of an hour.
const HOUR_MS: i64 = 3_600_000;

/// How long a window is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Span {
    /// From one time of the day to the same of the next.
    Day,
    /// The same from Monday to Monday.
    Week,
    /// The same from the first of a month to the first of the next.
    Month,
}

/// When a counter begins anew.
#[derive(Debug, Clone, PartialEq)]
pub enum Window {
    /// Never.
    None,
    /// At each whole hour of UTC.
    Hour,
    /// At a time of the day.
    Civil {
        /// How long it is.
        span: Span,
        /// When on its first day it begins. Where clocks skip that time, it begins as much later as they skip; where
        /// they pass it twice, at the first time.
        at: Time,
        /// Whose clocks.
        zone: TimeZone,
    },
}

impl Window {
    /// Reads `none`, `hour`, or `day`, `week` or `month`, each of these followed by `at HH:MM` and `in ZONE` or not:
    /// midnight and UTC unless they say otherwise. `zone` finds a time zone by its IANA name.
    ///
    /// # Errors
    /// What was expected and what was found.
    pub fn parse(text: &str, zone: impl Fn(&str) -> Option<TimeZone>) -> Result<Window, String> {
        let words: Vec<&str> = text.split(' ').collect();
        let (first, mut rest) = match words.split_first() {
            Some((first, rest)) => (*first, rest),
            None => ("", &[][..]),
        };
        let span = match first {
            "none" if rest.is_empty() => return Ok(Window::None),
            "hour" if rest.is_empty() => return Ok(Window::Hour),
            "day" => Span::Day,
            "week" => Span::Week,
            "month" => Span::Month,
            _ => return Err(expected(text)),
        };
        let mut at = Time::midnight();
        if let ["at", time, after @ ..] = rest {
            at = parse_time(time).ok_or_else(|| format!("expected a time HH:MM, found `{time}`"))?;
            rest = after;
        }
        let mut found = TimeZone::UTC;
        if let ["in", name, after @ ..] = rest {
            if *name != "UTC" {
                found = zone(name).ok_or_else(|| {
                    format!("expected a time zone by its IANA name, such as `Europe/Berlin`, found `{name}`")
                })?;
            }
            rest = after;
        }
        if rest.is_empty() { Ok(Window::Civil { span, at, zone: found }) } else { Err(expected(text)) }
    }

    /// When the window of this time began, and when the next one begins; none of a window that never ends.
    ///
    /// Of a time outside the years that the calendar knows there is none either.
    pub fn around(&self, now: Timestamp) -> Option<(Timestamp, Timestamp)> {
        match self {
            Window::None => None,
            Window::Hour => {
                let start = now.0.div_euclid(HOUR_MS).checked_mul(HOUR_MS)?;
                Some((Timestamp(start), Timestamp(start.checked_add(HOUR_MS)?)))
            }
            Window::Civil { span, at, zone } => {
                let now = jiff::Timestamp::from_millisecond(now.0).ok()?;
                let begins = |date: Date| -> Option<jiff::Timestamp> {
                    zone.to_ambiguous_timestamp(date.to_datetime(*at)).compatible().ok()
                };
                let mut date = span.first_day(zone.to_datetime(now).date())?;
                let mut turns = 0;
                let mut start = begins(date)?;
                while start > now && turns < TURNS_MAX {
                    date = span.turn(date, -1)?;
                    start = begins(date)?;
                    turns += 1;
                }
                let mut next = start;
                while next <= now && turns < TURNS_MAX {
                    date = span.turn(date, 1)?;
                    next = begins(date)?;
                    // Of two days that begin at once, since one was left out, the later is as good a beginning.
                    if next <= now {
                        start = next;
                    }
                    turns += 1;
                }
                (start <= now && now < next)
                    .then(|| (Timestamp(start.as_millisecond()), Timestamp(next.as_millisecond())))
            }
        }
    }
}

fn expected(text: &str) -> String {
    format!(
        "expected `none`, `hour`, or `day`, `week` or `month` with `at HH:MM` and `in ZONE`, found `{text}`"
    )
}

fn parse_time(text: &str) -> Option<Time> {
    let (hour, minute) = text.split_once(':')?;
    let number = |text: &str| {
        (text.len() == 2 && text.bytes().all(|b| b.is_ascii_digit())).then(|| text.parse::<i8>())
    };
    Time::new(number(hour)?.ok()?, number(minute)?.ok()?, 0, 0).ok()
}

impl Span {
    /// The first day of the window that a day is in, by the calendar alone.
    fn first_day(self, day: Date) -> Option<Date> {
        match self {
            Span::Day => Some(day),
            Span::Week => {
                let since = i64::from(day.weekday().to_monday_zero_offset());
                day.checked_sub(since.days()).ok()
            }
            Span::Month => Some(day.first_of_month()),
        }
    }

    /// The first day of the next window, or of the one before.
    fn turn(self, first: Date, by: i64) -> Option<Date> {
        match self {
            Span::Day => first.checked_add(by.days()),
            Span::Week => first.checked_add(by.weeks()),
            Span::Month => first.checked_add(by.months()),
        }
        .ok()
    }
}

impl fmt::Display for Window {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Window::None => f.write_str("none"),
            Window::Hour => f.write_str("hour"),
            Window::Civil { span, at, zone } => {
                let span = match span {
                    Span::Day => "day",
                    Span::Week => "week",
                    Span::Month => "month",
                };
                let zone = zone.iana_name().unwrap_or("UTC");
                write!(f, "{span} at {:02}:{:02} in {zone}", at.hour(), at.minute())
            }
        }
    }
}
