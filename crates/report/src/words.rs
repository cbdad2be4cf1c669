//! The texts of reports as data: a file per language in `assets/reports/texts`. English is complete;
//! another language may lack texts, which are then English.

use std::collections::HashMap;
use std::sync::Arc;

use super::RenderError;
use scandeck_wire::contract::Risk;

/// The languages with their texts.
const LANGUAGES: [(&str, &str); 2] = [
    ("en", include_str!("../assets/reports/texts/en.toml")),
    ("de", include_str!("../assets/reports/texts/de.toml")),
];

/// The texts of one language by `section.key`.
#[derive(Clone, Debug)]
pub struct Words {
    pub language: &'static str,
    texts: Arc<HashMap<String, String>>,
}

impl Words {
    /// The texts of a language; English if its name is empty.
    ///
    /// # Errors
    /// When no file has this language.
    pub fn of(language: &str) -> Result<Self, RenderError> {
        let (english, english_file) = LANGUAGES[0];
        let mut texts = parsed(english_file)?;
        let mut found = english;
        if !language.is_empty() && language != english {
            let (name, file) = LANGUAGES
                .into_iter()
                .find(|(name, _)| *name == language)
                .ok_or_else(|| RenderError::Language(language.to_owned()))?;
            texts.extend(parsed(file)?);
            found = name;
        }
        Ok(Self {
            language: found,
            texts: Arc::new(texts),
        })
    }

    /// The names of the languages.
    pub fn languages() -> impl Iterator<Item = &'static str> {
        LANGUAGES.into_iter().map(|(name, _)| name)
    }

    /// The text of a key. A test compares the keys of the code with the English file.
    pub fn get<'a>(&'a self, key: &'a str) -> &'a str {
        self.texts.get(key).map_or(key, String::as_str)
    }

    /// The text of a key with its `{}` replaced by the values, in order.
    pub fn filled(&self, key: &str, values: &[&str]) -> String {
        let mut parts = self.get(key).split("{}");
        let mut out = parts.next().unwrap_or_default().to_owned();
        let values = values.iter().copied().chain(std::iter::repeat(""));
        for (part, value) in parts.zip(values) {
            out += value;
            out += part;
        }
        out
    }

    /// `1 finding`, `2 findings`: the text has the singular and the plural, separated by `|`.
    pub fn count(&self, count: usize, key: &str) -> String {
        let text = self.get(key);
        let (one, many) = text.split_once('|').unwrap_or((text, text));
        format!("{count} {}", if count == 1 { one } else { many })
    }

    pub fn risk(&self, risk: Risk) -> &str {
        self.get(match risk {
            Risk::Critical => "risk.critical",
            Risk::High => "risk.high",
            Risk::Medium => "risk.medium",
            Risk::Low => "risk.low",
            Risk::Info => "risk.info",
        })
    }
}

fn parsed(file: &str) -> Result<HashMap<String, String>, RenderError> {
    let sections: HashMap<String, HashMap<String, String>> =
        toml::from_str(file).map_err(|error| RenderError::Words(error.to_string()))?;
    let flat = sections.into_iter().flat_map(|(section, texts)| {
        texts
            .into_iter()
            .map(move |(key, text)| (format!("{section}.{key}"), text))
    });
    Ok(flat.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The sources with texts for readers.
    const SOURCES: [&str; 19] = [
        include_str!("words.rs"),
        include_str!("docx.rs"),
        include_str!("html.rs"),
        include_str!("pdf/mod.rs"),
        include_str!("pdf/layout/mod.rs"),
        include_str!("pdf/layout/links.rs"),
        include_str!("pdf/layout/page.rs"),
        include_str!("flow/outline.rs"),
        include_str!("flow/cover.rs"),
        include_str!("flow/summary.rs"),
        include_str!("flow/scope.rs"),
        include_str!("flow/chapter.rs"),
        include_str!("flow/appendix.rs"),
        include_str!("view/mod.rs"),
        include_str!("view/entry.rs"),
        include_str!("view/location.rs"),
        include_str!("view/overview.rs"),
        include_str!("view/scope.rs"),
        include_str!("view/proof.rs"),
    ];

    #[test]
    fn every_key_of_the_code_has_an_english_text_and_the_reverse() {
        let english = parsed(LANGUAGES[0].1).unwrap();
        let sections: std::collections::HashSet<&str> = english
            .keys()
            .filter_map(|key| Some(key.split_once('.')?.0))
            .collect();
        let code: Vec<&str> = SOURCES
            .iter()
            .map(|source| source.split("#[cfg(test)]").next().unwrap())
            .collect();
        let quoted = code.iter().flat_map(|source| source.split('"'));
        let is_key = |text: &&str| {
            let plain = |c: char| c.is_ascii_lowercase() || c == '_';
            text.split_once('.').is_some_and(|(section, key)| {
                sections.contains(section) && !key.is_empty() && key.chars().all(plain)
            })
        };
        let used: std::collections::BTreeSet<&str> = quoted.filter(is_key).collect();
        for key in &used {
            assert!(english.contains_key(*key), "{key} has no text");
        }
        for key in english.keys() {
            assert!(used.contains(&**key), "{key} is not used");
        }
    }

    #[test]
    fn other_languages_have_no_unknown_keys_and_the_same_gaps() {
        let english = parsed(LANGUAGES[0].1).unwrap();
        for (language, file) in LANGUAGES {
            for (key, text) in parsed(file).unwrap() {
                let original = english
                    .get(&key)
                    .unwrap_or_else(|| panic!("{language}: {key}"));
                for mark in ["{}", "|"] {
                    assert_eq!(
                        text.matches(mark).count(),
                        original.matches(mark).count(),
                        "{language}: {key}"
                    );
                }
            }
        }
    }

    #[test]
    fn text_that_a_language_lacks_is_english() {
        let german = Words::of("de").unwrap();
        assert_eq!(german.get("heading.summary"), "Zusammenfassung");
        let english = Words::of("").unwrap();
        assert_eq!(
            german.get("heading.appendix_coverage"),
            english.get("heading.appendix_coverage")
        );
        assert_eq!(english.count(1, "noun.finding"), "1 finding");
        assert!(
            Words::of("xx")
                .unwrap_err()
                .to_string()
                .contains("use en or de")
        );
    }
}
