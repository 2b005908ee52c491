//! Limits beyond which a text is refused, as none is written so and reading it would take long.

use crate::error::ControlError;

/// The most attributes of an element. The XML parser compares each with all before it.
pub(crate) const MOST_ATTRIBUTES: usize = 1000;

/// The most bytes of the pattern of a prune. The moves that it could match have six letters at
/// most.
pub(crate) const MOST_PATTERN: usize = 1000;

/// Refuses tags with too many attributes, which are counted by the quotes around their values.
pub(crate) fn expect_few_attributes(text: &str, origin: &str) -> Result<(), ControlError> {
    let mut rest = text;
    while let Some(at) = rest.find('<') {
        rest = rest.get(at + 1..).unwrap_or_default();
        let closed_by = [("!--", "-->"), ("?", "?>"), ("![CDATA[", "]]>")];
        if let Some((_, end)) = closed_by.into_iter().find(|(start, _)| rest.starts_with(start)) {
            rest = rest.split_once(end).map_or("", |(_, behind)| behind);
            continue;
        }
        let mut quotes = 0;
        while let Some(at) = rest.find(['"', '\'', '>']) {
            let (sign, behind) =
                rest.get(at..).unwrap_or_default().split_at_checked(1).unwrap_or_default();
            rest = behind;
            if sign == ">" {
                break;
            }
            quotes += 1;
            rest = rest.split_once(sign).map_or("", |(_, behind)| behind);
            if quotes > MOST_ATTRIBUTES {
                let before = text.len() - rest.len();
                let line = text.get(..before).unwrap_or_default().split('\n').count();
                return Err(ControlError::ManyAttributes {
                    origin: origin.into(),
                    line: line as u32,
                });
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attributes_are_counted_in_tags() {
        let many = |count: usize| "a='>' ".repeat(count);
        let check = |text: &str| expect_few_attributes(text, "f").map_err(|e| e.to_string());
        assert!(check(&format!("<t {}/><t {}/>", many(1000), many(1000))).is_ok());
        assert!(
            check(&format!("<!-- {} --><?p {}?>text {}", many(1001), many(1001), many(1001)))
                .is_ok()
        );
        let error = check(&format!("<t>\n<t {}/>", many(1001))).unwrap_err();
        assert_eq!(error, "f, line 2: an element has more than 1000 attributes");
        for cut in ["<", "<t a='", "<!--", "<![CDATA[", "<?"] {
            assert!(check(cut).is_ok(), "{cut}");
        }
    }
}
