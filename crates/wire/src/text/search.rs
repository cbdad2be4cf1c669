//! One form of equal texts, for comparisons.

use std::borrow::Cow;

use icu_normalizer::ComposingNormalizerBorrowed;

/// The text with composed letters (Unicode NFC): `ü` is one character, also where it was written as
/// `u` and a mark, as some keyboards and file systems do.
pub fn composed(text: &str) -> Cow<'_, str> {
    if text.is_ascii() {
        Cow::Borrowed(text)
    } else {
        ComposingNormalizerBorrowed::new_nfc().normalize(text)
    }
}

/// The text for a search that ignores case, and how letters are composed.
pub fn search_form(text: &str) -> String {
    let lower = text.to_lowercase();
    match composed(&lower) {
        Cow::Borrowed(unchanged) if unchanged.len() == lower.len() => lower,
        composed => composed.into_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn composed_and_decomposed_letters_have_one_form() {
        for (text, form) in [
            ("Bu\u{308}ro", "büro"),
            ("BÜRO", "büro"),
            ("plain", "plain"),
            ("한", "한"),
            ("é\u{301}", "é\u{301}"),
        ] {
            assert_eq!(search_form(text), form, "{text}");
            assert_eq!(search_form(form), form);
        }
        assert!(matches!(composed("büro"), Cow::Borrowed(_)));
    }
}
