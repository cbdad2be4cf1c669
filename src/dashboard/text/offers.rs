//! What can be put into a text input, and the lines that were typed into it before.

/// What can be put into an input, the best first, and which of it is selected.
#[derive(Clone, Debug)]
pub struct Offers<T> {
    /// All of it.
    pub all: Vec<T>,
    /// The selected one; none while nothing was walked to.
    pub at: Option<usize>,
}

/// What lies beyond the last offer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ends {
    /// The first one.
    Around,
    /// Nothing.
    Stop,
}

impl<T> Default for Offers<T> {
    fn default() -> Self {
        Self::new(Vec::new())
    }
}

impl<T> Offers<T> {
    /// These, none selected.
    pub fn new(all: Vec<T>) -> Self {
        Self { all, at: None }
    }

    /// The selected one.
    pub fn selected(&self) -> Option<&T> {
        self.all.get(self.at?)
    }

    /// The selected one, else the best.
    pub fn selected_or_first(&self) -> Option<&T> {
        self.all.get(self.at.unwrap_or(0))
    }

    /// Selects another; the first step goes to one of the ends.
    pub fn walk(&mut self, by: isize, ends: Ends) {
        let count = self.all.len() as isize;
        if count > 0 {
            let from = self.at.map_or(if by > 0 { -1 } else { count }, |at| at as isize);
            let to = match ends {
                Ends::Around => (from + by).rem_euclid(count),
                Ends::Stop => (from + by).clamp(0, count - 1),
            };
            self.at = Some(to as usize);
        }
    }

    /// As many as fit into so many rows, the selected one among them; whether each is that one.
    pub fn window(&self, rows: usize) -> impl Iterator<Item = (bool, &T)> {
        let first = self.at.map_or(0, |at| (at + 1).saturating_sub(rows));
        self.all.iter().enumerate().skip(first).take(rows).map(|(at, offer)| (self.at == Some(at), offer))
    }
}

/// Which of the lines typed before stands in an input.
#[derive(Clone, Debug, Default)]
pub struct Recall {
    /// Counted from the newest, which is 1; 0 while none does.
    back: usize,
    /// What was typed until then.
    typed: String,
}

impl Recall {
    /// Whether an earlier line stands in the input.
    pub fn is_active(&self) -> bool {
        self.back > 0
    }

    /// Goes back by so many of the earlier lines (the newest last), or forth; what the input holds then.
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
    fn walk_begins_at_an_end_and_stops_or_goes_around() {
        let walked = |steps: &[isize], ends| {
            let mut offers = Offers::new(vec!['a', 'b', 'c']);
            steps.iter().for_each(|&by| offers.walk(by, ends));
            *offers.selected().unwrap()
        };
        assert_eq!((walked(&[1], Ends::Around), walked(&[-1], Ends::Around)), ('a', 'c'));
        assert_eq!((walked(&[-1, 1], Ends::Around), walked(&[-1, 1], Ends::Stop)), ('a', 'c'));
        assert_eq!((walked(&[8], Ends::Stop), walked(&[-8], Ends::Stop)), ('c', 'a'));
    }

    #[test]
    fn recall_returns_to_what_was_typed() {
        let earlier = ["old".to_owned(), "new".to_owned()];
        let mut recall = Recall::default();
        let walked: Vec<String> = [1, 1, 1, -1, -1, -1].map(|by| recall.walk(&earlier, "own", by)).into();
        assert_eq!(walked, ["new", "old", "old", "new", "own", "own"]);
    }
}
