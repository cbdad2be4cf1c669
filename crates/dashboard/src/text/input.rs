//! The text input of forms, filters and the command line. It has the keys of tui-textarea, with
//! `ctrl-u` as in shells and vim.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use tui_textarea::{CursorMove, DataCursor, TextArea};

/// The key that deletes the text before the cursor.
pub const CLEAR_KEY: &str = "ctrl-u";

/// A text with a cursor, of one line or several.
#[derive(Clone, Default)]
pub struct TextInput {
    area: TextArea<'static>,
    is_multiline: bool,
    /// The next typed or pasted text replaces the text.
    is_preset: bool,
}

impl TextInput {
    /// One line, with the cursor at its end.
    pub fn line(text: &str) -> Self {
        let mut input = Self::default();
        input.set(text);
        input
    }

    /// One line with a usual value, which the first typed or pasted text replaces; any other key
    /// edits it.
    pub fn preset(text: &str) -> Self {
        Self {
            is_preset: true,
            ..Self::line(text)
        }
    }

    /// One line that is shown masked.
    pub fn masked() -> Self {
        let mut input = Self::default();
        input.area.set_mask_char('•');
        input
    }

    /// Several lines, with the cursor at their beginning.
    pub fn lines(text: &str) -> Self {
        Self {
            area: TextArea::from(text.lines()),
            is_multiline: true,
            ..Self::default()
        }
    }

    pub fn text(&self) -> String {
        match self.is_multiline {
            true => self.area.lines().join("\n"),
            false => self.rows().first().cloned().unwrap_or_default(),
        }
    }

    /// The lines of the text; never empty.
    pub fn rows(&self) -> &[String] {
        self.area.lines()
    }

    /// Line and column of the cursor, in characters.
    pub fn cursor(&self) -> (usize, usize) {
        let DataCursor(row, column) = self.area.cursor();
        (row, column)
    }

    /// The line of the cursor.
    pub fn row(&self) -> &str {
        self.rows()
            .get(self.cursor().0)
            .map(String::as_str)
            .unwrap_or_default()
    }

    /// The line of the cursor, up to the cursor.
    pub fn row_before_cursor(&self) -> &str {
        let row = self.row();
        row.char_indices()
            .nth(self.cursor().1)
            .map_or(row, |(at, _)| &row[..at])
    }

    /// The character that is shown for each typed character.
    pub fn mask(&self) -> Option<char> {
        self.area.mask_char()
    }

    pub fn is_multiline(&self) -> bool {
        self.is_multiline
    }

    /// Replaces the text and moves the cursor to its end. A one-line input takes the first line.
    pub fn set(&mut self, text: &str) {
        self.is_preset = false;
        let mask = self.mask();
        self.area =
            TextArea::from(
                text.lines()
                    .take(if self.is_multiline { usize::MAX } else { 1 }),
            );
        self.move_to_end();
        if let Some(mask) = mask {
            self.area.set_mask_char(mask);
        }
    }

    pub fn move_to_end(&mut self) {
        self.area.move_cursor(CursorMove::Bottom);
        self.area.move_cursor(CursorMove::End);
    }

    /// Begins a new line below the text, if the last line has text.
    pub fn start_line(&mut self) {
        self.move_to_end();
        if self.is_multiline && !self.row().is_empty() {
            self.area.insert_newline();
        }
    }

    /// Replaces the text by `before` and `after`, with the cursor between them.
    pub fn set_around_cursor(&mut self, before: &str, after: &str) {
        self.set(&[before, after].concat());
        let column = u16::try_from(before.chars().count()).unwrap_or(u16::MAX);
        self.area.move_cursor(CursorMove::Jump(0, column));
    }

    /// Types a key. Returns whether the text changed.
    pub fn type_key(&mut self, event: KeyEvent) -> bool {
        if event.code == KeyCode::Char('u') && event.modifiers == KeyModifiers::CONTROL {
            return self.area.delete_line_by_head();
        }
        let types = matches!(event.code, KeyCode::Char(_))
            && (event.modifiers - KeyModifiers::SHIFT).is_empty();
        if std::mem::take(&mut self.is_preset) && types {
            self.set("");
        }
        self.area.input(event)
    }

    /// Inserts pasted text at the cursor; a one-line input joins its lines with single blanks.
    pub fn paste(&mut self, text: &str) {
        if std::mem::take(&mut self.is_preset) {
            self.set("");
        }
        if self.is_multiline {
            self.area
                .insert_str(text.replace("\r\n", "\n").replace('\r', "\n"));
            return;
        }
        // A leading blank separates the pasted text from the word before it.
        let behind_word = self
            .row_before_cursor()
            .ends_with(|letter: char| !letter.is_whitespace());
        if behind_word && text.starts_with(char::is_whitespace) {
            self.area.insert_char(' ');
        }
        self.area
            .insert_str(text.split_whitespace().collect::<Vec<_>>().join(" "));
    }

    /// Replaces the text by the text from the editor.
    pub fn set_edited(&mut self, text: &str) {
        self.set("");
        self.paste(text.trim_end_matches('\n'));
    }

    /// Breaks the line at the cursor.
    pub fn break_line(&mut self) {
        self.area.insert_newline();
    }

    /// Whether there is a next or a previous line.
    pub fn has_row(&self, by: isize) -> bool {
        self.cursor()
            .0
            .checked_add_signed(by)
            .is_some_and(|row| row < self.rows().len())
    }

    /// Moves to the next or the previous line.
    pub fn walk_rows(&mut self, by: isize) {
        self.area.move_cursor(if by < 0 {
            CursorMove::Up
        } else {
            CursorMove::Down
        });
    }
}

impl std::fmt::Debug for TextInput {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.mask() {
            // A masked text is a secret.
            Some(_) => f.write_str("TextInput(•••)"),
            None => f.debug_tuple("TextInput").field(&self.rows()).finish(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ctrl_u_deletes_up_to_cursor() {
        let mut input = TextInput::line("http://x");
        assert!(input.type_key(KeyEvent::new(KeyCode::Char('u'), KeyModifiers::CONTROL)));
        assert_eq!(input.rows(), [""]);
    }

    #[test]
    fn typed_or_pasted_text_replaces_preset_and_other_keys_edit_it() {
        let key = |code| KeyEvent::new(code, KeyModifiers::NONE);
        let typed = |codes: &[KeyCode]| {
            let mut input = TextInput::preset("1-65535");
            codes.iter().for_each(|&code| _ = input.type_key(key(code)));
            input.text()
        };
        assert_eq!(typed(&[KeyCode::Char('8'), KeyCode::Char('0')]), "80");
        assert_eq!(typed(&[KeyCode::Backspace, KeyCode::Char('4')]), "1-65534");
        assert_eq!(typed(&[KeyCode::Home, KeyCode::Char('2')]), "21-65535");
        let mut input = TextInput::preset("1-65535");
        input.paste("80-90");
        assert_eq!(input.text(), "80-90");
    }

    #[test]
    fn pasted_lines_remain_only_in_multiline_input() {
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
    fn debug_output_of_masked_input_hides_text() {
        let mut input = TextInput::masked();
        input.set("secret");
        assert_eq!(
            (format!("{input:?}").as_str(), input.text().as_str()),
            ("TextInput(•••)", "secret")
        );
    }
}
