//! The line of key hints: `s scan  n new  ? keys`. What has no room is left out whole, from the end.

use crate::dashboard::ui::Theme;
use crate::text;
use ratatui::text::{Line, Span};

/// A key with what it does. `off` hints are dim: the action is known, and not possible now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hint {
    pub keys: String,
    pub does: String,
    pub off: bool,
}

impl Hint {
    /// A hint for something that can be done.
    pub fn new(keys: impl Into<String>, does: impl Into<String>) -> Self {
        Self { keys: keys.into(), does: does.into(), off: false }
    }

    fn width(&self) -> usize {
        text::width(&self.keys) + 1 + text::width(&self.does)
    }
}

/// As many hints as fit into `width` columns. `last` ones stand at the end and are given room first.
pub fn hint_line(theme: Theme, hints: &[Hint], last: &[Hint], width: u16) -> Line<'static> {
    const GAP: usize = 2;
    let room = usize::from(width);
    let fits = |taken: usize, hint: &Hint| taken + hint.width() + if taken == 0 { 0 } else { GAP } <= room;
    let mut used = 0;
    let mut kept_last = Vec::new();
    for hint in last {
        if fits(used, hint) {
            used += hint.width() + if used == 0 { 0 } else { GAP };
            kept_last.push(hint);
        }
    }
    let mut line = Line::default();
    for hint in hints {
        if !fits(used, hint) {
            break;
        }
        used += hint.width() + if used == 0 { 0 } else { GAP };
        push(theme, &mut line, hint);
    }
    kept_last.into_iter().for_each(|hint| push(theme, &mut line, hint));
    line
}

fn push(theme: Theme, line: &mut Line<'static>, hint: &Hint) {
    if !line.spans.is_empty() {
        line.push_span(Span::raw("  "));
    }
    let (key, word) = if hint.off { (theme.dim(), theme.dim()) } else { (theme.key(), theme.text()) };
    line.push_span(Span::styled(hint.keys.clone(), key));
    line.push_span(Span::styled(format!(" {}", hint.does), word));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hints_are_left_out_whole_and_the_last_ones_stay() {
        let hints = [Hint::new("s", "scan"), Hint::new("n", "new"), Hint::new("D", "delete")];
        let last = [Hint::new("?", "keys")];
        let text = |width| hint_line(Theme::default(), &hints, &last, width).to_string();
        assert_eq!(text(40), "s scan  n new  D delete  ? keys");
        assert_eq!(text(22), "s scan  n new  ? keys");
        assert_eq!((text(8).as_str(), text(3).as_str()), ("? keys", ""));
    }
}
