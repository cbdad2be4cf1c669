//! Which group each finding belongs to: counted once a table, used with every filter.

use crate::contract::{Risk, Shared};
use crate::dashboard::list::FindingGroupBy;
use crate::query::{Column, Field};
use crate::table::Table;
use crate::triage::{Case, CaseId, Presence};
use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

/// A name shared by names that differ has at least so many bytes; otherwise the kind itself is the name.
const LEAST_NAME: usize = 6;

/// The groups of all rows of a table, whatever the filter shows of them.
#[derive(Clone, Debug)]
pub struct Keys {
    by: FindingGroupBy,
    table: Arc<Table<Case>>,
    /// The number of the group of each position.
    pub of: Vec<u32>,
    /// Numbers of what is counted beside the findings (targets, or classes), by position.
    pub others: Vec<u32>,
    /// What a head is told about each position, close together: a filter counts them with each of its keys.
    pub told: Vec<(Risk, Presence)>,
    /// What there is of the groups themselves.
    pub names: Vec<Name>,
}

/// A group, whatever the filter shows of it.
#[derive(Clone, Debug)]
pub struct Name {
    /// Its head: negative, so that it is no finding's.
    pub id: CaseId,
    /// What its members have in common, exactly.
    pub key: Shared,
    /// What they have in common, for people.
    pub title: Shared,
}

impl Keys {
    /// The groups of a table. What its columns tell is not asked of 100,000 rows.
    pub fn of(by: FindingGroupBy, table: &Arc<Table<Case>>) -> Self {
        let (of, keys) = match by {
            FindingGroupBy::Class => numbered(table, Field::Class),
            FindingGroupBy::Target => numbered(table, Field::Asset),
            FindingGroupBy::Cve | FindingGroupBy::Cwe | FindingGroupBy::Owasp | FindingGroupBy::Port => {
                let mut keys = Numbers::default();
                (table.items().iter().map(|case| keys.number(&key(by, case))).collect(), keys.texts)
            }
        };
        let (others, _) = numbered(table, if by == FindingGroupBy::Target { Field::Class } else { Field::Asset });
        let titles = if by == FindingGroupBy::Class { titles(table, &of, keys.len()) } else { Vec::new() };
        let names = keys.into_iter().enumerate().map(|(number, key)| Name {
            id: head_id(by, &key),
            title: title(by, &key, titles.get(number)),
            key,
        });
        let names = names.collect();
        Self { by, table: Arc::clone(table), of, others, told: told(table), names }
    }

    /// Whether these are the groups of this table.
    pub fn fits(&self, by: FindingGroupBy, table: &Arc<Table<Case>>) -> bool {
        self.by == by && Arc::ptr_eq(&self.table, table)
    }
}

/// Whether a finding belongs to the group of this key.
pub fn belongs(by: FindingGroupBy, case: &Case, of: &str) -> bool {
    **key(by, case) == *of
}

/// What a finding is grouped by.
fn key(by: FindingGroupBy, case: &Case) -> Cow<'_, Shared> {
    match by {
        FindingGroupBy::Class => Cow::Borrowed(case.class()),
        FindingGroupBy::Target => Cow::Borrowed(&case.identity.asset),
        FindingGroupBy::Cve => case.cve.first().map_or_else(|| Cow::Owned(Shared::default()), Cow::Borrowed),
        FindingGroupBy::Cwe => Cow::Borrowed(&case.cwe),
        FindingGroupBy::Owasp => Cow::Borrowed(owasp(case)),
        FindingGroupBy::Port => Cow::Owned(match case.port {
            ..=0 => Shared::default(),
            port if case.protocol.is_empty() => port.to_string().into(),
            port => format!("{port}/{}", case.protocol).into(),
        }),
    }
}

/// The head of a group: the same in every table, and no finding's id.
pub fn head_id(by: FindingGroupBy, key: &str) -> CaseId {
    let mut hasher = DefaultHasher::new();
    (by, key).hash(&mut hasher);
    CaseId(-1 - (hasher.finish() >> 2) as i64)
}

fn owasp(case: &Case) -> &Shared {
    let all = &case.owasp;
    [&all.owasp_2025, &all.owasp_2021].into_iter().find(|kind| !kind.is_empty()).unwrap_or(&all.owasp_2017)
}

fn title(by: FindingGroupBy, key: &Shared, names: Option<&Shared>) -> Shared {
    match (key.is_empty(), names) {
        (_, Some(name)) if name.len() >= LEAST_NAME || key.is_empty() => name.clone(),
        (true, _) => by.nothing().into(),
        (false, _) => key.clone(),
    }
}

/// The texts of a field of which a row has one at the most, and the number of that of each row.
fn numbered(table: &Table<Case>, field: Field) -> (Vec<u32>, Vec<Shared>) {
    let Some(Column::TextPool { values, cells }) = table.column(field) else { return Default::default() };
    let mut texts: Vec<Shared> = values.iter().map(Shared::from).collect();
    let nothing = texts.len() as u32;
    let of: Vec<u32> =
        (0..cells.rows()).map(|row| cells.row(row).first().map_or(nothing, |&code| code.min(nothing))).collect();
    if of.contains(&nothing) {
        texts.push(Shared::default());
    }
    (of, texts)
}

/// What the findings of each of so many classes are called alike.
fn titles(table: &Table<Case>, classes: &[u32], count: usize) -> Vec<Shared> {
    let (named, names) = numbered(table, Field::Name);
    let mut titles: Vec<Option<Shared>> = vec![None; count];
    let mut met = HashSet::new();
    let mut last = vec![u32::MAX; count];
    for (&class, &name) in classes.iter().zip(&named) {
        let (title, name_of) = (&mut titles[class as usize], &names[name as usize]);
        if std::mem::replace(&mut last[class as usize], name) == name || !met.insert((class, name)) {
            continue;
        }
        *title = Some(title.as_ref().map_or_else(|| name_of.clone(), |title| common(title, name_of).into()));
    }
    titles.into_iter().map(Option::unwrap_or_default).collect()
}

fn told(table: &Table<Case>) -> Vec<(Risk, Presence)> {
    let (Some(Column::Numbers(risks)), (presences, words)) =
        (table.column(Field::Risk), numbered(table, Field::Presence))
    else {
        return Vec::new();
    };
    let named = |word: &Shared| Presence::ALL.into_iter().find(|presence| presence.as_str() == word.as_str());
    let known: Vec<Presence> = words.iter().map(|word| named(word).unwrap_or_default()).collect();
    let risk = |row: usize| risks.row(row).first().map_or(Risk::default(), |&level| Risk::from(level as i64));
    presences.iter().enumerate().map(|(row, &presence)| (risk(row), known[presence as usize])).collect()
}

/// The words that two names begin with.
fn common<'a>(a: &'a str, b: &str) -> &'a str {
    let same =
        a.char_indices().zip(b.chars()).find(|((_, a), b)| a != b).map_or(a.len().min(b.len()), |((at, _), _)| at);
    let whole = |end: usize, text: &str| text[end..].chars().next().is_none_or(|next| !next.is_alphanumeric());
    let words = if whole(same, a) && whole(same, b) {
        &a[..same]
    } else {
        &a[..a[..same].rfind(|c: char| !c.is_alphanumeric()).unwrap_or(0)]
    };
    let words = words.trim_end_matches(|c: char| !c.is_alphanumeric() && c != ')');
    let words = words.strip_suffix(" at").or(words.strip_suffix(" in")).unwrap_or(words);
    words.trim_end()
}

/// Numbers for texts, in the order in which they are met.
#[derive(Default)]
struct Numbers {
    texts: Vec<Shared>,
    known: HashMap<Shared, u32>,
    /// FindingGroupBy address: equal texts of one answer are one.
    held: HashMap<usize, u32>,
}

impl Numbers {
    fn number(&mut self, text: &Shared) -> u32 {
        let address = text.as_str().as_ptr() as usize;
        if let Some(&number) = self.held.get(&address) {
            // An address may be used again while the texts are made here: it must also be the same text.
            if *self.texts[number as usize] == **text {
                return number;
            }
        }
        let number = match self.known.get(text.as_str()) {
            Some(&number) => number,
            None => {
                let number = self.texts.len() as u32;
                self.texts.push(text.clone());
                self.known.insert(text.clone(), number);
                number
            }
        };
        self.held.insert(address, number);
        number
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_a_class_is_what_its_findings_are_called_alike() {
        for (a, b, both) in [
            ("Database dump readable at /db.sql", "Database dump readable at /old.sql", "Database dump readable"),
            ("TLS 1.0", "TLS 1.1", "TLS 1"),
            ("Directory listing", "Directory listing with archives", "Directory listing"),
            ("Cookie a", "Cookie ab", "Cookie"),
            ("Open port (22)", "Open port (80)", "Open port"),
            ("é", "è", ""),
        ] {
            assert_eq!(common(a, b), both);
        }
    }

    #[test]
    fn heads_have_ids_that_no_finding_has() {
        assert!(head_id(FindingGroupBy::Class, "x").0 < 0);
        assert_ne!(head_id(FindingGroupBy::Class, "443"), head_id(FindingGroupBy::Port, "443"));
        assert_eq!(head_id(FindingGroupBy::Class, "x"), head_id(FindingGroupBy::Class, "x"));
    }
}
