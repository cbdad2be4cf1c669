//! The key map: read from TOML, refused where two actions share a key, looked up by layers, printed
//! as footer, help and Markdown.

use crate::input::action::Action;
use crate::input::sequence::printed;
use crate::input::{Context, CustomAction, KeyChord, KeySequence};
use std::collections::HashMap;
use std::sync::{Arc, LazyLock};

/// The default key map.
const BUILTIN: &str = include_str!("../../assets/keymap.toml");

/// An action with its keys in one context.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    pub context: Context,
    pub action: Action,
    /// The first one is shown in the footer; none if the configuration unbound the action.
    pub keys: Vec<KeySequence>,
}

/// A key of the footer with its label.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyHint {
    pub key: String,
    /// One or two words.
    pub label: &'static str,
    /// To find out whether it is off at the moment.
    pub action: Action,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HelpSection {
    pub context: Context,
    pub title: String,
    /// Actions with their keys as printed, and descriptions.
    pub lines: Vec<(Action, Vec<String>, &'static str)>,
}

/// Why a key map is invalid.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum KeymapError {
    #[error("key table is not valid TOML: {0}")]
    Toml(String),
    #[error("unknown context [keys.{0}]")]
    Place(String),
    #[error("[keys.{place}]: unknown action {action:?}")]
    Action { place: &'static str, action: String },
    #[error("[keys.{place}] {action}: invalid key {key:?}")]
    Key {
        place: &'static str,
        action: &'static str,
        key: String,
    },
    #[error("[keys.{place}] {action}: {key:?}: this context accepts one key only")]
    Single {
        place: &'static str,
        action: &'static str,
        key: String,
    },
    #[error("[keys.{place}] {action}: {key:?} is a character that is typed in this context")]
    Typed {
        place: &'static str,
        action: &'static str,
        key: String,
    },
    #[error("in context {place}, key {key} is assigned to both {first} and {second}")]
    Twice {
        place: &'static str,
        key: String,
        first: &'static str,
        second: &'static str,
    },
    #[error(
        "[keys.{place}]: {keys:?} of {second} and {others:?} of {first}: one begins with the other"
    )]
    Overlap {
        place: &'static str,
        keys: String,
        others: String,
        first: &'static str,
        second: &'static str,
    },
    #[error("[keys.{place}] {action}: ctrl-c always cancels and cannot be assigned")]
    Reserved {
        place: &'static str,
        action: &'static str,
    },
    #[error("[[commands]]{}: {why}", if name.is_empty() { String::new() } else { format!(" {name:?}") })]
    Command {
        name: String,
        why: String,
        hint: &'static str,
    },
}

/// The key map.
#[derive(Clone, Debug, Default)]
pub struct Keymap {
    entries: Vec<Entry>,
    by_key: HashMap<(Context, KeySequence), Action>,
}

/// The meaning of a key after the keys of a sequence that was begun.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyStep {
    Action(Action),
    /// A sequence continues.
    Partial,
    Unknown,
}

impl Keymap {
    /// The default key map. A test holds that it can be read.
    pub fn builtin() -> Arc<Self> {
        static KEYMAP: LazyLock<Arc<Keymap>> =
            LazyLock::new(|| Arc::new(Keymap::parse(BUILTIN).unwrap_or_default()));
        Arc::clone(&KEYMAP)
    }

    /// Reads a table.
    ///
    /// # Errors
    /// The text is not TOML, names an unknown context, action or key, or has a key twice in one
    /// context.
    pub fn parse(text: &str) -> Result<Self, KeymapError> {
        type Raw = HashMap<String, toml::Table>;
        let raw: Raw =
            toml::from_str(text).map_err(|error| KeymapError::Toml(error.message().to_owned()))?;
        if let Some(unknown) = raw.keys().find(|name| Context::named(name).is_none()) {
            return Err(KeymapError::Place(unknown.clone()));
        }
        let mut keymap = Self::default();
        for context in Context::ALL {
            for (name, keys) in raw.get(context.name()).into_iter().flatten() {
                keymap.add(context, name, keys)?;
            }
        }
        Ok(keymap)
    }

    fn add(&mut self, context: Context, name: &str, keys: &toml::Value) -> Result<(), KeymapError> {
        let place = context.name();
        let action = Action::named(name).ok_or_else(|| KeymapError::Action {
            place,
            action: name.to_owned(),
        })?;
        let bad = |key: String| KeymapError::Key {
            place,
            action: action.name(),
            key,
        };
        self.entries.push(Entry {
            context,
            action,
            keys: Vec::new(),
        });
        for key in keys.as_array().ok_or_else(|| bad(keys.to_string()))? {
            let sequence = key
                .as_str()
                .and_then(KeySequence::parse)
                .ok_or_else(|| bad(key.to_string()))?;
            self.bind(context, action, sequence)?;
        }
        Ok(())
    }

    /// The key map of these entries, whose keys have one meaning each.
    pub(super) fn of(entries: Vec<Entry>) -> Self {
        let of_entry = |entry: &Entry| {
            let (context, action) = (entry.context, entry.action);
            entry
                .keys
                .iter()
                .map(move |keys| ((context, keys.clone()), action))
                .collect::<Vec<_>>()
        };
        Self {
            by_key: entries.iter().flat_map(of_entry).collect(),
            entries,
        }
    }

    /// Every entry, in the order of the table.
    pub fn all(&self) -> &[Entry] {
        &self.entries
    }

    /// Adds an action that has no keys yet.
    pub(super) fn push(&mut self, entry: Entry) {
        self.entries.push(entry);
    }

    /// The names of the commands of the configuration.
    pub fn custom_names(&self) -> Vec<&str> {
        let custom = self
            .entries
            .iter()
            .filter_map(|entry| entry.action.try_as_custom());
        let mut names: Vec<&str> = custom
            .map(|custom| custom.command().name.as_str())
            .collect();
        names.dedup();
        names
    }

    /// The command of the configuration with this name.
    pub fn custom(&self, name: &str) -> Option<CustomAction> {
        let custom = self
            .entries
            .iter()
            .filter_map(|entry| entry.action.try_as_custom());
        custom
            .into_iter()
            .find(|custom| custom.command().name == name)
    }

    /// Adds keys to the entry of an action.
    ///
    /// # Errors
    /// When another action of the context has these keys, or one of both sequences begins with the
    /// other.
    pub(super) fn bind(
        &mut self,
        context: Context,
        action: Action,
        keys: KeySequence,
    ) -> Result<(), KeymapError> {
        for other in self.entries(context).filter(|other| other.action != action) {
            let overlaps = |others: &&KeySequence| {
                others.starts_with(keys.keys()) || keys.starts_with(others.keys())
            };
            if let Some(others) = other.keys.iter().find(overlaps) {
                let (place, first, second) = (context.name(), other.action.name(), action.name());
                if *others == keys {
                    return Err(KeymapError::Twice {
                        place,
                        key: keys.to_string(),
                        first,
                        second,
                    });
                }
                let (keys, others) = (keys.setting(), others.setting());
                return Err(KeymapError::Overlap {
                    place,
                    keys,
                    others,
                    first,
                    second,
                });
            }
        }
        self.by_key.insert((context, keys.clone()), action);
        let mut entries = self.entries.iter_mut();
        if let Some(entry) =
            entries.find(|entry| entry.context == context && entry.action == action)
        {
            entry.keys.push(keys);
        }
        Ok(())
    }

    /// The action of a key in the innermost of these contexts that has it.
    pub fn action(&self, contexts: &[Context], key: KeyChord) -> Option<Action> {
        match self.step(contexts, &[], key) {
            KeyStep::Action(action) => Some(action),
            KeyStep::Partial | KeyStep::Unknown => None,
        }
    }

    /// The meaning of a key after `typed`, in the innermost of these contexts that has one.
    pub fn step(&self, contexts: &[Context], typed: &[KeyChord], key: KeyChord) -> KeyStep {
        let keys = [typed, &[key]].concat();
        let sequence = KeySequence::from(keys.clone());
        for &context in contexts {
            if let Some(&action) = self.by_key.get(&(context, sequence.clone())) {
                return KeyStep::Action(action);
            }
            if self
                .entries(context)
                .flat_map(|entry| &entry.keys)
                .any(|sequence| sequence.starts_with(&keys))
            {
                return KeyStep::Partial;
            }
        }
        KeyStep::Unknown
    }

    /// The keys that can follow those of a sequence, with the words of their actions.
    pub fn continuations(&self, contexts: &[Context], typed: &[KeyChord]) -> Vec<KeyHint> {
        let entries = contexts.iter().flat_map(|&context| self.entries(context));
        let next = |entry: &Entry| {
            let following = entry
                .keys
                .iter()
                .filter(|keys| keys.starts_with(typed) && keys.keys().len() > typed.len());
            let short = entry.action.short_in(entry.context);
            let label = if short.is_empty() {
                entry.action.describe_in(entry.context)
            } else {
                short
            };
            let hint = |keys: &KeySequence| KeyHint {
                key: printed(&keys.keys()[typed.len()..]),
                label,
                action: entry.action,
            };
            following.map(hint).collect::<Vec<_>>()
        };
        entries.flat_map(next).collect()
    }

    /// The entries of one context, in the order of the table.
    pub fn entries(&self, context: Context) -> impl Iterator<Item = &Entry> {
        self.entries
            .iter()
            .filter(move |entry| entry.context == context)
    }

    /// The contexts of the entries of an action, in the order of the table.
    pub fn contexts_of(&self, action: Action) -> impl Iterator<Item = Context> {
        let of_action = self
            .entries
            .iter()
            .filter(move |entry| entry.action == action);
        of_action.map(|entry| entry.context)
    }

    /// The first key of an action in a context, as printed.
    pub fn key_of(&self, context: Context, action: Action) -> Option<String> {
        self.entries(context)
            .find(|entry| entry.action == action)?
            .keys
            .first()
            .map(KeySequence::to_string)
    }

    /// The key of an action for a sentence, with the keys before it: of this context, else of all
    /// lists, else of every place; without a key its command.
    pub fn label(&self, context: Context, action: Action) -> String {
        let contexts = [context, Context::Lists, Context::Everywhere];
        let key = contexts.into_iter().find_map(|context| {
            let keys = self
                .entries(context)
                .find(|entry| entry.action == action)?
                .keys
                .first()?;
            Some(printed(self.prefix(context)?.iter().chain(keys.keys())))
        });
        key.unwrap_or_else(|| format!(":{}", action.command()))
    }

    /// The keys of an action in a context as printed, with the keys before them.
    pub fn keys_of(&self, context: Context, action: Action) -> Vec<String> {
        let entry = self.entries(context).find(|entry| entry.action == action);
        entry
            .map(|entry| self.printed_keys(entry))
            .unwrap_or_default()
    }

    /// The keys after which those of a context are waited for; `None` if no key leads there.
    pub(crate) fn prefix(&self, context: Context) -> Option<Vec<KeyChord>> {
        let Some((place, action)) = context.opened_by() else {
            return Some(Vec::new());
        };
        let opening = self
            .entries(place)
            .find(|entry| entry.action == action)?
            .keys
            .first()?;
        Some([self.prefix(place)?.as_slice(), opening.keys()].concat())
    }

    /// The heading of a context.
    pub fn title(&self, context: Context) -> String {
        let prefix = self
            .prefix(context)
            .map_or_else(|| "(no key)".to_owned(), |keys| printed(&keys));
        context.title().replace("{}", &prefix)
    }

    /// Whether one of these inner contexts has the first key of an action, alone or at the start of
    /// a sequence.
    pub fn is_shadowed(&self, inner: &[Context], context: Context, action: Action) -> bool {
        let entry = self.entries(context).find(|entry| entry.action == action);
        let Some(keys) = entry.and_then(|entry| entry.keys.first()) else {
            return false;
        };
        let mut others = inner
            .iter()
            .flat_map(|&context| self.entries(context))
            .flat_map(|entry| &entry.keys);
        others.any(|of| of.starts_with(keys.keys()))
    }

    /// The footer of one context, in the order of the key map: actions with a short label.
    pub fn hints(&self, context: Context) -> Vec<KeyHint> {
        self.entries(context)
            .filter(|entry| !entry.action.short().is_empty())
            .filter_map(|entry| {
                let key = entry.keys.first()?.to_string();
                Some(KeyHint {
                    key,
                    label: entry.action.short_in(context),
                    action: entry.action,
                })
            })
            .collect()
    }

    /// The help: a section per context.
    pub fn help(&self) -> Vec<HelpSection> {
        Context::ALL
            .into_iter()
            .map(|context| HelpSection {
                context,
                title: self.title(context),
                lines: self.help_lines(context),
            })
            .filter(|section| !section.lines.is_empty())
            .collect()
    }

    fn help_lines(&self, context: Context) -> Vec<(Action, Vec<String>, &'static str)> {
        let line = |entry: &Entry| {
            (
                entry.action,
                self.printed_keys(entry),
                entry.action.describe_in(context),
            )
        };
        self.entries(context)
            .map(line)
            .filter(|(_, keys, _)| !keys.is_empty())
            .collect()
    }

    /// The keys of an entry as printed, with those before them.
    fn printed_keys(&self, entry: &Entry) -> Vec<String> {
        let Some(prefix) = self.prefix(entry.context) else {
            return Vec::new();
        };
        entry
            .keys
            .iter()
            .map(|keys| printed(prefix.iter().chain(keys.keys())))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::action::MoveAction;

    #[test]
    fn default_key_map_is_valid() {
        let keymap = Keymap::parse(BUILTIN).unwrap();
        assert_eq!(
            keymap.action(&[Context::Lists, Context::Everywhere], KeyChord::char('j')),
            Some(Action::Move(MoveAction::Down))
        );
    }

    #[test]
    fn action_has_a_key() {
        let keymap = Keymap::builtin();
        for &action in Action::ALL {
            assert!(
                keymap.entries.iter().any(|entry| entry.action == action),
                "{action:?}"
            );
        }
    }

    #[test]
    fn pane_hides_no_key_of_lower_layers() {
        let keymap = Keymap::builtin();
        let panes = [
            Context::Workspaces,
            Context::Targets,
            Context::Findings,
            Context::Scans,
            Context::Loggers,
            Context::Captures,
            Context::Payloads,
            Context::Reports,
            Context::Wordlists,
            Context::Schedules,
            Context::Activity,
        ];
        for pane in panes {
            for under in [Context::Lists, Context::Text, Context::Everywhere] {
                for keys in keymap.entries(pane).flat_map(|entry| &entry.keys) {
                    let key = keys.keys()[0];
                    assert_eq!(
                        keymap.action(&[under], key),
                        None,
                        "{key} of {pane:?} hides that of {under:?}"
                    );
                }
            }
        }
    }

    #[test]
    fn invalid_key_map_is_refused_with_the_context() {
        for (table, word) in [
            ("[lists]\ndown = ['j']\nup = ['j']", "both"),
            ("[lists]\ndown = ['hyper-j']", "invalid key"),
            ("[lists]\nfly = ['j']", "fly"),
            ("[moon]\ndown = ['j']", "moon"),
            ("[lists", "TOML"),
            ("[lists]\ndown = 'j'", "invalid key"),
        ] {
            let error = Keymap::parse(table).unwrap_err().to_string();
            assert!(error.contains(word), "{error}");
        }
    }

    #[test]
    fn help_lists_every_key_in_the_section_of_its_context() {
        let help = Keymap::builtin().help();
        let keys_of = |context| {
            help.iter()
                .find(|section| section.context == context)
                .unwrap()
                .lines
                .iter()
        };
        assert!(keys_of(Context::Copy).any(|(_, keys, _)| *keys == ["yc"]));
        assert!(keys_of(Context::Lists).any(|(_, keys, _)| *keys == ["j", "down"]));
    }

    #[test]
    fn footer_has_the_order_of_the_key_map() {
        let hints = Keymap::builtin().hints(Context::Scans);
        let hints: Vec<_> = hints
            .iter()
            .map(|hint| (hint.key.as_str(), hint.label))
            .collect();
        let first = [
            ("s", "repeat"),
            ("n", "new"),
            ("S", "stop"),
            ("R", "report"),
            ("D", "delete"),
        ];
        assert_eq!(hints[..first.len()], first);
    }
}
