//! The progress of something with a long name.

use scandeck_wire::text;

use crate::cli::progress::ProgressLine;

impl ProgressLine {
    /// Writes the state of something, whose name is shortened if the line is too long.
    pub fn write_of(&mut self, name: &str, state: &str) {
        self.show(|columns| named_state(name, state, columns));
    }
}

fn named_state(name: &str, state: &str, columns: usize) -> String {
    let room = columns.saturating_sub(text::width(": ") + text::width(state));
    let cleaned = text::clean(name);
    let line = format!("{}: {state}", text::middle_with(&cleaned, room, '…'));
    text::start(&line, columns).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_name_leaves_room_for_the_state() {
        let state = "the service imports the file: 3 s";
        let shown = named_state("a.jsonl", state, 79);
        assert_eq!(shown, format!("a.jsonl: {state}"));
        let long = format!("{}.jsonl", "results-of-the-scanner-".repeat(8));
        let shown = named_state(&long, state, 79);
        assert!(shown.starts_with("results-of-the-scan"), "{shown}");
        assert!(shown.ends_with(&format!(".jsonl: {state}")), "{shown}");
        assert_eq!(text::width(&shown), 79);
        for columns in 0..40 {
            assert!(text::width(&named_state("表\u{1b}[31m", state, columns)) <= columns);
        }
    }
}
