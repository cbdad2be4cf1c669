//! URLs in the text of a detail as hyperlinks of the terminal (OSC 8).
//!
//! ```text
//!   https://owasp.org/x.   ─► one cell: OSC 8 with the address, the same text, end      the cells after it are skipped
//!   └── address ──────┘
//! ```
//!
//! The shown text is always the whole address. A link is a single cell, so a terminal never sees
//! its start without its end, whichever cells change. It must therefore be made when nothing is
//! drawn over the text any more.

use ratatui::buffer::{Buffer, CellDiffOption};
use ratatui::layout::Rect;
use std::num::NonZeroU16;
use std::ops::Range;

/// Makes links of the URLs in an area. A URL that reaches its right edge may continue on the next
/// line, so it is not linked.
pub(crate) fn link_urls(buf: &mut Buffer, area: Rect) -> Vec<Rect> {
    let mut linked = Vec::new();
    for y in area.top()..area.bottom() {
        let symbols: Vec<String> = (area.left()..area.right())
            .map(|x| buf[(x, y)].symbol().to_owned())
            .collect();
        for found in urls(&symbols) {
            let (x, address) = (area.x + found.start as u16, symbols[found.clone()].concat());
            let style = buf[(x, y)].style();
            // One cell has one style: a URL with a found word in it is no link.
            let is_plain = (x..area.x + found.end as u16).all(|x| buf[(x, y)].style() == style);
            if let Some(width) = NonZeroU16::new(found.len() as u16).filter(|_| is_plain) {
                let cell = &mut buf[(x, y)];
                cell.set_symbol(&format!("\x1b]8;;{address}\x1b\\{address}\x1b]8;;\x1b\\"));
                cell.set_diff_option(CellDiffOption::ForcedWidth(width));
                linked.push(Rect {
                    x,
                    y,
                    width: width.get(),
                    height: 1,
                });
            }
        }
    }
    linked
}

/// Writes again the cells of the last frame that are no longer links. A terminal keeps a link in
/// each cell until the cell is written, even if its text is equal.
pub(crate) fn unlink(buf: &mut Buffer, before: &[Rect], linked: &[Rect]) {
    let area = buf.area;
    for cell in before
        .iter()
        .flat_map(move |link| link.intersection(area).positions())
    {
        if !linked.iter().any(|link| link.contains(cell)) {
            buf[cell].set_diff_option(CellDiffOption::AlwaysUpdate);
        }
    }
}

/// The URLs in the cells of a row that are complete.
fn urls(symbols: &[String]) -> Vec<Range<usize>> {
    let is_blank = |symbol: &String| symbol.trim().is_empty();
    let mut found = Vec::new();
    let mut at = 0;
    while at < symbols.len() {
        let length = symbols[at..]
            .iter()
            .take_while(|symbol| !is_blank(symbol))
            .count();
        found.extend(url_in(&symbols[at..at + length]).map(|url| at + url.start..at + url.end));
        at += length + 1;
    }
    // The right edge may have cut it.
    found.retain(|url| url.end < symbols.len());
    found
}

/// The URL in a word: after an opening bracket or quote, without the punctuation after it.
fn url_in(word: &[String]) -> Option<Range<usize>> {
    let is = |symbol: &String, set: &str| matches!(symbol.as_bytes(), [byte] if set.contains(char::from(*byte)));
    let start = word.iter().position(|symbol| !is(symbol, "([{<\"'"))?;
    let rest = word[start..]
        .iter()
        .position(|symbol| is(symbol, "<>\"'"))
        .unwrap_or(word.len() - start);
    let url = &word[start..start + rest];
    let length = url.iter().rposition(|symbol| !is(symbol, ".,;:!?)]}"))? + 1;
    let address = url[..length].concat();
    let host = ["https://", "http://"]
        .iter()
        .find_map(|scheme| address.strip_prefix(scheme))?;
    let is_allowed = |c: char| c.is_ascii_alphanumeric() || "-._~:/?#[]@!$&()*+,;=%".contains(c);
    (host.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '[')
        && host.chars().all(is_allowed))
    .then_some(start..start + length)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn linked(line: &str, columns: u16) -> Vec<String> {
        let mut buf = Buffer::empty(Rect::new(0, 0, columns, 1));
        buf.set_string(0, 0, line, ratatui::style::Style::default());
        let before = buf.clone();
        link_urls(&mut buf, before.area);
        let links = buf
            .content()
            .iter()
            .filter(|cell| cell.symbol().starts_with('\x1b'));
        let links = links.map(|cell| {
            let parts: Vec<&str> = cell.symbol().split("\x1b\\").collect();
            let [open, shown, end] = parts[..] else {
                panic!("{parts:?}")
            };
            let shown = shown.trim_end_matches("\x1b]8;;");
            assert_eq!(
                (open, end),
                (format!("\x1b]8;;{shown}").as_str(), ""),
                "text and address are equal"
            );
            let width = CellDiffOption::ForcedWidth(NonZeroU16::new(shown.len() as u16).unwrap());
            assert_eq!(cell.diff_option, width);
            shown.to_owned()
        });
        links.collect()
    }

    #[test]
    fn url_is_a_link_to_the_text_that_is_shown() {
        assert_eq!(
            linked("see https://owasp.org/Top10/. Or", 60),
            ["https://owasp.org/Top10/"]
        );
        assert_eq!(
            linked("(http://a.test:8080/x?y=1#z), \"https://b.test\"", 60),
            ["http://a.test:8080/x?y=1#z", "https://b.test"]
        );
        for none in [
            "ftp://a.test",
            "https://",
            "xhttps://a.test",
            "https://\u{e9}.test/",
            "https://a.test/\u{2026}",
        ] {
            assert_eq!(linked(none, 60), Vec::<String>::new(), "{none}");
        }
    }

    #[test]
    fn cells_of_removed_link_are_written_again() {
        let area = Rect::new(0, 0, 20, 1);
        let with = |text: &str| {
            let mut buf = Buffer::empty(area);
            buf.set_string(0, 0, text, ratatui::style::Style::default());
            buf
        };
        let mut before = with("https://a.test/x");
        let linked = link_urls(&mut before, area);
        let mut after = with("https://b.test/x");
        unlink(&mut after, &linked, &[]);
        assert_eq!(
            before.diff(&after).len(),
            16,
            "all cells, not only the changed one"
        );
        let mut same = with("https://a.test/x");
        let still = link_urls(&mut same, area);
        unlink(&mut same, &linked, &still);
        assert_eq!(before.diff(&same).len(), 0);
    }

    #[test]
    fn truncated_url_is_not_linked() {
        assert_eq!(linked("https://a.test/long", 19), Vec::<String>::new());
        assert_eq!(linked("https://a.test/long", 20), ["https://a.test/long"]);
    }
}
