//! The text of a double.

/// Appends a double, or says that it has no JSON form.
///
/// SPEC: the shortest digits that read back as the same double; decimal from 1e-6 to below 1e21, with at least one digit
/// after the point; otherwise one digit before the point and an exponent with its sign.
pub(crate) fn write_f64(out: &mut Vec<u8>, value: f64) -> bool {
    if !value.is_finite() {
        return false;
    }
    let scientific = format!("{value:e}");
    let Some((mantissa, exponent)) = scientific.split_once('e') else { return false };
    let magnitude = value.abs();
    if magnitude == 0.0 || (1e-6..1e21).contains(&magnitude) {
        let plain = format!("{value}");
        out.extend_from_slice(plain.as_bytes());
        if !plain.contains('.') {
            out.extend_from_slice(b".0");
        }
        return true;
    }
    out.extend_from_slice(mantissa.as_bytes());
    out.push(b'e');
    if !exponent.starts_with('-') {
        out.push(b'+');
    }
    out.extend_from_slice(exponent.as_bytes());
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn doubles_are_written_in_the_form_of_the_wire() {
        let text = |value| {
            let mut out = Vec::new();
            write_f64(&mut out, value).then(|| String::from_utf8(out).unwrap())
        };
        for (value, wanted) in [
            (0.0, "0.0"),
            (-0.0, "-0.0"),
            (1.0, "1.0"),
            (0.1, "0.1"),
            (1e20, "100000000000000000000.0"),
            (1e21, "1e+21"),
            (-1.5e300, "-1.5e+300"),
            (1e-6, "0.000001"),
            (1e-7, "1e-7"),
            (f64::MAX, "1.7976931348623157e+308"),
            (5e-324, "5e-324"),
        ] {
            assert_eq!(text(value).as_deref(), Some(wanted));
            assert_eq!(wanted.parse::<f64>().unwrap().to_bits(), value.to_bits());
        }
        assert_eq!((text(f64::NAN), text(f64::INFINITY)), (None, None));
    }
}
