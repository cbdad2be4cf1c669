//! One key press in a form that compares: terminals report the same key in several ways.
//!
//! `G` arrives as `G`, as shift-`g` or as shift-`G`; backtab with or without shift. Here each is
//! one value, with one spelling (`G`, `shift-tab`, `ctrl-d`, `space`) that [`KeyChord::parse`]
//! reads and `Display` writes.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use std::fmt;

/// A key with its modifiers, normalised.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct KeyChord {
    code: KeyCode,
    modifiers: KeyModifiers,
}

/// Names of the keys that are not a printable character.
const NAMED: &[(&str, KeyCode)] = &[
    ("space", KeyCode::Char(' ')),
    ("enter", KeyCode::Enter),
    ("esc", KeyCode::Esc),
    ("tab", KeyCode::Tab),
    ("shift-tab", KeyCode::BackTab),
    ("backspace", KeyCode::Backspace),
    ("delete", KeyCode::Delete),
    ("up", KeyCode::Up),
    ("down", KeyCode::Down),
    ("left", KeyCode::Left),
    ("right", KeyCode::Right),
    ("home", KeyCode::Home),
    ("end", KeyCode::End),
    ("pgup", KeyCode::PageUp),
    ("pgdn", KeyCode::PageDown),
];

impl KeyChord {
    /// A key without modifiers.
    pub const fn plain(code: KeyCode) -> Self {
        Self {
            code,
            modifiers: KeyModifiers::NONE,
        }
    }

    /// A character.
    pub const fn char(letter: char) -> Self {
        Self::plain(KeyCode::Char(letter))
    }

    /// A character with ctrl.
    pub const fn ctrl(letter: char) -> Self {
        Self {
            code: KeyCode::Char(letter),
            modifiers: KeyModifiers::CONTROL,
        }
    }

    /// The key's code.
    pub fn code(self) -> KeyCode {
        self.code
    }

    /// The character that this key types into a text.
    pub fn typed(self) -> Option<char> {
        match self.code {
            KeyCode::Char(letter) if self.modifiers.is_empty() => Some(letter),
            _ => None,
        }
    }

    /// Parses a key: a character, a name, `f1`, with `ctrl-` or `alt-` before it. None for any
    /// other text.
    pub fn parse(text: &str) -> Option<Self> {
        let mut chars = text.chars();
        if let (Some(letter), None) = (chars.next(), chars.next()) {
            return (!letter.is_whitespace() && !letter.is_control()).then_some(Self::char(letter));
        }
        if let Some(&(_, code)) = NAMED.iter().find(|(name, _)| *name == text) {
            return Some(Self::plain(code));
        }
        if let Some(number) = text.strip_prefix('f').and_then(|rest| rest.parse().ok()) {
            return (1..=12)
                .contains(&number)
                .then_some(Self::plain(KeyCode::F(number)));
        }
        let (modifier, rest) = text.split_once('-')?;
        let mut key = Self::parse(rest)?;
        key.modifiers |= match modifier {
            "ctrl" => KeyModifiers::CONTROL,
            "alt" => KeyModifiers::ALT,
            _ => return None,
        };
        Some(key)
    }
}

impl From<KeyEvent> for KeyChord {
    fn from(event: KeyEvent) -> Self {
        let mut modifiers = event.modifiers & (KeyModifiers::CONTROL | KeyModifiers::ALT);
        let code = match event.code {
            KeyCode::Char('\r' | '\n') => KeyCode::Enter,
            KeyCode::Char(letter)
                if event.modifiers.contains(KeyModifiers::SHIFT) && letter.is_ascii_lowercase() =>
            {
                KeyCode::Char(letter.to_ascii_uppercase())
            }
            KeyCode::Tab if event.modifiers.contains(KeyModifiers::SHIFT) => KeyCode::BackTab,
            code => code,
        };
        // ctrl-J with Caps Lock is ctrl-j: terminals that distinguish them would lose the key
        // otherwise.
        if let (KeyCode::Char(letter), true) = (code, modifiers.contains(KeyModifiers::CONTROL)) {
            return Self {
                code: KeyCode::Char(letter.to_ascii_lowercase()),
                modifiers,
            };
        }
        if code == KeyCode::BackTab {
            modifiers = KeyModifiers::NONE;
        }
        Self { code, modifiers }
    }
}

impl fmt::Display for KeyChord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.modifiers.contains(KeyModifiers::CONTROL) {
            f.write_str("ctrl-")?;
        }
        if self.modifiers.contains(KeyModifiers::ALT) {
            f.write_str("alt-")?;
        }
        if let Some((name, _)) = NAMED.iter().find(|(_, code)| *code == self.code) {
            return f.write_str(name);
        }
        match self.code {
            KeyCode::Char(letter) => write!(f, "{letter}"),
            KeyCode::F(number) => write!(f, "f{number}"),
            other => write!(f, "{other:?}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn printed_key_parses_to_itself() {
        for text in [
            "a",
            "G",
            "?",
            "-",
            "space",
            "shift-tab",
            "ctrl-d",
            "alt-x",
            "ctrl--",
            "f1",
            "pgdn",
            "<",
            "é",
        ] {
            assert_eq!(
                KeyChord::parse(text).map(|key| key.to_string()).as_deref(),
                Some(text)
            );
        }
        for text in ["", "ctrl", "hyper-x", "f13", " ", "ctrl-", "nokey"] {
            assert_eq!(KeyChord::parse(text), None, "{text:?}");
        }
    }

    #[test]
    fn key_has_one_value_in_every_terminal() {
        let event = |code, modifiers| KeyChord::from(KeyEvent::new(code, modifiers));
        for same in [
            event(KeyCode::Char('G'), KeyModifiers::NONE),
            event(KeyCode::Char('G'), KeyModifiers::SHIFT),
            event(KeyCode::Char('g'), KeyModifiers::SHIFT),
        ] {
            assert_eq!(same, KeyChord::char('G'));
        }
        assert_eq!(
            event(KeyCode::BackTab, KeyModifiers::SHIFT),
            event(KeyCode::Tab, KeyModifiers::SHIFT)
        );
        assert_eq!(
            event(
                KeyCode::Char('D'),
                KeyModifiers::CONTROL | KeyModifiers::SHIFT
            ),
            KeyChord::ctrl('d')
        );
    }
}
