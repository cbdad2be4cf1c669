//! The decide menu: options in any order, then the key of the verdict closes it. It keeps the
//! findings it was opened for, so data that arrives later does not change them.
//!
//! ```text
//!   t ─► DecideMenu ─┬─ r n s T d e A D ─► MenuEntry (a line with offers) ─► the draft
//!                    ├─ j k ─► scope          backspace undoes the last choice
//!                    └─ c f a w x i o, or enter without a verdict ─► PendingDecision
//! ```

use crate::text::{Offers, TextInput};
use jiff::civil::Date;
use jiff::{Span, ToSpan};
use scandeck_domain::triage::{
    DecisionScope, Draft, DraftValue, FindingKey, IssueId, Reason, Verdict, assignee_name,
};
use scandeck_wire::contract::{Risk, Shared};
use strum::IntoStaticStr;

#[derive(Clone, Debug)]
pub struct DecideMenu {
    pub ids: Vec<IssueId>,
    /// Marked findings that are not shown.
    pub hidden: Vec<IssueId>,
    pub draft: Draft,
    /// The draft before each choice, for backspace.
    pub before: Vec<Draft>,
    /// The option that is being typed.
    pub entry: Option<MenuEntry>,
    /// Opened for one option alone, which is recorded at once.
    pub alone: bool,
    /// The number of findings that the rules of the chosen scope match now, and how many of them
    /// persons decided.
    pub preview: Option<(usize, usize)>,
    /// The number of findings that the rules of each scope match; empty for many findings, whose
    /// scope is counted when it is chosen.
    pub counts: Vec<(DecisionScope, usize)>,
    /// The number of classes of the findings, for each target and in all: the scopes of classes
    /// create a rule for each.
    pub classes: [usize; 2],
}

/// An option of the menu.
#[derive(Clone, Copy, Debug, PartialEq, Eq, IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
pub enum MenuChoice {
    Reason,
    Note,
    Severity,
    Tags,
    #[strum(serialize = "finding")]
    Duplicate,
    #[strum(serialize = "expiry date")]
    Until,
    Assignee,
    #[strum(serialize = "due date")]
    Due,
}

/// An option while it is typed.
#[derive(Clone, Debug)]
pub struct MenuEntry {
    pub choice: MenuChoice,
    pub input: TextInput,
    pub offers: Offers<MenuOffer>,
    /// Why the input is not valid.
    pub error: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MenuOffer {
    pub words: String,
    pub value: MenuValue,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MenuValue {
    Reason(Option<Reason>),
    Severity(Option<Risk>),
    Tag(Shared),
    Member(Shared),
    Duplicate(FindingKey),
}

impl DecideMenu {
    pub fn new(ids: Vec<IssueId>, hidden: Vec<IssueId>) -> Self {
        let (draft, before) = (Draft::default(), Vec::new());
        Self {
            ids,
            hidden,
            draft,
            before,
            entry: None,
            alone: false,
            preview: None,
            counts: Vec::new(),
            classes: [1, 1],
        }
    }

    /// Opens the line of an option with its current value.
    pub fn open(&mut self, choice: MenuChoice) {
        let text = match (choice, &self.draft) {
            (
                MenuChoice::Note,
                Draft {
                    note: DraftValue::Set(note),
                    ..
                },
            ) => note.to_string(),
            (MenuChoice::Tags, draft) => tags_text(&draft.tag, &draft.untag),
            (
                MenuChoice::Until,
                Draft {
                    until: DraftValue::Set(day),
                    ..
                },
            )
            | (
                MenuChoice::Due,
                Draft {
                    due: DraftValue::Set(day),
                    ..
                },
            ) => day.to_string(),
            (
                MenuChoice::Assignee,
                Draft {
                    assignee: DraftValue::Set(name),
                    ..
                },
            ) => name.to_string(),
            _ => String::new(),
        };
        let mut input = if choice == MenuChoice::Note {
            TextInput::lines("")
        } else {
            TextInput::default()
        };
        input.set(&text);
        self.entry = Some(MenuEntry {
            choice,
            input,
            offers: Offers::default(),
            error: None,
        });
    }

    /// Changes the draft. Backspace undoes the change.
    pub fn choose(&mut self, change: impl FnOnce(&mut Draft)) {
        self.before.push(self.draft.clone());
        change(&mut self.draft);
    }

    /// The note that was chosen.
    pub fn note(&self) -> Option<&Shared> {
        match &self.draft.note {
            DraftValue::Set(note) => Some(note),
            DraftValue::Default | DraftValue::Empty => None,
        }
    }

    pub fn has_note(&self) -> bool {
        self.note().is_some()
    }

    pub fn has_choice(&self) -> bool {
        !self.before.is_empty()
    }

    /// Undoes the last choice.
    pub fn undo_choice(&mut self) {
        self.draft = self.before.pop().unwrap_or_default();
    }

    /// The next scope, or the one before.
    pub fn walk_scope(&mut self, by: isize) {
        let at = DecisionScope::ALL
            .iter()
            .position(|&scope| scope == self.draft.scope)
            .unwrap_or(0);
        let to = at
            .saturating_add_signed(by)
            .min(DecisionScope::ALL.len() - 1);
        if to != at {
            self.choose(|draft| draft.scope = DecisionScope::ALL[to]);
        }
    }
}

impl MenuEntry {
    /// The word that is being typed. Tags are completed one at a time.
    pub fn word(&self) -> String {
        let text = self.input.text();
        match self.choice {
            MenuChoice::Tags => text
                .rsplit(char::is_whitespace)
                .next()
                .unwrap_or_default()
                .to_owned(),
            _ => text,
        }
    }

    /// Puts the selected tag in place of the word being typed.
    pub fn complete(&mut self) {
        let Some(MenuOffer {
            value: MenuValue::Tag(tag),
            ..
        }) = self.offers.selected_or_first()
        else {
            return;
        };
        let (text, word) = (self.input.text(), self.word());
        let sign = if word.starts_with('-') { "-" } else { "" };
        let rest = &text[..text.len() - word.len()];
        self.input.set(&format!("{rest}{sign}{tag} "));
    }

    /// Takes the typed or selected value into the draft, or returns why it is not valid.
    pub fn take(&self, today: Date, own_name: &Shared, draft: &mut Draft) -> Result<(), String> {
        let text = self.input.text();
        // A typed name may be the beginning of another one.
        let member = match self.offers.selected().map(|offer| &offer.value) {
            Some(MenuValue::Member(name)) => name.as_str(),
            _ => text.trim(),
        };
        let offered = match text.trim() {
            "" => self.offers.selected(),
            _ => self.offers.selected_or_first(),
        };
        match (self.choice, offered.map(|offer| &offer.value)) {
            (MenuChoice::Reason, Some(MenuValue::Reason(reason))) => {
                draft.reason = DraftValue::from(*reason)
            }
            (MenuChoice::Severity, Some(MenuValue::Severity(risk))) => {
                draft.severity = DraftValue::from(*risk)
            }
            (MenuChoice::Duplicate, Some(MenuValue::Duplicate(key))) => {
                draft.duplicate_of = Some(*key)
            }
            (MenuChoice::Note, _) => {
                draft.note = DraftValue::from(
                    Some(text.trim())
                        .filter(|text| !text.is_empty())
                        .map(Shared::from),
                )
            }
            (MenuChoice::Until, _) => draft.until = until(&text, today)?,
            (MenuChoice::Assignee, _) => draft.assignee = assignee(member, own_name)?,
            (MenuChoice::Due, _) => draft.due = until(&text, today)?,
            (MenuChoice::Tags, _) => (draft.tag, draft.untag) = tags(&text),
            (_, _) if text.trim().is_empty() => {}
            (choice, _) => return Err(format!("unknown {} {:?}", choice.word(), text.trim())),
        }
        Ok(())
    }
}

impl MenuChoice {
    pub fn word(self) -> &'static str {
        self.into()
    }

    /// The offers that do not depend on the findings.
    pub fn offers(self) -> Vec<MenuOffer> {
        match self {
            Self::Reason => {
                let none = MenuOffer {
                    words: "none".to_owned(),
                    value: MenuValue::Reason(None),
                };
                let fits = |reason: Reason| {
                    let of = Verdict::ALL
                        .into_iter()
                        .filter(|verdict| verdict.reasons().contains(&reason));
                    of.map(Verdict::phrase).collect::<Vec<_>>().join(", ")
                };
                let reason = |reason: Reason| MenuOffer {
                    words: format!("{}  ({})", reason.phrase(), fits(reason)),
                    value: MenuValue::Reason(Some(reason)),
                };
                std::iter::once(none)
                    .chain(Reason::ALL.map(reason))
                    .collect()
            }
            Self::Severity => {
                let scanned = MenuOffer {
                    words: "as scanned".to_owned(),
                    value: MenuValue::Severity(None),
                };
                let risk = |risk: Risk| MenuOffer {
                    words: risk.as_str().to_owned(),
                    value: MenuValue::Severity(Some(risk)),
                };
                Risk::DOWN.map(risk).into_iter().chain([scanned]).collect()
            }
            Self::Note
            | Self::Tags
            | Self::Duplicate
            | Self::Until
            | Self::Assignee
            | Self::Due => Vec::new(),
        }
    }
}

/// Parses a member: a name, `me`, `nobody`, or an empty text (unchanged).
pub fn assignee(text: &str, own_name: &Shared) -> Result<DraftValue<Shared>, String> {
    match text.trim().trim_start_matches('@') {
        "" => Ok(DraftValue::Default),
        "nobody" | "none" => Ok(DraftValue::Empty),
        "me" => Ok(DraftValue::Set(own_name.clone())),
        name => assignee_name(name).map(DraftValue::Set),
    }
}

/// `a -b`: adds a, removes b.
pub fn tags(text: &str) -> (Vec<Shared>, Vec<Shared>) {
    let (mut add, mut remove) = (Vec::new(), Vec::new());
    for word in text
        .split(|mark: char| mark.is_whitespace() || mark == ',')
        .filter(|word| !word.is_empty())
    {
        match word.strip_prefix('-') {
            Some(tag) if !tag.is_empty() => remove.push(Shared::from(tag)),
            Some(_) => {}
            None => add.push(Shared::from(word.strip_prefix('+').unwrap_or(word))),
        }
    }
    (add, remove)
}

fn tags_text(add: &[Shared], remove: &[Shared]) -> String {
    let off = remove.iter().map(|tag| format!("-{tag}"));
    let mut all: Vec<String> = add.iter().map(ToString::to_string).chain(off).collect();
    if !all.is_empty() {
        all.push(String::new());
    }
    all.join(" ")
}

/// Parses a day (`2027-01-31`), a period from today (`30d`, `8w`, `1y`), `none`, or an empty text
/// (as usual). A past day is an error. Months (`6m`) and `never` are accepted too, but in queries
/// `6m` means minutes.
pub fn until(text: &str, today: Date) -> Result<DraftValue<Date>, String> {
    let text = text.trim();
    match text {
        "" => return Ok(DraftValue::Default),
        "never" | "none" | "-" => return Ok(DraftValue::Empty),
        _ => {}
    }
    let error = || format!("invalid date `{text}`; use 2027-01-31, 30d, 8w, 1y or none");
    let day = match text.parse::<Date>() {
        Ok(day) => day,
        Err(_) => {
            let unit = text.chars().last().ok_or_else(error)?;
            let number: i64 = text[..text.len() - unit.len_utf8()]
                .trim()
                .parse()
                .map_err(|_| error())?;
            let number = number.clamp(0, 9_999);
            let span: Span = match unit {
                'd' => number.days(),
                'w' => number.weeks(),
                'm' => number.months(),
                'y' => number.years(),
                _ => return Err(error()),
            };
            today.checked_add(span).map_err(|_| error())?
        }
    };
    if day < today {
        return Err(format!("{day} is in the past; use a later date"));
    }
    Ok(DraftValue::Set(day))
}

#[cfg(test)]
mod tests {
    use super::*;
    use jiff::civil::date;

    #[test]
    fn until_accepts_day_or_period() {
        let today = date(2026, 11, 21);
        for (text, day) in [
            ("2027-01-31", DraftValue::Set(date(2027, 1, 31))),
            ("30d", DraftValue::Set(date(2026, 12, 21))),
            ("2w", DraftValue::Set(date(2026, 12, 5))),
            ("1y", DraftValue::Set(date(2027, 11, 21))),
            ("never", DraftValue::Empty),
            (" ", DraftValue::Default),
        ] {
            assert_eq!(until(text, today), Ok(day), "{text}");
        }
        for text in ["2026-11-20", "soon", "3", "d", "ä", "2026-13-01"] {
            assert!(until(text, today).is_err(), "{text}");
        }
    }

    #[test]
    fn assignee_is_a_name_me_or_nobody() {
        let own = Shared::from("ann");
        for (text, value) in [
            ("@bob", DraftValue::Set("bob".into())),
            ("me", DraftValue::Set(own.clone())),
            ("nobody", DraftValue::Empty),
            (" ", DraftValue::Default),
        ] {
            assert_eq!(assignee(text, &own), Ok(value), "{text}");
        }
        assert!(assignee(&"b".repeat(500), &own).is_err());
    }

    #[test]
    fn tags_line_adds_and_removes() {
        let shared = |text: &str| Shared::from(text);
        assert_eq!(
            tags("a,+b  -c -"),
            (vec![shared("a"), shared("b")], vec![shared("c")])
        );
    }

    #[test]
    fn backspace_undoes_last_choice() {
        let mut menu = DecideMenu::new(Vec::new(), Vec::new());
        menu.choose(|draft| draft.severity = DraftValue::Set(Risk::Low));
        menu.walk_scope(1);
        menu.walk_scope(-5);
        menu.undo_choice();
        assert_eq!(menu.draft.scope, DecisionScope::ClassOnTarget);
        menu.undo_choice();
        assert!(menu.has_choice());
        menu.undo_choice();
        assert!(!menu.has_choice() && menu.draft == Draft::default());
    }
}
