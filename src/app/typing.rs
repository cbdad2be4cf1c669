//! One key typed into a text field, whichever it is: tui-textarea's keys, with `ctrl-u` as shells and vim have it.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use tui_textarea::TextArea;

/// Types a key; whether the text changed.
pub(super) fn type_key(input: &mut TextArea<'_>, event: KeyEvent) -> bool {
    if event.code == KeyCode::Char('u') && event.modifiers == KeyModifiers::CONTROL {
        return input.delete_line_by_head();
    }
    input.input(event)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ctrl_u_clears_up_to_the_cursor() {
        let mut input = TextArea::from(["http://x"]);
        input.move_cursor(tui_textarea::CursorMove::End);
        assert!(type_key(&mut input, KeyEvent::new(KeyCode::Char('u'), KeyModifiers::CONTROL)));
        assert_eq!(input.lines(), [""]);
    }
}
