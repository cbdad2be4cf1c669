//! Fuzzy matching of letters in order: `rfr` finds `refresh`, `fp` finds `false positive`.

/// The score of a match, and the matched letters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fit {
    /// Higher is better.
    pub score: i32,
    /// Positions of the letters in the name, in characters.
    pub letters: Vec<usize>,
}

/// Matches typed letters with a name, ignoring case and blanks; none when the name does not contain
/// them in this order.
pub fn fit(typed: &str, name: &str) -> Option<Fit> {
    let letters = |text: &str| text.to_lowercase().chars().collect::<Vec<_>>();
    let (pattern, name) = (letters(typed), letters(name));
    let pattern: Vec<char> = pattern
        .into_iter()
        .filter(|letter| !is_gap(*letter))
        .collect();
    let Some(&first) = pattern.first() else {
        return Some(Fit {
            score: 0,
            letters: Vec::new(),
        });
    };
    let starts = (0..name.len()).filter(|&at| name[at] == first);
    starts
        .filter_map(|start| fit_from(&pattern, &name, start))
        .max_by_key(|fit| (fit.score, std::cmp::Reverse(fit.letters[0])))
}

fn is_gap(letter: char) -> bool {
    letter.is_whitespace() || matches!(letter, '_' | '-')
}

/// Matches from a start as early as possible, but prefers letters that begin a word.
fn fit_from(pattern: &[char], name: &[char], start: usize) -> Option<Fit> {
    let begins = |at: usize| at == 0 || is_gap(name[at - 1]);
    let mut letters = vec![start];
    for &letter in &pattern[1..] {
        let last = letters[letters.len() - 1];
        let after = (last + 1)..name.len();
        let adjoining = (last + 1 < name.len() && name[last + 1] == letter).then_some(last + 1);
        let beginning = || after.clone().find(|&at| name[at] == letter && begins(at));
        let anywhere = || after.clone().find(|&at| name[at] == letter);
        letters.push(adjoining.or_else(beginning).or_else(anywhere)?);
    }
    let mut score = -(name.len() as i32);
    for (nth, &at) in letters.iter().enumerate() {
        score += if begins(at) { 20 } else { 0 };
        score += if nth > 0 && letters[nth - 1] + 1 == at {
            15
        } else {
            0
        };
        score -= if nth == 0 {
            at as i32
        } else {
            (at - letters[nth - 1]) as i32
        };
    }
    Some(Fit { score, letters })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn best<'a>(typed: &str, names: &[&'a str]) -> Vec<&'a str> {
        let mut fits: Vec<_> = names
            .iter()
            .filter_map(|name| Some((fit(typed, name)?.score, *name)))
            .collect();
        fits.sort_by_key(|(score, _)| -score);
        fits.into_iter().map(|(_, name)| name).collect()
    }

    #[test]
    fn prefix_ranks_before_word_starts_and_other_letters() {
        let names = ["take back", "target", "tab rename", "report", "mark"];
        assert_eq!(best("tar", &names), ["target", "tab rename"]);
        assert_eq!(best("tb", &names), ["take back", "tab rename"]);
        assert_eq!(best("r", &["target", "report"]), ["report", "target"]);
        assert!(best("xyz", &names).is_empty());
    }

    #[test]
    fn match_ignores_gaps_and_returns_its_letters() {
        assert_eq!(
            fit("false_p", "false positive").unwrap().letters,
            [0, 1, 2, 3, 4, 6]
        );
        assert_eq!(fit("fp", "false positive").unwrap().letters, [0, 6]);
        assert!(fit("", "anything").unwrap().letters.is_empty());
    }
}
