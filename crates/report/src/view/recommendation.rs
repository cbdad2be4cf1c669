//! The text of a recommendation in the table of all of them.

/// Characters of a recommendation in the table.
const MOST_OF_TEXT: usize = 400;

/// The beginning of a recommendation, to the last sentence or word that fits. The chapter of a
/// finding has all of it: some scanners recommend a page.
pub fn beginning(recommendation: &str) -> String {
    let text = flowed(recommendation);
    let Some((limit, _)) = text.char_indices().nth(MOST_OF_TEXT) else {
        return text;
    };
    let head = &text[..limit];
    let sentence = [". ", ".\n", "\n"].iter();
    let sentence = sentence.filter_map(|end| Some(head.rfind(end)? + 1)).max();
    let end = sentence.filter(|end| *end > limit / 2);
    let end = end.or_else(|| head.rfind(char::is_whitespace));
    format!("{} …", head[..end.unwrap_or(limit)].trim_end())
}

/// Recommendations that differ in spaces, capital letters or the full stop ask for the same, and so
/// do those with the same beginning.
pub(super) fn action_of(recommendation: &str) -> String {
    let shown = beginning(recommendation);
    let words: Vec<&str> = shown.split_whitespace().collect();
    words.join(" ").trim_end_matches('.').to_lowercase()
}

/// Paragraphs and items of lists, one on a line: scanners break their lines elsewhere.
fn flowed(text: &str) -> String {
    let mut parts: Vec<String> = Vec::new();
    let mut is_open = false;
    for line in text.lines().map(str::trim) {
        if line.is_empty() {
            is_open = false;
            continue;
        }
        let is_item = ["- ", "* ", "• "].iter().any(|mark| line.starts_with(mark));
        match parts.last_mut().filter(|_| is_open && !is_item) {
            Some(part) => {
                part.push(' ');
                part.push_str(line);
            }
            None => parts.push(line.to_owned()),
        }
        is_open = true;
    }
    parts.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_recommendation_ends_with_a_sentence_or_word() {
        let short = "Update to version 2.";
        assert_eq!(beginning(short), short);
        let sentence = "Validate each input on the server, with a list of what is allowed. ";
        let cut = beginning(&sentence.repeat(20));
        assert_eq!(cut, format!("{} …", sentence.repeat(5).trim_end()));
        let words = beginning(&"überall ".repeat(100));
        assert_eq!(words, format!("{} …", "überall ".repeat(50).trim_end()));
        let one_word = beginning(&"ü".repeat(1000));
        assert_eq!(one_word, format!("{} …", "ü".repeat(MOST_OF_TEXT)));
    }

    #[test]
    fn lines_of_the_source_are_paragraphs_and_items() {
        let text =
            "Attacks can be\n  prevented:\n\n - Validate\n   it.\n - Encode it.\n\nThen\nretest.";
        let lines = "Attacks can be prevented:\n- Validate it.\n- Encode it.\nThen retest.";
        assert_eq!(beginning(text), lines);
    }

    #[test]
    fn recommendations_that_look_the_same_are_one() {
        let same = "Use parameterized queries for all access to the database. ".repeat(7);
        let [one, other] = ["MySQL", "Oracle"].map(|name| action_of(&format!("{same} For {name}")));
        assert_eq!(one, other);
        assert_eq!(action_of("Use  HTTPS."), action_of("use\nhttps"));
        assert_ne!(action_of("Use HTTPS."), action_of("Use SSH."));
    }
}
