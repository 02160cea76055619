//! The grammar of dates and times, and the Gregorian calendar carried on both ways without end.
//!
//! jiff reads the forms of RFC 3339 and ends with the year 9999; the wire has compact forms, decimal commas and six-digit
//! years. So both are here, and the tests hold them against jiff wherever it can answer.

/// A moment taken apart in UTC.
pub(super) struct Civil {
    pub(super) year: i64,
    pub(super) month: i64,
    pub(super) day: i64,
    /// Since midnight.
    pub(super) micros: i64,
}

const DAY: i64 = 86_400_000_000;
const MINUTE: i64 = 60_000_000;
/// Days from the first of March of the year 0 to the first of January 1970.
const EPOCH: i64 = 719_468;
/// Days of 400 years, after which the calendar repeats itself.
const ERA: i64 = 146_097;

/// Days since 1970. Years begin in March here, so that the leap day is a year's last.
fn days(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let (era, of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * ERA + of_era * 365 + of_era / 4 - of_era / 100 + of_year - EPOCH
}

pub(super) fn civil(unix_micros: i64) -> Civil {
    let days = unix_micros.div_euclid(DAY) + EPOCH;
    let (era, of_era) = (days.div_euclid(ERA), days.rem_euclid(ERA));
    // Of 1460 days each fourth year has one more, but not each hundredth, but each four hundredth.
    let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let from_march = (5 * of_year + 2) / 153;
    let month = if from_march < 10 { from_march + 3 } else { from_march - 9 };
    Civil {
        year: era * 400 + year_of_era + i64::from(month <= 2),
        month,
        day: of_year - (153 * from_march + 2) / 5 + 1,
        micros: unix_micros.rem_euclid(DAY),
    }
}

fn days_of_month(year: i64, month: i64) -> i64 {
    match month {
        2 if year.rem_euclid(4) == 0 && (year.rem_euclid(100) != 0 || year.rem_euclid(400) == 0) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Microseconds since 1970.
pub(super) fn parse(text: &str) -> Option<i64> {
    let mut rest = Rest(text.as_bytes());
    let (year, month, day) = date(&mut rest)?;
    if !(1..=12).contains(&month) || !(1..=days_of_month(year, month)).contains(&day) {
        return None;
    }
    let mut micros = days(year, month, day) * DAY;
    if rest.0.is_empty() {
        return Some(micros);
    }
    if !rest.take(b'T') && !rest.take(b' ') {
        return None;
    }
    micros += time(&mut rest)?;
    micros -= zone(&mut rest)?;
    rest.0.is_empty().then_some(micros)
}

/// Year, month and day. Each dash is optional by itself; the year takes as many digits as leave two for each of the
/// others.
fn date(rest: &mut Rest<'_>) -> Option<(i64, i64, i64)> {
    let negative = rest.take(b'-');
    if !negative {
        rest.take(b'+');
    }
    let begin = rest.0;
    [6, 5, 4].into_iter().find_map(|width| {
        rest.0 = begin;
        let year = rest.digits(width)?;
        rest.take(b'-');
        let month = rest.digits(2)?;
        rest.take(b'-');
        let day = rest.digits(2)?;
        let ended = matches!(rest.0.first(), None | Some(b'T' | b' '));
        ended.then_some((if negative { -year } else { year }, month, day))
    })
}

/// Microseconds since midnight.
fn time(rest: &mut Rest<'_>) -> Option<i64> {
    let hour = rest.digits(2)?;
    let (mut minute, mut second, mut fraction) = (0, 0, 0);
    if let Some(value) = rest.optional_two() {
        minute = value;
        if let Some(value) = rest.optional_two() {
            second = value;
            if rest.take(b'.') || rest.take(b',') {
                fraction = rest.fraction()?;
            }
        }
    }
    let micros = (hour * 60 + minute) * MINUTE + second * 1_000_000 + fraction;
    let possible = hour <= 23 && minute <= 59 && second <= 60;
    (possible || hour == 24 && micros == DAY).then_some(micros)
}

/// The offset from UTC in microseconds; none is none.
fn zone(rest: &mut Rest<'_>) -> Option<i64> {
    if rest.0.is_empty() {
        return Some(0);
    }
    rest.take(b' ');
    if rest.take(b'Z') || rest.take(b'z') {
        return Some(0);
    }
    let negative = rest.take(b'-');
    if !negative && !rest.take(b'+') {
        return None;
    }
    let hours = rest.digits(2)?;
    let minutes = rest.optional_two().unwrap_or(0);
    if hours > 23 || minutes > 59 {
        return None;
    }
    let offset = (hours * 60 + minutes) * MINUTE;
    Some(if negative { -offset } else { offset })
}

/// What is left of a text.
struct Rest<'a>(&'a [u8]);

impl Rest<'_> {
    fn take(&mut self, byte: u8) -> bool {
        match self.0.split_first() {
            Some((&first, rest)) if first == byte => {
                self.0 = rest;
                true
            }
            _ => false,
        }
    }

    /// Exactly so many digits, eighteen at most.
    fn digits(&mut self, count: usize) -> Option<i64> {
        let (digits, rest) = self.0.split_at_checked(count)?;
        let value = digits
            .iter()
            .try_fold(0, |value, byte| byte.is_ascii_digit().then(|| value * 10 + i64::from(byte - b'0')))?;
        self.0 = rest;
        Some(value)
    }

    /// Two digits, with or without a colon before them, if they are there.
    fn optional_two(&mut self) -> Option<i64> {
        let before = self.0;
        self.take(b':');
        let value = self.digits(2);
        if value.is_none() {
            self.0 = before;
        }
        value
    }

    /// At least one digit; microseconds, cut.
    fn fraction(&mut self) -> Option<i64> {
        let count = self.0.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let (digits, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        let mut micros = 0;
        for index in 0..6 {
            micros = micros * 10 + digits.get(index).map_or(0, |byte| i64::from(byte - b'0'));
        }
        (count > 0).then_some(micros)
    }
}
