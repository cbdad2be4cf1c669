//! The group of each finding: determined once per table, used with every filter.

use crate::base::{FindingGroupBy, GroupId};
use scandeck_domain::query::{Column, Field, Values};
use scandeck_domain::table::Table;
use scandeck_domain::triage::{Issue, Presence, WeaknessKey};
use scandeck_wire::contract::{Risk, Shared};
use std::borrow::Cow;
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

/// Least bytes of a common beginning of names that becomes the title of a class.
const LEAST_NAME: usize = 6;
/// Between the parts of a key; no name holds it.
const SEPARATOR: char = '\u{1f}';

/// The groups of all rows of a table, independent of the filter.
#[derive(Clone, Debug)]
pub struct GroupKeys {
    pub by: FindingGroupBy,
    table: Arc<Table<Issue>>,
    /// The number of the group of each position.
    pub of: Vec<u32>,
    /// A number for each position: the same for rows of one group and one target, which the group
    /// header counts. Where targets are the groups, their classes are counted.
    pub pairs: Vec<u32>,
    /// The finding of each position, close together: every key of a filter reads all of them.
    pub facts: Vec<GroupedFinding>,
    /// By the number of the group, which is its place in the order of titles.
    pub names: Vec<GroupName>,
}

/// The values of a finding that the header of its group summarises.
#[derive(Clone, Copy, Debug, Default)]
pub struct GroupedFinding {
    pub risk: Risk,
    pub presence: Presence,
    /// Known to be exploited.
    pub is_exploited: bool,
    /// Proven by the scanner.
    pub is_proven: bool,
}

#[derive(Clone, Debug)]
pub struct GroupName {
    pub id: GroupId,
    /// The common value.
    pub key: Shared,
    /// The common value for display.
    pub title: Shared,
}

impl GroupKeys {
    /// Groups a table. Columns are used where the table has them, so that 100,000 findings are not
    /// read one by one.
    pub fn of(by: FindingGroupBy, table: &Arc<Table<Issue>>) -> Self {
        let (mut of, keys) = match by {
            FindingGroupBy::Class => numbered(table, Field::Class),
            FindingGroupBy::Target => numbered(table, Field::Asset),
            FindingGroupBy::Cve
            | FindingGroupBy::Cwe
            | FindingGroupBy::Owasp
            | FindingGroupBy::Port
            | FindingGroupBy::Weakness => {
                let mut keys = Numbers::default();
                (
                    table
                        .items()
                        .iter()
                        .map(|issue| keys.number(&key(by, issue)))
                        .collect(),
                    keys.texts,
                )
            }
        };
        let (others, _) = numbered(
            table,
            if by == FindingGroupBy::Target {
                Field::Class
            } else {
                Field::Asset
            },
        );
        let has_titles = matches!(by, FindingGroupBy::Class | FindingGroupBy::Weakness);
        let titles = match has_titles {
            true => titles(table, &of, keys.len()),
            false => Vec::new(),
        };
        let names = keys.into_iter().enumerate().map(|(number, key)| GroupName {
            id: group_id(by, &key),
            title: title(by, &key, titles.get(number)),
            key,
        });
        let names = number_by_title(names.collect(), &mut of);
        Self {
            by,
            table: Arc::clone(table),
            pairs: number_pairs(&of, others),
            of,
            facts: facts(table),
            names,
        }
    }

    /// Whether these are the groups of this table.
    pub fn fits(&self, by: FindingGroupBy, table: &Arc<Table<Issue>>) -> bool {
        self.by == by && Arc::ptr_eq(&self.table, table)
    }
}

/// Numbers the groups by title, so that no list has to compare texts again.
fn number_by_title(names: Vec<GroupName>, of: &mut [u32]) -> Vec<GroupName> {
    let mut names: Vec<(u32, GroupName)> = (0..).zip(names).collect();
    names.sort_unstable_by(|(_, one), (_, other)| {
        (&one.title, &one.key).cmp(&(&other.title, &other.key))
    });
    let mut numbers = vec![0; names.len()];
    (0..)
        .zip(&names)
        .for_each(|(number, (old, _))| numbers[*old as usize] = number);
    of.iter_mut()
        .for_each(|number| *number = numbers[*number as usize]);
    names.into_iter().map(|(_, name)| name).collect()
}

/// Whether a finding belongs to the group of this key.
pub fn belongs(by: FindingGroupBy, issue: &Issue, of: &str) -> bool {
    **key(by, issue) == *of
}

/// The value by which a finding is grouped.
fn key(by: FindingGroupBy, issue: &Issue) -> Cow<'_, Shared> {
    match by {
        FindingGroupBy::Class => Cow::Borrowed(issue.class()),
        FindingGroupBy::Target => Cow::Borrowed(&issue.identity.asset),
        FindingGroupBy::Cve => issue
            .cve
            .first()
            .map_or_else(|| Cow::Owned(Shared::default()), Cow::Borrowed),
        FindingGroupBy::Cwe => Cow::Borrowed(&issue.cwe),
        FindingGroupBy::Owasp => Cow::Owned(issue.owasp.label().into()),
        FindingGroupBy::Port => Cow::Owned(match issue.port() {
            ..=0 => Shared::default(),
            port if issue.protocol.is_empty() => port.to_string().into(),
            port => format!("{port}/{}", issue.protocol).into(),
        }),
        FindingGroupBy::Weakness => {
            let WeaknessKey { name, place } = WeaknessKey::of(issue);
            Cow::Owned(format!("{name}{SEPARATOR}{place}").into())
        }
    }
}

/// The id of a group: the same in every table.
pub fn group_id(by: FindingGroupBy, key: &str) -> GroupId {
    let mut hasher = DefaultHasher::new();
    (by, key).hash(&mut hasher);
    GroupId(hasher.finish())
}

/// The title of a class: the common beginning of its findings' names, or its id if that is too
/// short.
pub(crate) fn class_title(class: &Shared, start: &Shared) -> Shared {
    title(FindingGroupBy::Class, class, Some(start))
}

fn title(by: FindingGroupBy, key: &Shared, names: Option<&Shared>) -> Shared {
    match (key.is_empty(), names) {
        (_, Some(name)) if name.len() >= LEAST_NAME || key.is_empty() => name.clone(),
        (true, _) => by.none().into(),
        (false, _) => match key.split_once(SEPARATOR) {
            Some((name, _)) => name.into(),
            None => key.clone(),
        },
    }
}

/// The number of each row's text, and the texts by number. A row has one text or none.
fn numbered(table: &Table<Issue>, field: Field) -> (Vec<u32>, Vec<Shared>) {
    let Some(Column {
        values: Values::Texts(texts),
        cells,
    }) = table.column(field)
    else {
        return Default::default();
    };
    let mut texts: Vec<Shared> = texts.iter().map(Shared::from).collect();
    let nothing = texts.len() as u32;
    let of: Vec<u32> = (0..cells.rows())
        .map(|row| {
            cells
                .row(row)
                .next()
                .map_or(nothing, |number| number as u32)
        })
        .collect();
    if of.contains(&nothing) {
        texts.push(Shared::default());
    }
    (of, texts)
}

/// The common beginning of the finding names of each class.
fn titles(table: &Table<Issue>, classes: &[u32], count: usize) -> Vec<Shared> {
    let mut titles: Vec<Option<Shared>> = vec![None; count];
    let mut last: Vec<Option<&Shared>> = vec![None; count];
    for (&class, issue) in classes.iter().zip(table.items()) {
        let (title, name) = (&mut titles[class as usize], &issue.name);
        if last[class as usize].replace(name) == Some(name) {
            continue;
        }
        match title {
            None => *title = Some(name.clone()),
            Some(title) => {
                let start = common_start(title, name);
                if start.len() < title.len() {
                    *title = start.into();
                }
            }
        }
    }
    titles.into_iter().map(Option::unwrap_or_default).collect()
}

/// Numbers the pairs of the group and the target, or class, of each position.
fn number_pairs(groups: &[u32], mut others: Vec<u32>) -> Vec<u32> {
    let mut pairs: Vec<(u32, u32)> = groups.iter().copied().zip(others.iter().copied()).collect();
    pairs.sort_unstable();
    pairs.dedup();
    for (&group, other) in groups.iter().zip(&mut others) {
        *other = pairs.binary_search(&(group, *other)).unwrap_or_default() as u32;
    }
    others
}

/// The summarised values by position.
fn facts(table: &Table<Issue>) -> Vec<GroupedFinding> {
    let (
        Some(Column {
            values: Values::Numbers(levels),
            cells: risks,
        }),
        (presences, words),
    ) = (table.column(Field::Risk), numbered(table, Field::Presence))
    else {
        return Vec::new();
    };
    let named = |word: &Shared| {
        Presence::ALL
            .into_iter()
            .find(|presence| presence.as_str() == word.as_str())
    };
    let presence_of: Vec<Presence> = words
        .iter()
        .map(|word| named(word).unwrap_or_default())
        .collect();
    let risk = |row: usize| {
        risks
            .row(row)
            .next()
            .map_or(Risk::default(), |number| Risk::from(levels[number] as i64))
    };
    let fact = |(row, (&presence, issue)): (usize, (&u32, &Arc<Issue>))| GroupedFinding {
        risk: risk(row),
        presence: presence_of[presence as usize],
        is_exploited: issue.in_cisa_catalog,
        is_proven: issue.confirmed,
    };
    let rows = presences.iter().zip(table.items());
    rows.enumerate().map(fact).collect()
}

/// The common beginning of two names, in whole words.
pub(crate) fn common_start<'a>(a: &'a str, b: &str) -> &'a str {
    let same = a
        .char_indices()
        .zip(b.chars())
        .find(|((_, a), b)| a != b)
        .map_or(a.len().min(b.len()), |((at, _), _)| at);
    let whole = |end: usize, text: &str| {
        text[end..]
            .chars()
            .next()
            .is_none_or(|next| !next.is_alphanumeric())
    };
    let words = if whole(same, a) && whole(same, b) {
        &a[..same]
    } else {
        &a[..a[..same].rfind(|c: char| !c.is_alphanumeric()).unwrap_or(0)]
    };
    let words = words.trim_end_matches(|c: char| !c.is_alphanumeric() && c != ')');
    let words = words
        .strip_suffix(" at")
        .or(words.strip_suffix(" in"))
        .unwrap_or(words);
    words.trim_end()
}

/// Numbers texts in the order of their first occurrence.
#[derive(Default)]
struct Numbers {
    texts: Vec<Shared>,
    by_text: HashMap<Shared, u32>,
    /// By address: equal texts of one response are shared.
    by_address: HashMap<usize, u32>,
}

impl Numbers {
    fn number(&mut self, text: &Shared) -> u32 {
        let address = text.as_str().as_ptr() as usize;
        if let Some(&number) = self.by_address.get(&address) {
            // An address may be reused while the texts are created here, so the text is compared
            // too.
            if *self.texts[number as usize] == **text {
                return number;
            }
        }
        let number = match self.by_text.get(text.as_str()) {
            Some(&number) => number,
            None => {
                let number = self.texts.len() as u32;
                self.texts.push(text.clone());
                self.by_text.insert(text.clone(), number);
                number
            }
        };
        self.by_address.insert(address, number);
        number
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn class_title_is_common_beginning_of_names() {
        for (a, b, both) in [
            (
                "Database dump readable at /db.sql",
                "Database dump readable at /old.sql",
                "Database dump readable",
            ),
            ("TLS 1.0", "TLS 1.1", "TLS 1"),
            (
                "Directory listing",
                "Directory listing with archives",
                "Directory listing",
            ),
            ("Cookie a", "Cookie ab", "Cookie"),
            ("Open port (22)", "Open port (80)", "Open port"),
            ("é", "è", ""),
        ] {
            assert_eq!(common_start(a, b), both);
        }
    }

    #[test]
    fn group_ids_of_equal_keys_differ_by_attribute() {
        assert_ne!(
            group_id(FindingGroupBy::Class, "443"),
            group_id(FindingGroupBy::Port, "443")
        );
        assert_eq!(
            group_id(FindingGroupBy::Class, "x"),
            group_id(FindingGroupBy::Class, "x")
        );
    }
}
