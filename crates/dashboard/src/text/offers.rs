//! Suggestions for a text input, and the history of its lines.

/// Suggestions for an input, the best first, and the selected one.
#[derive(Clone, Debug)]
pub struct Offers<T> {
    pub all: Vec<T>,
    /// The selected suggestion, if one was chosen.
    pub at: Option<usize>,
}

/// The behaviour of the selection at the last suggestion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ends {
    /// It continues at the first one.
    Around,
    Stop,
}

impl<T> Default for Offers<T> {
    fn default() -> Self {
        Self::new(Vec::new())
    }
}

impl<T> Offers<T> {
    pub fn new(all: Vec<T>) -> Self {
        Self { all, at: None }
    }

    pub fn selected(&self) -> Option<&T> {
        self.all.get(self.at?)
    }

    /// The selected suggestion, else the best one.
    pub fn selected_or_first(&self) -> Option<&T> {
        self.all.get(self.at.unwrap_or(0))
    }

    /// Moves the selection; the first step selects the first or the last suggestion.
    pub fn walk(&mut self, by: isize, ends: Ends) {
        let count = self.all.len() as isize;
        if count > 0 {
            let from = self
                .at
                .map_or(if by > 0 { -1 } else { count }, |at| at as isize);
            let to = match ends {
                Ends::Around => (from + by).rem_euclid(count),
                Ends::Stop => (from + by).clamp(0, count - 1),
            };
            self.at = Some(to as usize);
        }
    }

    /// The suggestions that fit into so many rows around the selected one, each with whether it is
    /// selected.
    pub fn window(&self, rows: usize) -> impl Iterator<Item = (bool, &T)> {
        let first = self.at.map_or(0, |at| (at + 1).saturating_sub(rows));
        self.all
            .iter()
            .enumerate()
            .skip(first)
            .take(rows)
            .map(|(at, offer)| (self.at == Some(at), offer))
    }
}

/// The position in the history of an input.
#[derive(Clone, Debug, Default)]
pub struct Recall {
    /// Counted from the newest line, which is 1; 0 for the typed line.
    back: usize,
    /// The line that was typed before the first step.
    typed: String,
}

impl Recall {
    /// Whether the input shows a line of the history.
    pub fn is_active(&self) -> bool {
        self.back > 0
    }

    /// Moves by so many lines of the history, which has the newest line last. Returns the new line
    /// of the input.
    pub fn walk(&mut self, earlier: &[String], typed: &str, by: isize) -> String {
        if !self.is_active() {
            typed.clone_into(&mut self.typed);
        }
        self.back = self.back.saturating_add_signed(by).min(earlier.len());
        match self.back {
            0 => self.typed.clone(),
            back => earlier[earlier.len() - back].clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn walk_through_suggestions_stops_or_wraps_at_ends() {
        let walked = |steps: &[isize], ends| {
            let mut offers = Offers::new(vec!['a', 'b', 'c']);
            steps.iter().for_each(|&by| offers.walk(by, ends));
            *offers.selected().unwrap()
        };
        assert_eq!(
            (walked(&[1], Ends::Around), walked(&[-1], Ends::Around)),
            ('a', 'c')
        );
        assert_eq!(
            (walked(&[-1, 1], Ends::Around), walked(&[-1, 1], Ends::Stop)),
            ('a', 'c')
        );
        assert_eq!(
            (walked(&[8], Ends::Stop), walked(&[-8], Ends::Stop)),
            ('c', 'a')
        );
    }

    #[test]
    fn recall_returns_to_typed_line() {
        let earlier = ["old".to_owned(), "new".to_owned()];
        let mut recall = Recall::default();
        let walked: Vec<String> = [1, 1, 1, -1, -1, -1]
            .map(|by| recall.walk(&earlier, "own", by))
            .into();
        assert_eq!(walked, ["new", "old", "old", "new", "own", "own"]);
    }
}
