//! The key map: read from TOML, looked up by layers, printed as footer, help and Markdown.

use crate::dashboard::input::action::Action;
use crate::dashboard::input::{Context, KeyChord};
use std::collections::HashMap;
use std::sync::{Arc, LazyLock};

/// The default key map.
const BUILTIN: &str = include_str!("../../../assets/keymap.toml");

/// An action with its keys in one context.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    pub context: Context,
    pub action: Action,
    /// The first one is shown in the footer.
    pub keys: Vec<KeyChord>,
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

/// One section of the help.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HelpSection {
    pub context: Context,
    /// Keys as printed, with descriptions.
    pub lines: Vec<(String, &'static str)>,
}

/// Why a key map is invalid.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum KeymapError {
    #[error("key table is not valid TOML: {0}")]
    Toml(String),
    #[error("key table: unknown section [{0}]")]
    Place(String),
    #[error("[{place}]: unknown action {action:?}")]
    Action { place: &'static str, action: String },
    #[error("[{place}] {action}: invalid key {key:?}")]
    Key { place: &'static str, action: &'static str, key: String },
    #[error("[{place}]: key {key} is assigned to both {first} and {second}")]
    Twice { place: &'static str, key: String, first: &'static str, second: &'static str },
}

/// The key map.
#[derive(Debug, Default)]
pub struct Keymap {
    entries: Vec<Entry>,
    by_key: HashMap<(Context, KeyChord), Action>,
}

impl Keymap {
    /// The default key map. A test holds that it can be read.
    pub fn builtin() -> Arc<Self> {
        static KEYMAP: LazyLock<Arc<Keymap>> = LazyLock::new(|| Arc::new(Keymap::parse(BUILTIN).unwrap_or_default()));
        Arc::clone(&KEYMAP)
    }

    /// Reads a table.
    ///
    /// # Errors
    /// The text is not TOML, names an unknown context, action or key, or has a key twice in one context.
    pub fn parse(text: &str) -> Result<Self, KeymapError> {
        type Raw = HashMap<String, toml::Table>;
        let raw: Raw = toml::from_str(text).map_err(|error| KeymapError::Toml(error.message().to_owned()))?;
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
        let action = Action::named(name).ok_or_else(|| KeymapError::Action { place, action: name.to_owned() })?;
        let bad = |key: String| KeymapError::Key { place, action: action.name(), key };
        let mut entry = Entry { context, action, keys: Vec::new() };
        for key in keys.as_array().ok_or_else(|| bad(keys.to_string()))? {
            let text = key.as_str().unwrap_or_default();
            let key = KeyChord::parse(text).ok_or_else(|| bad(key.to_string()))?;
            if let Some(first) = self.by_key.insert((context, key), action) {
                let (key, first, second) = (key.to_string(), first.name(), action.name());
                return Err(KeymapError::Twice { place, key, first, second });
            }
            entry.keys.push(key);
        }
        self.entries.push(entry);
        Ok(())
    }

    /// The action of a key in the innermost of these contexts that has it.
    pub fn action(&self, contexts: &[Context], key: KeyChord) -> Option<Action> {
        contexts.iter().find_map(|&context| self.by_key.get(&(context, key)).copied())
    }

    /// The entries of one context, in the order of the table.
    pub fn entries(&self, context: Context) -> impl Iterator<Item = &Entry> {
        self.entries.iter().filter(move |entry| entry.context == context)
    }

    /// The first key of an action in a context, as printed.
    pub fn key_of(&self, context: Context, action: Action) -> Option<String> {
        self.entries(context).find(|entry| entry.action == action)?.keys.first().map(KeyChord::to_string)
    }

    /// The key of an action for a sentence, with the keys before it: of this context, else of all lists, else of every
    /// place; without a key its command.
    pub fn label(&self, context: Context, action: Action) -> String {
        let contexts = [context, Context::Lists, Context::Everywhere];
        let key = contexts.into_iter().find_map(|context| {
            let key = self.key_of(context, action)?;
            Some(context.prefix().map_or_else(|| key.clone(), |before| format!("{before} {key}")))
        });
        key.unwrap_or_else(|| format!(":{}", action.command()))
    }

    /// The footer of one context, in the order of the key map: actions with a short label.
    pub fn hints(&self, context: Context) -> Vec<KeyHint> {
        self.entries(context)
            .filter(|entry| !entry.action.short().is_empty())
            .filter_map(|entry| {
                let key = entry.keys.first()?.to_string();
                Some(KeyHint { key, label: entry.action.short_in(context), action: entry.action })
            })
            .collect()
    }

    /// The help: a section per context.
    pub fn help(&self) -> Vec<HelpSection> {
        Context::ALL
            .into_iter()
            .map(|context| HelpSection { context, lines: self.help_lines(context) })
            .filter(|section| !section.lines.is_empty())
            .collect()
    }

    fn help_lines(&self, context: Context) -> Vec<(String, &'static str)> {
        self.entries(context).map(|entry| (printed(entry), entry.action.describe_in(context))).collect()
    }
}

/// The keys of an entry as printed, with the first key of the sequence where it is one.
fn printed(entry: &Entry) -> String {
    let key = |key: &KeyChord| match entry.context.prefix() {
        Some(first) => format!("{first}{key}"),
        None => key.to_string(),
    };
    entry.keys.iter().map(key).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dashboard::input::action::MoveAction;

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
            assert!(keymap.entries.iter().any(|entry| entry.action == action), "{action:?}");
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
        ];
        for pane in panes {
            for under in [Context::Lists, Context::Text, Context::Everywhere] {
                for key in keymap.entries(pane).flat_map(|entry| &entry.keys) {
                    assert_eq!(keymap.action(&[under], *key), None, "{key} of {pane:?} hides that of {under:?}");
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
        let keys_of = |context| help.iter().find(|section| section.context == context).unwrap().lines.iter();
        assert!(keys_of(Context::Copy).any(|(keys, _)| keys == "yc"));
        assert!(keys_of(Context::Lists).any(|(keys, _)| keys == "j down"));
    }

    #[test]
    fn footer_has_the_order_of_the_key_map() {
        let hints = Keymap::builtin().hints(Context::Scans);
        let hints: Vec<_> = hints.iter().map(|hint| (hint.key.as_str(), hint.label)).collect();
        let first = [("s", "repeat"), ("n", "new"), ("S", "stop"), ("R", "report"), ("D", "delete")];
        assert_eq!(hints[..first.len()], first);
    }
}
