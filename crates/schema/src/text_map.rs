//! The texts of text maps: what a text stands for where the schema wants a number or a boolean.
//!
//! These are the grammars of profile `wire`, shared by coercion and by the typed access to text maps. They are wider
//! than JSON's: a sign may be a plus, digits may begin with zeros or be hexadecimal, a boolean has six words. They are
//! narrower than what programming languages take: no digit separators, no `Infinity`, no inner blanks, ASCII digits alone.

use std::borrow::Cow;

use crate::json::Number;

/// The text without the blanks around it.
///
/// Blank is what Unicode calls white space, and U+FEFF; U+200B and U+180E are not.
///
/// ```
/// use callgate_schema::text_map::trimmed;
/// assert_eq!(trimmed("\u{feff} 12\u{a0}\n"), "12");
/// assert_eq!(trimmed("\u{200b}12"), "\u{200b}12");
/// ```
pub fn trimmed(text: &str) -> &str {
    // Most texts have no blanks, and begin and end in ASCII.
    let plain = |byte: Option<&u8>| byte.is_some_and(|&byte| byte > b' ' && byte < 0x7F);
    if plain(text.as_bytes().first()) && plain(text.as_bytes().last()) {
        return text;
    }
    text.trim_matches(|c: char| c.is_whitespace() || c == '\u{feff}')
}

/// The whole number that a text without blanks around it stands for: decimal digits, or hexadecimal ones after `0x` or
/// `0X`, with or without a sign; from -2^63 to 2^63-1. Nothing wraps.
///
/// ```
/// use callgate_schema::text_map::integer;
/// assert_eq!(integer("+007"), Some(7));
/// assert_eq!(integer("-0x10"), Some(-16));
/// assert_eq!(integer("0xFFFFFFFFFFFFFFFF"), None);
/// assert_eq!(integer("3.0"), None);
/// ```
pub fn integer(text: &str) -> Option<i64> {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let Some(digits) = unsigned.strip_prefix("0x").or_else(|| unsigned.strip_prefix("0X")) else {
        // A sign and ASCII digits are all that the library takes, too.
        return text.parse().ok();
    };
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    let size = i128::from(u64::from_str_radix(digits, 16).ok()?);
    i64::try_from(if text.starts_with('-') { -size } else { size }).ok()
}

/// The double that a text without blanks around it stands for: decimal digits with or without a point, an exponent and
/// a sign; no hexadecimal ones. What a double cannot hold is `None` where it is too large, and zero where it is too
/// small. Never infinite.
///
/// ```
/// use callgate_schema::text_map::float;
/// assert_eq!(float(".5"), Some(0.5));
/// assert_eq!(float("-1.e3"), Some(-1000.0));
/// assert_eq!(float("1e400"), None);
/// assert_eq!(float("Infinity"), None);
/// ```
pub fn float(text: &str) -> Option<f64> {
    Decimal::scan(text)?;
    text.parse().ok().filter(|value: &f64| value.is_finite())
}

/// The JSON number that a text without blanks around it stands for where any number is wanted: that of [`integer`] in
/// plain decimal, else the digits as they are written, made legal (`.5` is `0.5`, `5.` is `5.0`). Exact, also beyond a
/// double's digits; but what is larger than every double is `None`, and what is smaller than all is zero.
///
/// ```
/// use callgate_schema::text_map::number;
/// assert_eq!(number("0x10").as_deref(), Some("16"));
/// assert_eq!(number("+2.50").as_deref(), Some("2.50"));
/// assert_eq!(number("9223372036854775808").as_deref(), Some("9223372036854775808"));
/// assert_eq!(number("1e-400").as_deref(), Some("0.0"));
/// assert_eq!(number("12px"), None);
/// ```
pub fn number(text: &str) -> Option<Cow<'_, str>> {
    if let Some(whole) = whole(text) {
        return Some(whole);
    }
    if is_short(text) {
        return Some(Cow::Borrowed(text));
    }
    let decimal = Decimal::scan(text)?;
    let value: f64 = text.parse().ok()?;
    match value {
        value if !value.is_finite() => None,
        0.0 => Some(Cow::Borrowed(if decimal.negative { "-0.0" } else { "0.0" })),
        _ => Some(Cow::Owned(decimal.legal())),
    }
}

/// [`integer`] in plain decimal, which is mostly how it is written.
pub(crate) fn whole(text: &str) -> Option<Cow<'_, str>> {
    let value = integer(text)?;
    let unsigned = text.strip_prefix('-').unwrap_or(text);
    let is_plain = text == "0" || unsigned.starts_with(|c: char| matches!(c, '1'..='9'));
    Some(if is_plain { Cow::Borrowed(text) } else { Cow::Owned(value.to_string()) })
}

/// Characters of a number without exponent that every double's range has room for.
const SHORT_MAX: usize = 300;

/// Whether a text is a number as JSON writes it, that a double holds the size of.
fn is_short(text: &str) -> bool {
    text.len() <= SHORT_MAX
        && !text.bytes().any(|byte| matches!(byte, b'e' | b'E'))
        && Number::parse(text).is_some_and(|number| !number.is_zero())
}

/// The boolean that a text without blanks around it stands for: `1`, `true`, `yes` or `0`, `false`, `no`, in any case.
///
/// ```
/// use callgate_schema::text_map::boolean;
/// assert_eq!(boolean("Yes"), Some(true));
/// assert_eq!(boolean("on"), None);
/// ```
pub fn boolean(text: &str) -> Option<bool> {
    let is_one_of = |words: [&str; 3]| words.iter().any(|word| text.eq_ignore_ascii_case(word));
    if is_one_of(["1", "true", "yes"]) {
        return Some(true);
    }
    is_one_of(["0", "false", "no"]).then_some(false)
}

/// The parts of a decimal number.
struct Decimal<'a> {
    negative: bool,
    whole: &'a str,
    fraction: Option<&'a str>,
    /// From `e` or `E` on.
    exponent: &'a str,
}

impl<'a> Decimal<'a> {
    fn scan(text: &'a str) -> Option<Decimal<'a>> {
        let negative = text.starts_with('-');
        let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
        let (mantissa, exponent) = unsigned.split_at(unsigned.find(['e', 'E']).unwrap_or(unsigned.len()));
        let (whole, fraction) = match mantissa.split_once('.') {
            Some((whole, fraction)) => (whole, Some(fraction)),
            None => (mantissa, None),
        };
        let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        let is_some = !whole.is_empty() || fraction.is_some_and(|fraction| !fraction.is_empty());
        let power = exponent.get(1..).map(|power| power.strip_prefix(['+', '-']).unwrap_or(power));
        let has_power = power.is_none_or(|power| !power.is_empty() && digits(power));
        let fine = is_some && digits(whole) && fraction.is_none_or(digits) && has_power;
        fine.then_some(Decimal { negative, whole, fraction, exponent })
    }

    /// As JSON writes it, digit for digit.
    fn legal(&self) -> String {
        let digit = |text: &'a str| if text.is_empty() { "0" } else { text };
        let mut text = String::from(if self.negative { "-" } else { "" });
        text.push_str(digit(self.whole.trim_start_matches('0')));
        if let Some(fraction) = self.fraction {
            text.push('.');
            text.push_str(digit(fraction));
        }
        text.push_str(self.exponent);
        text
    }
}
