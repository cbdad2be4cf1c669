//! The line of key hints: `s scan  n new  ? keys`. Hints without room are omitted as a whole, from
//! the end.

use crate::ui::Theme;
use ratatui::text::{Line, Span};
use scandeck_wire::text;

/// A key with the label of its action. Hints that are `off` are dim: the action is not available
/// now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hint {
    pub keys: String,
    pub does: String,
    pub off: bool,
}

impl Hint {
    /// A hint for an available action.
    pub fn new(keys: impl Into<String>, does: impl Into<String>) -> Self {
        Self {
            keys: keys.into(),
            does: does.into(),
            off: false,
        }
    }

    fn width(&self) -> usize {
        text::width(&self.keys) + 1 + text::width(&self.does)
    }
}

/// As many hints as fit into `width` columns. The hints of `last` are at the end and take space
/// first.
pub fn hint_line(theme: Theme, hints: &[Hint], last: &[Hint], width: u16) -> Line<'static> {
    const GAP: usize = 2;
    let mut used = 0;
    let mut fits = |hint: &&Hint| {
        let end = used + hint.width() + if used == 0 { 0 } else { GAP };
        let fits = end <= usize::from(width);
        if fits {
            used = end;
        }
        fits
    };
    let last: Vec<&Hint> = last.iter().filter(&mut fits).collect();
    let mut line = Line::default();
    hints
        .iter()
        .take_while(fits)
        .chain(last)
        .for_each(|hint| push(theme, &mut line, hint));
    line
}
fn push(theme: Theme, line: &mut Line<'static>, hint: &Hint) {
    if !line.spans.is_empty() {
        line.push_span(Span::raw("  "));
    }
    let (key, word) = if hint.off {
        (theme.dim(), theme.dim())
    } else {
        (theme.key(), theme.text())
    };
    line.push_span(Span::styled(hint.keys.clone(), key));
    line.push_span(Span::styled(format!(" {}", hint.does), word));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hints_without_room_are_omitted_but_last_ones_remain() {
        let hints = [
            Hint::new("s", "scan"),
            Hint::new("n", "new"),
            Hint::new("D", "delete"),
        ];
        let last = [Hint::new("?", "keys")];
        let text = |width| hint_line(Theme::default(), &hints, &last, width).to_string();
        assert_eq!(text(40), "s scan  n new  D delete  ? keys");
        assert_eq!(text(22), "s scan  n new  ? keys");
        assert_eq!((text(8).as_str(), text(3).as_str()), ("? keys", ""));
    }
}
