//! Tags of targets: an extension of the service beside the API v2.
//!
//! ```text
//!   GET  /api/v2/targets                      each target with its tags, which other services omit
//!   POST /scandeck/v1/targets/{id}/tags       TagChange ─► TargetTags
//! ```
//!
//! A service without the header of [`super::team`] in lists of workspaces has none, and receives no
//! request for them.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::{Shared, TargetId, lenient};

/// The path of targets beside that of the API v2.
pub const TAGGED_TARGETS_ROOT: &str = "/scandeck/v1/targets";

/// Most tags of a target.
pub const MOST_TAGS: usize = 20;

/// Most characters of a tag.
const LONGEST_TAG: usize = 40;

/// The valid form of a tag.
const TAG_REMEDY: &str = "use at most 40 letters, digits, `-`, `_` and `.`, such as prod";

/// Reads a tag: `prod` or `#prod`. Upper and lower case are the same tag.
///
/// # Errors
/// The valid form, when the text is no tag.
pub fn parse_tag(text: &str) -> Result<Shared, &'static str> {
    let tag = text.strip_prefix('#').unwrap_or(text).to_lowercase();
    let is_in_tag = |letter: char| letter.is_alphanumeric() || "-_.".contains(letter);
    let is_valid = tag.starts_with(char::is_alphanumeric)
        && tag.chars().all(is_in_tag)
        && tag.chars().count() <= LONGEST_TAG;
    match is_valid {
        true => Ok(Shared::from(tag)),
        false => Err(TAG_REMEDY),
    }
}

/// Tags for people: `#prod #web`.
pub fn tags_text(tags: &[Shared]) -> String {
    let tags: Vec<String> = tags.iter().map(|tag| format!("#{tag}")).collect();
    tags.join(" ")
}

/// A change of the tags of a target. A tag that is added and removed is removed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct TagChange {
    #[serde(deserialize_with = "lenient::texts")]
    pub add: Vec<Shared>,
    #[serde(deserialize_with = "lenient::texts")]
    pub remove: Vec<Shared>,
}

impl TagChange {
    /// Reads words such as `prod`, `+prod` and `-old`.
    ///
    /// # Errors
    /// The first word that is no tag, and the valid form.
    pub fn parse<'a>(words: impl IntoIterator<Item = &'a str>) -> Result<Self, String> {
        let mut change = Self::default();
        for word in words {
            let (tags, text) = match word.strip_prefix('-') {
                Some(text) => (&mut change.remove, text),
                None => (&mut change.add, word.strip_prefix('+').unwrap_or(word)),
            };
            let tag = parse_tag(text).map_err(|remedy| format!("`{word}` is no tag; {remedy}"))?;
            tags.push(tag);
        }
        Ok(change)
    }

    pub fn is_empty(&self) -> bool {
        self.add.is_empty() && self.remove.is_empty()
    }

    /// The tags after the change, sorted, each once.
    pub fn applied_to(&self, tags: &[Shared]) -> Vec<Shared> {
        let mut all: BTreeSet<&Shared> = tags.iter().chain(&self.add).collect();
        for tag in &self.remove {
            all.remove(tag);
        }
        all.into_iter().cloned().collect()
    }
}

/// The tags of a target after a change.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct TargetTags {
    pub target_id: TargetId,
    /// Sorted.
    #[serde(deserialize_with = "lenient::texts")]
    pub tags: Vec<Shared>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tag_is_a_word_in_lower_case() {
        for (text, tag) in [
            ("prod", "prod"),
            ("#Prod", "prod"),
            ("eu-1.web_2", "eu-1.web_2"),
        ] {
            assert_eq!(parse_tag(text).unwrap(), tag, "{text}");
        }
        let long = "x".repeat(LONGEST_TAG + 1);
        for text in [
            "",
            "#",
            "-old",
            "+prod",
            "a b",
            "a,b",
            "##a",
            ".a",
            long.as_str(),
        ] {
            assert!(parse_tag(text).is_err(), "{text}");
        }
    }

    #[test]
    fn change_adds_and_removes_tags() {
        let change = TagChange::parse(["+prod", "web", "-OLD"]).unwrap();
        let tags: [Shared; 3] = ["old".into(), "prod".into(), "api".into()];
        assert_eq!(change.applied_to(&tags), ["api", "prod", "web"]);
        assert!(!change.is_empty() && TagChange::parse([]).unwrap().is_empty());
        let both = TagChange::parse(["+prod", "-prod"]).unwrap();
        assert_eq!(both.applied_to(&tags), ["api", "old"]);
        let refused = TagChange::parse(["prod", "--json"]).unwrap_err();
        assert!(refused.starts_with("`--json` is no tag"), "{refused}");
    }
}
