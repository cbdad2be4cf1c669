//! A table with the widths that its texts need: columns without text are not shown, and no
//! identifier is broken while another column has room.

use unicode_width::UnicodeWidthChar;

use super::{Block, Each, TableBlock};
use crate::RenderError;
use crate::words::Words;
use scandeck_wire::contract::Risk;

/// Characters of the small font on one line of a page, in the widest of the usual fonts.
const LINE: f32 = 96.0;
/// Longest word that a column is wide enough for.
const WORD: usize = 40;
/// Most characters of a line that a column asks for.
const LONGEST: usize = 110;
/// Rows of a table in which one of this many rows is unusual.
const LONG_TABLE: usize = 40;
const UNUSUAL: usize = 20;
/// Bold letters are wider.
const BOLD: f32 = 1.2;
/// The space between two columns, in characters.
const GAP: f32 = 2.0;

/// The rows of a table.
pub struct Grid {
    headers: Vec<String>,
    rows: Vec<Vec<String>>,
    risks: Vec<Risk>,
    risk_column: usize,
    is_verbatim: bool,
}

impl Grid {
    /// A table with the texts of these keys as header row.
    pub fn new(words: &Words, keys: &[&str]) -> Self {
        Self::with_headers(keys.iter().map(|key| words.get(key).to_owned()).collect())
    }

    pub fn with_headers(headers: Vec<String>) -> Self {
        Self {
            headers,
            rows: Vec::new(),
            risks: Vec::new(),
            risk_column: 0,
            is_verbatim: false,
        }
    }

    pub fn evidence(headers: &[String], rows: &[Vec<String>]) -> Self {
        Self {
            rows: rows.to_vec(),
            is_verbatim: true,
            ..Self::with_headers(headers.to_vec())
        }
    }

    pub fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        self.rows.push(cells.into_iter().collect());
    }

    /// A row whose first column is the risk.
    pub fn risk_row(&mut self, risk: Risk, words: &Words, cells: impl IntoIterator<Item = String>) {
        let first = words.risk(risk).to_owned();
        self.risks.push(risk);
        self.row([first].into_iter().chain(cells));
    }

    /// A row whose second column is the risk.
    pub fn numbered_row(
        &mut self,
        number: String,
        risk: Risk,
        words: &Words,
        cells: impl IntoIterator<Item = String>,
    ) {
        self.risk_column = 1;
        self.risks.push(risk);
        let first = [number, words.risk(risk).to_owned()];
        self.row(first.into_iter().chain(cells));
    }

    /// Removes a column.
    pub fn without(mut self, column: usize) -> Self {
        let rows = self.rows.iter_mut().chain([&mut self.headers]);
        for row in rows.filter(|row| row.len() > column) {
            row.remove(column);
        }
        match column.cmp(&self.risk_column) {
            std::cmp::Ordering::Less => self.risk_column -= 1,
            std::cmp::Ordering::Equal => self.risks.clear(),
            std::cmp::Ordering::Greater => {}
        }
        self
    }

    /// Removes a column in which all rows have the same text.
    pub fn without_constant(self, column: usize) -> Self {
        let cell = |row: &Vec<String>| row.get(column).cloned();
        let first = self.rows.first().and_then(cell);
        match self.rows.iter().all(|row| cell(row) == first) {
            true => self.without(column),
            false => self,
        }
    }

    fn columns(&self) -> usize {
        let longest = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        longest.max(self.headers.len())
    }

    /// Passes the table on, without the columns that have no text; nothing without rows.
    pub fn pass(mut self, each: Each<'_>) -> Result<(), RenderError> {
        let is_empty = |grid: &Self, column: usize| {
            let mut cells = grid.rows.iter().filter_map(|row| row.get(column));
            !cells.any(|cell| !cell.trim().is_empty())
        };
        for column in (0..self.columns()).rev() {
            if is_empty(&self, column) {
                self = self.without(column);
            }
        }
        if self.rows.is_empty() || self.columns() == 0 {
            return Ok(());
        }
        let widths = self.widths();
        each(Block::Table(TableBlock {
            headers: &self.headers,
            rows: &self.rows,
            risk_column: self.risk_column,
            risks: &self.risks,
            widths: &widths,
            is_verbatim: self.is_verbatim,
        }))
    }

    /// Shares of the width: each column gets its longest word, and the rest of the line goes to the
    /// columns with long texts. In a long table, a few unusual rows do not widen a column.
    fn widths(&self) -> Vec<f32> {
        let columns = 0..self.columns();
        let mut words: Vec<f32> = columns
            .clone()
            .map(|at| self.width(at, longest_word))
            .collect();
        let parts: Vec<f32> = columns
            .clone()
            .map(|at| self.width(at, longest_part))
            .collect();
        let lines: Vec<f32> = columns.map(|at| self.width(at, longest_line)).collect();
        let room = LINE - GAP * words.len() as f32;
        // Without room for all words, only the longest ones are broken, after separators first.
        for least in [parts, vec![0.0; words.len()]] {
            let mut longest = WORD as f32;
            while longest > 8.0 && words.iter().sum::<f32>() > room {
                longest -= 1.0;
                for (word, part) in words.iter_mut().zip(&least) {
                    *word = word.min(longest.max(*part));
                }
            }
        }
        let (least, most): (f32, f32) = (words.iter().sum(), lines.iter().sum());
        let scale = match most - least {
            more if most > room && least < room && more > 0.0 => (room - least) / more,
            _ if most <= room => 1.0,
            _ => 0.0,
        };
        let widths = words
            .iter()
            .zip(&lines)
            .map(|(word, line)| word + (line - word) * scale + GAP);
        let widths: Vec<f32> = widths.collect();
        let total: f32 = widths.iter().sum();
        widths
            .into_iter()
            .map(|width| width * 100.0 / total)
            .collect()
    }

    /// The characters that a column needs for the longest of these parts of its cells.
    fn width(&self, column: usize, part: fn(&str) -> f32) -> f32 {
        let cells = self.rows.iter().filter_map(|row| row.get(column));
        let is_bold = column == self.risk_column && !self.risks.is_empty();
        let scale = if is_bold { BOLD } else { 1.0 };
        let mut lengths: Vec<f32> = cells.map(|cell| part(cell) * scale).collect();
        lengths.sort_unstable_by(f32::total_cmp);
        let unusual = match lengths.len() {
            ..LONG_TABLE => 0,
            rows => rows / UNUSUAL,
        };
        let usual = lengths.len().checked_sub(unusual + 1);
        let usual = usual.and_then(|at| lengths.get(at)).copied();
        let header = self.headers.get(column).map(|cell| part(cell) * BOLD);
        usual.unwrap_or(0.0).max(header.unwrap_or(0.0)).max(3.0)
    }
}

/// Chinese and Japanese text may be broken between any two characters.
fn longest_word(cell: &str) -> f32 {
    let words = cell.split_whitespace();
    longest(words.flat_map(|word| word.split_inclusive(is_wide)), WORD)
}

/// The longest part between two places where a line may end.
fn longest_part(cell: &str) -> f32 {
    let words = cell.split_whitespace();
    let parts = words.flat_map(|word| word.split_inclusive(ends_part));
    longest(parts, WORD)
}

fn ends_part(c: char) -> bool {
    matches!(c, '/' | '-' | '?' | '&' | '=' | ',' | ';' | '|' | '_') || is_wide(c)
}

fn longest_line(cell: &str) -> f32 {
    longest(cell.lines(), LONGEST)
}

/// The length of the longest text in characters; a wide one counts as two.
fn longest<'a>(texts: impl Iterator<Item = &'a str>, most: usize) -> f32 {
    let width = |text: &str| -> usize {
        let first = text.chars().take(most);
        first.map(|c| c.width().unwrap_or(0)).sum()
    };
    let lengths = texts.map(|text| width(text).min(most));
    lengths.max().unwrap_or(0) as f32
}

fn is_wide(c: char) -> bool {
    c.width() == Some(2)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn widths(headers: &[&str], rows: &[&[&str]]) -> Vec<f32> {
        let mut grid = Grid::with_headers(headers.iter().map(|&one| one.to_owned()).collect());
        for row in rows {
            grid.row(row.iter().map(|&cell| cell.to_owned()));
        }
        let mut widths = Vec::new();
        grid.pass(&mut |block| {
            if let Block::Table(table) = block {
                widths = table.widths.to_vec();
            }
            Ok(())
        })
        .unwrap();
        widths
    }

    #[test]
    fn long_identifier_is_whole_while_another_column_has_room() {
        let target = "long-name-of-a-host.intranet.example.org";
        let prose = "Words that can go on as many lines as they like. ".repeat(6);
        let widths = widths(&["No.", "Target", "Text"], &[&["1.1", target, &prose]]);
        let characters = widths[1] * LINE / 100.0;
        assert!(characters >= target.len() as f32, "{widths:?}");
        assert!((widths.iter().sum::<f32>() - 100.0).abs() < 0.1);
    }

    #[test]
    fn names_beside_fingerprints_are_on_one_line() {
        let name = "Apache Log4j2 Remote Code Injection";
        let fingerprint = "8f18e6946bebf5b8f3c521271ac205d3";
        let headers = ["No.", "Finding", "Finding id", "Scan", "Fingerprint"];
        let widths = widths(&headers, &[&["1.20", name, "2248", "12", fingerprint]]);
        // A character is narrower on average than in the widest of the usual fonts.
        let room = |at: usize| widths[at] * LINE / 100.0 * 1.1;
        assert!(room(1) > name.len() as f32 && room(4) > fingerprint.len() as f32);
    }

    #[test]
    fn only_the_longest_words_are_broken_without_room_for_all() {
        let url = "https://intranet.example.org:8443/portal/login?next=%2Fadmin";
        let params = "requests_per_second_and_more";
        let cells = [
            "12",
            "Website Scanner",
            url,
            "connection error",
            "2026-11-20",
            params,
        ];
        let widths = widths(
            &["Scan", "Tool", "Target", "Status", "Start", "Parameters"],
            &[&cells],
        );
        let room = |at: usize| widths[at] * LINE / 100.0;
        assert!(
            room(1) > 7.0 && room(3) > 10.0 && room(4) > 10.0,
            "{widths:?}"
        );
    }

    #[test]
    fn heading_of_a_narrow_column_is_broken_before_an_identifier() {
        let origin = "https://sd36564635fc0a418e.example";
        let headers = [
            "Request",
            "Origin sent",
            "Access-Control-Allow-Origin",
            "Access-Control-Allow-Credentials",
        ];
        let request = "GET http://127.0.0.1:40665/products";
        let widths = widths(&headers, &[&[request, origin, origin, "true"]]);
        let room = |at: usize| widths[at] * LINE / 100.0 - GAP;
        let host = "sd36564635fc0a418e.example".len() as f32 - 0.01;
        assert!(room(1) >= host && room(2) >= host, "{widths:?}");
    }

    #[test]
    fn unusual_row_of_a_long_table_does_not_widen_its_column() {
        let url = "https://intranet.example.org:8443/portal/login?next=%2Fadmin%2Freports";
        let findings = "1 critical, 1 high, 1 medium, 1 low, 1 info";
        let mut rows = vec![["host-1.test", findings]; 60];
        rows[7][0] = url;
        let rows: Vec<&[&str]> = rows.iter().map(|row| &row[..]).collect();
        let room = |widths: Vec<f32>| widths[1] * LINE / 100.0;
        assert!(room(widths(&["Target", "Findings"], &rows)) > findings.len() as f32);
        assert!(room(widths(&["Target", "Findings"], &rows[..20])) < findings.len() as f32);
    }

    #[test]
    fn wide_characters_count_twice_and_are_broken_anywhere() {
        let name = "管理画面のパスワード";
        let prose = "Words that can go on as many lines as they like. ".repeat(6);
        let names = widths(&["Name", "Text"], &[&[name, &prose]]);
        let latin = widths(&["Name", "Text"], &[&["ten letter", &prose]]);
        assert!(names[0] > latin[0] * 1.2, "{names:?} {latin:?}");
        let host = "long-name-of-a-host.intranet.example.org";
        let text = "数据库密码泄露。".repeat(20);
        let hosts = widths(&["Target", "Text"], &[&[host, &text]]);
        assert!(hosts[0] * LINE / 100.0 >= host.len() as f32, "{hosts:?}");
        assert_eq!(longest_word(&text), 2.0);
    }

    #[test]
    fn risk_is_wide_enough_for_bold_letters() {
        let words = Words::of("en").unwrap();
        let mut grid = Grid::new(&words, &["column.risk", "column.recommendation"]);
        let text = "Words that can go on as many lines as they like. ".repeat(6);
        grid.risk_row(Risk::Medium, &words, [text]);
        assert_eq!(grid.width(0, longest_word), 6.0 * BOLD);
    }

    #[test]
    fn column_without_text_is_not_shown() {
        assert_eq!(
            widths(&["A", "B", "C"], &[&["x", "", "y"], &["x", " "]]).len(),
            2
        );
        assert!(widths(&["A"], &[]).is_empty());
    }
}
