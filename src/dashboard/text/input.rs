//! The text input: whatever is typed is typed into one of these. It has tui-textarea's keys, with `ctrl-u` as shells and
//! vim have it.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use tui_textarea::{CursorMove, DataCursor, TextArea};

/// A text that is typed, with a cursor: one line, or several.
#[derive(Clone, Default)]
pub struct TextInput {
    area: TextArea<'static>,
    is_multiline: bool,
}

impl TextInput {
    /// One line, the cursor at its end.
    pub fn line(text: &str) -> Self {
        let mut input = Self::default();
        input.set(text);
        input
    }

    /// One line that is never shown.
    pub fn masked() -> Self {
        let mut input = Self::default();
        input.area.set_mask_char('•');
        input
    }

    /// Several lines, the cursor at their beginning.
    pub fn lines(text: &str) -> Self {
        Self { area: TextArea::from(text.lines()), is_multiline: true }
    }

    /// What is typed.
    pub fn text(&self) -> String {
        match self.is_multiline {
            true => self.area.lines().join("\n"),
            false => self.rows().first().cloned().unwrap_or_default(),
        }
    }

    /// What is typed, line by line; never empty.
    pub fn rows(&self) -> &[String] {
        self.area.lines()
    }

    /// Line and column of the cursor, in characters.
    pub fn cursor(&self) -> (usize, usize) {
        let DataCursor(row, column) = self.area.cursor();
        (row, column)
    }

    /// The line with the cursor.
    pub fn row(&self) -> &str {
        self.rows().get(self.cursor().0).map(String::as_str).unwrap_or_default()
    }

    /// The line with the cursor, up to it.
    pub fn row_before_cursor(&self) -> &str {
        let row = self.row();
        row.char_indices().nth(self.cursor().1).map_or(row, |(at, _)| &row[..at])
    }

    /// The character that is shown in place of each typed one.
    pub fn mask(&self) -> Option<char> {
        self.area.mask_char()
    }

    /// Whether it takes several lines.
    pub fn is_multiline(&self) -> bool {
        self.is_multiline
    }

    /// Replaces the text, the cursor at its end. One line takes the first one.
    pub fn set(&mut self, text: &str) {
        let mask = self.mask();
        self.area = TextArea::from(text.lines().take(if self.is_multiline { usize::MAX } else { 1 }));
        self.area.move_cursor(CursorMove::Bottom);
        self.area.move_cursor(CursorMove::End);
        if let Some(mask) = mask {
            self.area.set_mask_char(mask);
        }
    }

    /// Replaces the text by these two, the cursor between them.
    pub fn set_around_cursor(&mut self, before: &str, after: &str) {
        self.set(&[before, after].concat());
        let column = u16::try_from(before.chars().count()).unwrap_or(u16::MAX);
        self.area.move_cursor(CursorMove::Jump(0, column));
    }

    /// Types a key; whether the text changed.
    pub fn type_key(&mut self, event: KeyEvent) -> bool {
        if event.code == KeyCode::Char('u') && event.modifiers == KeyModifiers::CONTROL {
            return self.area.delete_line_by_head();
        }
        self.area.input(event)
    }

    /// Puts pasted text in at the cursor, into one line with single blanks.
    pub fn paste(&mut self, text: &str) {
        if self.is_multiline {
            self.area.insert_str(text.replace("\r\n", "\n").replace('\r', "\n"));
            return;
        }
        // A blank before it keeps it apart from the word that it is put behind.
        let behind_word = self.row_before_cursor().ends_with(|letter: char| !letter.is_whitespace());
        if behind_word && text.starts_with(char::is_whitespace) {
            self.area.insert_char(' ');
        }
        self.area.insert_str(text.split_whitespace().collect::<Vec<_>>().join(" "));
    }

    /// Replaces the text by that of the editor.
    pub fn set_edited(&mut self, text: &str) {
        self.set("");
        self.paste(text.trim_end_matches('\n'));
    }

    /// Breaks the line at the cursor.
    pub fn break_line(&mut self) {
        self.area.insert_newline();
    }

    /// Moves to the next line, or the one before; false at the last one, and in one line.
    pub fn walk_rows(&mut self, by: isize) -> bool {
        let before = self.cursor().0;
        if self.is_multiline {
            self.area.move_cursor(if by < 0 { CursorMove::Up } else { CursorMove::Down });
        }
        self.cursor().0 != before
    }
}

impl std::fmt::Debug for TextInput {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.mask() {
            // What is masked is a secret.
            Some(_) => f.write_str("TextInput(•••)"),
            None => f.debug_tuple("TextInput").field(&self.rows()).finish(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ctrl_u_clears_up_to_the_cursor() {
        let mut input = TextInput::line("http://x");
        assert!(input.type_key(KeyEvent::new(KeyCode::Char('u'), KeyModifiers::CONTROL)));
        assert_eq!(input.rows(), [""]);
    }

    #[test]
    fn pasted_lines_stay_lines_only_where_lines_are_typed() {
        let pasted = |mut input: TextInput, text| {
            input.paste(text);
            input.text()
        };
        assert_eq!(pasted(TextInput::line("a "), " b\r\nc\n"), "a b c");
        assert_eq!(pasted(TextInput::line("a"), " b"), "a b");
        assert_eq!(pasted(TextInput::line(""), " b"), "b");
        assert_eq!(pasted(TextInput::lines(""), "b\r\nc\rd"), "b\nc\nd");
    }

    #[test]
    fn masked_text_is_never_printed() {
        let mut input = TextInput::masked();
        input.set("secret");
        assert_eq!((format!("{input:?}").as_str(), input.text().as_str()), ("TextInput(•••)", "secret"));
    }
}
