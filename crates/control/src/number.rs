//! Numbers as the file format reads them: C's `strtol` with base 0 on the leading part of a text.

/// The number at the start of `text`: `0x` hexadecimal, a leading `0` octal, else decimal, after
/// blanks and a sign; what follows is ignored (`8-way` is 8). None if there is no digit. Numbers
/// that `i128` cannot hold are cut to its range.
pub fn leading_number(text: &str) -> Option<i128> {
    let text = text.trim_start();
    let (negative, text) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let hexadecimal = text
        .strip_prefix("0x")
        .or_else(|| text.strip_prefix("0X"))
        .filter(|rest| rest.starts_with(|c: char| c.is_ascii_hexdigit()));
    let (radix, digits) = match hexadecimal {
        Some(rest) => (16, rest),
        None if text.starts_with('0') => (8, text),
        None => (10, text),
    };
    let mut value: Option<i128> = None;
    for digit in digits.chars().map_while(|c| c.to_digit(radix)) {
        let so_far = value.unwrap_or(0);
        value = Some(so_far.saturating_mul(i128::from(radix)).saturating_add(i128::from(digit)));
    }
    value.map(|v| if negative { -v } else { v })
}

/// The number at the start of `text`, cut to the range of `u64`; 0 if there is none.
pub(crate) fn leading_u64(text: &str) -> u64 {
    let value = leading_number(text).unwrap_or(0).max(0);
    u64::try_from(value).unwrap_or(u64::MAX)
}

/// The number at the start of `text`, cut to the range of `i64`; 0 if there is none.
pub(crate) fn leading_i64(text: &str) -> i64 {
    let value = leading_number(text).unwrap_or(0);
    i64::try_from(value).unwrap_or(if value < 0 { i64::MIN } else { i64::MAX })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_as_strtol_reads_them() {
        for (text, value) in [
            ("0x0fe4", Some(4068)),
            ("4444", Some(4444)),
            ("010", Some(8)),
            ("8-way", Some(8)),
            (" -12x", Some(-12)),
            ("0x", Some(0)),
            ("0", Some(0)),
            ("08", Some(0)),
            ("", None),
            ("many", None),
        ] {
            assert_eq!(leading_number(text), value, "{text}");
        }
        assert_eq!(leading_u64("18446744073709551615"), u64::MAX);
        assert_eq!(leading_u64("99999999999999999999999999999999999999999999999"), u64::MAX);
        assert_eq!(leading_i64("-99999999999999999999"), i64::MIN);
    }
}
