//! `date-time`, `date`, `time`: `date-time`, `full-date` and `full-time` of RFC 3339, section 5.6.
//!
//! Libraries of dates read more than that (other separators, no offset, hour 24) and few of them leap seconds, so a
//! grammar of our own would have to stand before one in any case.

const MINUTES_OF_A_DAY: i32 = 24 * 60;

struct Date {
    year: i32,
    month: i32,
    day: i32,
}

struct Time {
    /// Minutes since midnight in UTC; below 0 or past a day where the offset leads to the day before or after.
    minute: i32,
    /// The second is 60.
    is_leap: bool,
}

pub(super) fn is_date_time(text: &str) -> bool {
    let Some((date, rest)) = text.as_bytes().split_at_checked(10) else { return false };
    let [b'T' | b't', time @ ..] = rest else { return false };
    let (Some(date), Some(time)) = (date_of(date), time_of(time)) else { return false };
    !time.is_leap || ends_month(&date, time.minute.div_euclid(MINUTES_OF_A_DAY))
}

pub(super) fn is_date(text: &str) -> bool {
    date_of(text.as_bytes()).is_some()
}

pub(super) fn is_time(text: &str) -> bool {
    time_of(text.as_bytes()).is_some()
}

fn date_of(text: &[u8]) -> Option<Date> {
    let &[y1, y2, y3, y4, b'-', m1, m2, b'-', d1, d2] = text else { return None };
    let date = Date { year: number(&[y1, y2, y3, y4])?, month: number(&[m1, m2])?, day: number(&[d1, d2])? };
    ((1..=12).contains(&date.month) && (1..=date.days_of_month()).contains(&date.day)).then_some(date)
}

impl Date {
    const fn days_of_month(&self) -> i32 {
        let is_leap_year = self.year % 4 == 0 && (self.year % 100 != 0 || self.year % 400 == 0);
        match self.month {
            2 if is_leap_year => 29,
            2 => 28,
            4 | 6 | 9 | 11 => 30,
            _ => 31,
        }
    }
}

fn time_of(text: &[u8]) -> Option<Time> {
    let (clock, rest) = text.split_at_checked(8)?;
    let &[h1, h2, b':', m1, m2, b':', s1, s2] = clock else { return None };
    let (hour, minute, second) = (number(&[h1, h2])?, number(&[m1, m2])?, number(&[s1, s2])?);
    let minute = minute_of_day(hour, minute)? - offset_of(after_fraction(rest)?)?;
    // SPEC: RFC 3339, section 5.7: a leap second is the last one of a day in UTC.
    let is_leap = second == 60;
    let is_good = second < 60 || is_leap && minute.rem_euclid(MINUTES_OF_A_DAY) == MINUTES_OF_A_DAY - 1;
    is_good.then_some(Time { minute, is_leap })
}

fn after_fraction(text: &[u8]) -> Option<&[u8]> {
    let Some(fraction) = text.strip_prefix(b".") else { return Some(text) };
    let digits = fraction.iter().take_while(|byte| byte.is_ascii_digit()).count();
    if digits == 0 { None } else { fraction.get(digits..) }
}

/// In minutes.
fn offset_of(text: &[u8]) -> Option<i32> {
    match *text {
        [b'Z' | b'z'] => Some(0),
        [sign @ (b'+' | b'-'), h1, h2, b':', m1, m2] => {
            let minutes = minute_of_day(number(&[h1, h2])?, number(&[m1, m2])?)?;
            Some(if sign == b'+' { minutes } else { -minutes })
        }
        _ => None,
    }
}

fn minute_of_day(hour: i32, minute: i32) -> Option<i32> {
    (hour < 24 && minute < 60).then_some(60 * hour + minute)
}

/// Whether the day that is `later` days after `date` (-1, 0 or 1) is the last one of a month: leap seconds are put
/// nowhere else (RFC 3339, section 5.7).
fn ends_month(date: &Date, later: i32) -> bool {
    let day = date.day + later;
    day == 0 || day == date.days_of_month()
}

fn number(digits: &[u8]) -> Option<i32> {
    digits
        .iter()
        .try_fold(0, |number, byte| byte.is_ascii_digit().then(|| 10 * number + i32::from(byte - b'0')))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_leap_second_ends_a_month_in_utc() {
        assert!(is_date_time("2016-12-31T23:59:60Z"));
        assert!(is_date_time("2017-01-01T00:59:60+01:00"));
        assert!(is_date_time("2012-06-30T15:59:60-08:00"));
        assert!(!is_date_time("2016-12-30T23:59:60Z"));
        assert!(!is_date_time("2017-01-02T00:59:60+01:00"));
        assert!(!is_date_time("2016-12-31T15:59:60-08:01"));
        assert!(is_date_time("2016-12-30T23:59:59Z"));
    }
}
