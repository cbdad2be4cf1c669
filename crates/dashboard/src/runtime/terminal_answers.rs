//! Questions to the terminal, and its answers.
//!
//! ```text
//!   question + device attributes ─► terminal ─► bytes up to the device attributes ─► answers
//! ```
//!
//! Every terminal answers the question for its device attributes, so nobody waits long for a
//! terminal that does not know the other questions.

use rustix::termios::{OptionalActions, SpecialCodeIndex, tcgetattr, tcsetattr};
use std::io;
use std::io::{Write, stdin, stdout};
use std::time::{Duration, Instant};

/// The question for the background colour (OSC 11).
pub const BACKGROUND: &[u8] = b"\x1b]11;?\x1b\\";
/// The question whether the terminal draws a frame at once (mode 2026).
const SYNCHRONIZED: &[u8] = b"\x1b[?2026$p";
/// The question that every terminal answers.
const ATTRIBUTES: &[u8] = b"\x1b[c";

/// The properties of a terminal, as it reports them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TerminalAnswers {
    pub background: Option<[u8; 3]>,
    /// Whether it supports synchronized output; `None` without an answer.
    pub synchronized: Option<bool>,
    /// The columns that each glyph takes, in the order of the question; fewer if an answer is
    /// missing.
    pub widths: Vec<u16>,
}

impl TerminalAnswers {
    /// Queries the terminal of this process. The glyphs are printed on the current line, which is
    /// empty afterwards.
    pub fn query(glyphs: &[&str], limit: Duration) -> Self {
        let mut question = BACKGROUND.to_vec();
        for glyph in glyphs {
            question.extend(format!("\r{glyph}\x1b[6n").bytes());
        }
        question.extend(b"\r\x1b[K");
        question.extend(SYNCHRONIZED);
        let send = |bytes: &[u8]| stdout().write_all(bytes).and_then(|()| stdout().flush());
        Self::parse(&answer_to(&question, limit, send))
    }

    fn parse(answer: &[u8]) -> Self {
        let text = String::from_utf8_lossy(answer);
        let mode = text
            .split_once("\x1b[?2026;")
            .and_then(|(_, rest)| rest.split_once("$y"));
        Self {
            background: background_of(answer),
            // 0: unknown mode; 4: switched off for good.
            synchronized: mode.map(|(value, _)| !matches!(value, "0" | "4")),
            widths: text
                .split("\x1b[")
                .filter_map(column)
                .map(|column| column.saturating_sub(1))
                .collect(),
        }
    }
}

/// The column in `5;3R`, the answer for the position of the cursor.
fn column(answer: &str) -> Option<u16> {
    let (row, column) = answer.split_once('R')?.0.split_once(';')?;
    row.parse::<u16>().ok()?;
    column.parse().ok()
}

/// Sends a question and returns the answer; empty if there is none within the limit. The terminal
/// neither echoes the answer nor waits for the end of a line meanwhile.
pub(crate) fn answer_to(
    question: &[u8],
    limit: Duration,
    send: impl FnOnce(&[u8]) -> io::Result<()>,
) -> Vec<u8> {
    let Ok(modes) = tcgetattr(stdin()) else {
        return Vec::new();
    };
    let mut waiting = modes.clone();
    waiting.make_raw();
    // A read waits for at most 100 ms.
    waiting.special_codes[SpecialCodeIndex::VMIN] = 0;
    waiting.special_codes[SpecialCodeIndex::VTIME] = 1;
    if tcsetattr(stdin(), OptionalActions::Now, &waiting).is_err() {
        return Vec::new();
    }
    let answer = send(&[question, ATTRIBUTES].concat())
        .map(|()| answer_within(limit))
        .unwrap_or_default();
    let _ = tcsetattr(stdin(), OptionalActions::Now, &modes);
    answer
}

/// The bytes up to the answer for the device attributes.
fn answer_within(limit: Duration) -> Vec<u8> {
    let (start, mut answer, mut buffer) = (Instant::now(), Vec::new(), [0; 256]);
    while start.elapsed() < limit && !is_complete(&answer) {
        match rustix::io::read(stdin(), &mut buffer) {
            Ok(count) => answer.extend_from_slice(&buffer[..count]),
            Err(_) => break,
        }
    }
    answer
}

/// Whether it ends with the device attributes: `ESC [ ? 6 2 ; 4 c`.
fn is_complete(answer: &[u8]) -> bool {
    let text = String::from_utf8_lossy(answer);
    text.split("\x1b[?").skip(1).any(|rest| {
        let end = rest.trim_start_matches(|letter: char| letter.is_ascii_digit() || letter == ';');
        end.starts_with('c')
    })
}

/// The colour of `ESC ] 11 ; rgb:ffff/ffff/ffff`.
pub(crate) fn background_of(answer: &[u8]) -> Option<[u8; 3]> {
    let text = String::from_utf8_lossy(answer);
    let colour = text.split_once("]11;rgb")?.1.split_once(':')?.1;
    let parts: Vec<&str> = colour.split(['/', '\x1b', '\x07']).take(3).collect();
    let part = |part: &&str| {
        let most = 16u32
            .checked_pow(u32::try_from(part.len()).ok()?)?
            .checked_sub(1)
            .filter(|most| *most > 0)?;
        u8::try_from(u32::from_str_radix(part, 16).ok()? * 255 / most).ok()
    };
    let parts: Option<Vec<u8>> = parts.iter().map(part).collect();
    parts?.try_into().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn background_is_read_from_every_form_of_the_answer() {
        for (answer, expected) in [
            (
                &b"\x1b]11;rgb:ffff/8080/0000\x1b\\\x1b[?62;4c"[..],
                Some([255, 128, 0]),
            ),
            (b"\x1b]11;rgb:1e/1e/1e\x07\x1b[?6c", Some([30, 30, 30])),
            (b"\x1b]11;rgba:ffff/ffff/ffff/ffff\x1b\\", Some([255; 3])),
            (b"\x1b[?62;4c", None),
            (b"", None),
            (b"\x1b]11;rgb:zz/1/1\x07", None),
        ] {
            assert_eq!(
                background_of(answer),
                expected,
                "{:?}",
                String::from_utf8_lossy(answer)
            );
        }
    }

    #[test]
    fn answer_ends_with_the_device_attributes_only() {
        assert!(
            is_complete(b"\x1b]11;rgb:0/0/0\x07\x1b[?62c")
                && is_complete(b"\x1b[?2026;2$y\x1b[?1;2c")
        );
        for partial in [
            &b"\x1b]11;rgb:c/c/c\x07"[..],
            b"\x1b[?2026;2$y",
            b"\x1b[?62;4",
            b"\x1b[?2026;2$y\x1b]11;rgb:c/c/c",
        ] {
            assert!(
                !is_complete(partial),
                "{:?}",
                String::from_utf8_lossy(partial)
            );
        }
    }

    #[test]
    fn widths_and_synchronized_output_are_read_in_any_order() {
        let answers = TerminalAnswers::parse(
            b"\x1b]11;rgb:00/00/00\x07\x1b[7;2R\x1b[7;3R\x1b[?2026;2$y\x1b[?62c",
        );
        assert_eq!(
            (answers.widths.as_slice(), answers.synchronized),
            (&[1, 2][..], Some(true))
        );
        assert_eq!(answers.background, Some([0; 3]));
        let without = TerminalAnswers::parse(b"\x1b[?2026;0$y\x1b[?62c");
        assert_eq!(
            (without.widths.len(), without.synchronized),
            (0, Some(false))
        );
        assert_eq!(
            TerminalAnswers::parse(b"garbage \x1b[xR"),
            TerminalAnswers::default()
        );
    }
}
