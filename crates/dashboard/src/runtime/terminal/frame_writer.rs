//! Writes frames to a terminal: only the cells that changed, and rows that are moved by scrolling
//! their region.
//!
//! ```text
//!   frame ─► changed rows ─► equal to shown rows a few lines away? scroll region ─► cells that still differ
//! ```
//!
//! Most rows of most frames are unchanged: their cells are compared once, or not at all if they
//! were not drawn. What is kept for the next frame is copied after the flush.
//!
//! A scroll region has whole lines, so only a pane of the full width can be scrolled. Line feed and
//! reverse index at the margins scroll in every terminal; the sequences SU and SD do not.

use std::io::{self, Write};
use std::ops::Range;

use crossterm::cursor::{Hide, MoveTo};
use crossterm::style::Print;
use crossterm::terminal::{BeginSynchronizedUpdate, Clear, ClearType, EndSynchronizedUpdate};
use crossterm::{execute, queue};
use ratatui::backend::{Backend, CrosstermBackend};
use ratatui::buffer::{Buffer, Cell};
use ratatui::layout::Rect;

use crate::base::Size;
use crate::core::draw::Drawn;

/// Rows by which a frame can be scrolled: a held key moves a few rows between two frames.
const MOST_ROWS: usize = 8;
/// A scroll must save the writing of at least so many rows.
const LEAST_SAVED: usize = 3;

/// The shown frame and the next one, which is equal to it between two frames.
pub(super) struct FrameWriter<W: Write> {
    backend: CrosstermBackend<W>,
    shown: Buffer,
    next: Buffer,
}

/// Lines of a scroll region, which move up by some rows, or down if `rows` is negative.
#[derive(Debug, PartialEq, Eq)]
struct Scroll {
    lines: Range<usize>,
    rows: isize,
}

impl<W: Write> FrameWriter<W> {
    pub fn new(output: W) -> Self {
        Self {
            backend: CrosstermBackend::new(output),
            shown: Buffer::default(),
            next: Buffer::default(),
        }
    }

    /// The output, for bytes outside the frames.
    pub fn output(&mut self) -> &mut impl Write {
        &mut self.backend
    }

    /// Discards the shown frame: the next one is written completely.
    pub fn forget(&mut self) {
        self.shown = Buffer::default();
    }

    /// Draws a frame of this size and flushes the output. The frame is atomic in terminals that
    /// support synchronized output. `draw` gets a buffer, and whether it holds the shown frame; if
    /// not, the buffer is blank. It returns what it has drawn.
    pub fn draw(
        &mut self,
        size: Size,
        draw: impl FnOnce(&mut Buffer, bool) -> Drawn,
    ) -> io::Result<()> {
        let area = Rect::new(0, 0, size.columns, size.rows);
        let drawn = match self.shown.area == area {
            true => self.draw_changes(|buf| draw(buf, true)),
            false => self.draw_complete(area, |buf| draw(buf, false)),
        };
        // What a failed write has shown is unknown.
        drawn.inspect_err(|_| self.forget())
    }

    /// Draws a frame on a blank screen. The copy is made after the flush: at the start, allocating
    /// it takes as long as drawing.
    fn draw_complete(
        &mut self,
        area: Rect,
        draw: impl FnOnce(&mut Buffer) -> Drawn,
    ) -> io::Result<()> {
        self.next = Buffer::empty(area);
        draw(&mut self.next);
        queue!(self.backend, BeginSynchronizedUpdate, Clear(ClearType::All))?;
        let drawn = (0..usize::from(area.height)).flat_map(|row| {
            let row = row_of(&self.next, row);
            Buffer::empty(row.area)
                .diff_iter(&row)
                .map(|(x, y, _)| (x, y))
                .collect::<Vec<_>>()
        });
        self.backend
            .draw(drawn.map(|(x, y)| (x, y, &self.next[(x, y)])))?;
        execute!(self.backend, Hide, EndSynchronizedUpdate)?;
        self.shown = self.next.clone();
        Ok(())
    }

    /// Draws a frame on the shown one.
    fn draw_changes(&mut self, draw: impl FnOnce(&mut Buffer) -> Drawn) -> io::Result<()> {
        let Drawn { mut areas, moved } = draw(&mut self.next);
        queue!(self.backend, BeginSynchronizedUpdate)?;
        match moved.map(|(area, by)| (area, moved_lines(&self.shown, area, by))) {
            Some((_, Some(scroll))) => self.scroll(scroll)?,
            Some((area, None)) => areas.push(area),
            None => {}
        }
        let is_drawn = |row: usize| {
            areas
                .iter()
                .any(|area| (area.top()..area.bottom()).contains(&(row as u16)))
        };
        let mut is_same = same_rows(&self.shown, &self.next, is_drawn);
        if moved.is_none()
            && let Some(scroll) = scroll(&self.shown, &self.next, &is_same)
        {
            self.scroll(scroll)?;
            is_same = same_rows(&self.shown, &self.next, |_| true);
        }
        self.write(&is_same)?;
        execute!(self.backend, Hide, EndSynchronizedUpdate)?;
        let width = usize::from(self.shown.area.width);
        for row in (0..is_same.len()).filter(|&row| !is_same[row]) {
            let cells = row * width..(row + 1) * width;
            self.shown.content[cells.clone()].clone_from_slice(&self.next.content[cells]);
        }
        Ok(())
    }

    /// Writes the changed cells of the rows that are not the same.
    fn write(&mut self, is_same: &[bool]) -> io::Result<()> {
        let changed = is_same.iter().filter(|same| !*same).count();
        if changed > is_same.len() / 2 {
            return self.backend.draw(self.shown.diff_iter(&self.next));
        }
        let rows = (0..is_same.len()).filter(|&row| !is_same[row]);
        let pairs: Vec<_> = rows
            .map(|row| (row_of(&self.shown, row), row_of(&self.next, row)))
            .collect();
        self.backend
            .draw(pairs.iter().flat_map(|(shown, next)| shown.diff_iter(next)))
    }

    fn scroll(&mut self, Scroll { lines, rows }: Scroll) -> io::Result<()> {
        let (first, last, count) = (
            lines.start as u16,
            lines.end as u16 - 1,
            rows.unsigned_abs(),
        );
        // Setting the region moves the cursor.
        queue!(
            self.backend,
            Print(format_args!("\x1b[{};{}r", first + 1, last + 1))
        )?;
        match rows > 0 {
            true => queue!(self.backend, MoveTo(0, last), Print("\n".repeat(count)))?,
            false => queue!(self.backend, MoveTo(0, first), Print("\x1bM".repeat(count)))?,
        }
        queue!(self.backend, Print("\x1b[r"))?;
        let width = usize::from(self.shown.area.width);
        let cells = &mut self.shown.content[lines.start * width..lines.end * width];
        let blank = count * width;
        let blank = if rows > 0 {
            cells.rotate_left(blank);
            cells.len() - blank..cells.len()
        } else {
            cells.rotate_right(blank);
            0..blank
        };
        cells[blank].fill(Cell::EMPTY);
        Ok(())
    }
}

/// The rows of a frame.
fn rows(frame: &Buffer) -> std::slice::Chunks<'_, Cell> {
    frame.content.chunks(usize::from(frame.area.width).max(1))
}

/// A row of a frame, at its place.
fn row_of(frame: &Buffer, row: usize) -> Buffer {
    let (width, area) = (usize::from(frame.area.width), frame.area);
    let content = frame.content[row * width..(row + 1) * width].to_vec();
    Buffer {
        area: Rect {
            y: area.y + row as u16,
            height: 1,
            ..area
        },
        content,
    }
}

/// Whether each row is the same in both frames; those that were not drawn are.
fn same_rows(shown: &Buffer, next: &Buffer, is_drawn: impl Fn(usize) -> bool) -> Vec<bool> {
    let pairs = rows(shown).zip(rows(next)).enumerate();
    pairs
        .map(|(row, (shown, next))| !is_drawn(row) || is_same_row(shown, next))
        .collect()
}

fn is_same_row(one: &[Cell], other: &[Cell]) -> bool {
    one.iter()
        .zip(other)
        .all(|(one, other)| is_same_cell(one, other))
}

/// As `one == other`, which compares even the symbols of one byte, nearly all, by a call of a
/// function.
fn is_same_cell(one: &Cell, other: &Cell) -> bool {
    match (one.symbol().as_bytes(), other.symbol().as_bytes()) {
        ([symbol], [other_symbol]) => {
            let style = |cell: &Cell| {
                (
                    cell.fg,
                    cell.bg,
                    cell.underline_color,
                    cell.modifier,
                    cell.diff_option,
                )
            };
            symbol == other_symbol && style(one) == style(other)
        }
        _ => one == other,
    }
}

/// The lines of an area whose rows have moved, if they can be scrolled: all lines have the same
/// cells beside the area.
fn moved_lines(shown: &Buffer, area: Rect, by: isize) -> Option<Scroll> {
    let lines = usize::from(area.top())..usize::from(area.bottom());
    let rows: Vec<&[Cell]> = rows(shown).skip(lines.start).take(lines.len()).collect();
    let saved = rows.len().saturating_sub(by.unsigned_abs());
    let (left, right) = (usize::from(area.left()), usize::from(area.right()));
    let is_alike = |row: &&[Cell]| {
        is_same_row(&row[..left], &rows[0][..left]) && is_same_row(&row[right..], &rows[0][right..])
    };
    let is_scrolled =
        by.unsigned_abs() <= MOST_ROWS && saved >= LEAST_SAVED && rows.iter().all(is_alike);
    (is_scrolled && !rows.iter().any(|row| has_link(row))).then_some(Scroll { lines, rows: by })
}

/// A link is bound to its cells.
fn has_link(row: &[Cell]) -> bool {
    row.iter().any(|cell| cell.symbol().starts_with('\x1b'))
}

/// The scroll that saves most, if it saves enough.
fn scroll(shown: &Buffer, next: &Buffer, is_same: &[bool]) -> Option<Scroll> {
    let (shown, next): (Vec<&[Cell]>, Vec<&[Cell]>) = (rows(shown).collect(), rows(next).collect());
    if is_same.iter().filter(|same| !*same).count() < LEAST_SAVED {
        return None;
    }
    let distances = (1..=MOST_ROWS as isize).flat_map(|rows| [rows, -rows]);
    let all = distances.filter_map(|rows| {
        let from = |row: usize| {
            row.checked_add_signed(rows)
                .filter(|&from| from < shown.len())
        };
        let moved: Vec<usize> = (0..next.len())
            .filter(|&row| {
                !is_same[row] && from(row).is_some_and(|from| is_same_row(shown[from], next[row]))
            })
            .collect();
        let (first, last) = (*moved.first()?, *moved.last()?);
        let lines = first.min(from(first)?)..last.max(from(last)?) + 1;
        // A row that is not moved has to be written again.
        let lost = lines.clone().filter(|&row| {
            is_same[row] && from(row).is_none_or(|from| !is_same_row(shown[from], next[row]))
        });
        let saved = moved.len().saturating_sub(lost.count());
        let has_link = || shown[lines.clone()].iter().any(|row| has_link(row));
        (saved >= LEAST_SAVED && !has_link()).then_some((saved, Scroll { lines, rows }))
    });
    all.max_by_key(|(saved, _)| *saved)
        .map(|(_, scroll)| scroll)
}

#[cfg(test)]
mod tests {
    use std::cell::{Cell, RefCell};
    use std::num::NonZeroU16;
    use std::rc::Rc;

    use proptest::prelude::*;
    use ratatui::buffer::CellDiffOption;
    use ratatui::buffer::CellDiffOption::ForcedWidth;
    use ratatui::style::{Color, Modifier, Style};

    use super::*;

    const SIZE: Size = Size {
        columns: 24,
        rows: 12,
    };

    fn parser() -> vt100::Parser {
        let size = |cells| NonZeroU16::new(cells).unwrap();
        vt100::Parser::new(size(SIZE.rows), size(SIZE.columns), 0)
    }

    /// A list of these texts below a title, with a selected row.
    fn list(buf: &mut Buffer, texts: &[String], top: usize, selected: usize) {
        buf.set_string(
            0,
            0,
            format!("{top} of {}", texts.len()),
            Style::new().fg(Color::Green),
        );
        for (y, (number, text)) in (2..SIZE.rows - 1).zip(texts.iter().enumerate().skip(top)) {
            let style = if number == selected {
                Style::new().add_modifier(Modifier::REVERSED)
            } else {
                Style::new()
            };
            buf.set_stringn(
                0,
                y,
                text,
                usize::from(SIZE.columns),
                style.bg(Color::Indexed(number as u8 % 3)),
            );
        }
    }

    #[derive(Clone, Default)]
    struct Output(Rc<RefCell<Vec<u8>>>);

    impl Write for Output {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.borrow_mut().write(bytes)
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    /// A writer, and the bytes that a frame writes.
    struct FrameTester {
        frames: FrameWriter<Output>,
        output: Output,
    }

    impl FrameTester {
        fn new() -> Self {
            let output = Output::default();
            Self {
                frames: FrameWriter::new(output.clone()),
                output,
            }
        }

        fn draw(&mut self, draw: impl FnOnce(&mut Buffer)) -> Vec<u8> {
            self.draw_areas(|buf, _| {
                buf.reset();
                draw(buf);
                Drawn::all(buf)
            })
        }

        fn draw_areas(&mut self, draw: impl FnOnce(&mut Buffer, bool) -> Drawn) -> Vec<u8> {
            self.frames.draw(SIZE, draw).unwrap();
            self.output.0.take()
        }
    }

    /// The text and style of each cell; a cell that was never written is blank.
    fn cells(screen: &vt100::Screen) -> Vec<String> {
        let places = (0..SIZE.rows).flat_map(|y| (0..SIZE.columns).map(move |x| (y, x)));
        let text = |(y, x)| {
            let cell = screen.cell(y, x).unwrap();
            let text = if cell.has_contents() {
                cell.contents()
            } else {
                " "
            };
            format!(
                "{y},{x} {text:?} {:?} {:?} {}",
                cell.fgcolor(),
                cell.bgcolor(),
                cell.inverse()
            )
        };
        places.map(text).collect()
    }

    fn has_scrolled(bytes: &[u8]) -> bool {
        bytes.windows(3).any(|part| part == b"\x1b[r")
    }

    fn numbered(count: usize) -> Vec<String> {
        (0..count)
            .map(|number| format!("row {number} of the list"))
            .collect()
    }

    #[test]
    fn scrolled_list_moves_its_rows_and_writes_the_new_one() {
        let texts = numbered(40);
        for (from, to) in [(3, 4), (4, 3), (3, 8), (9, 4)] {
            let mut tester = FrameTester::new();
            let all = tester.draw(|buf| list(buf, &texts, from, 99)).len();
            let bytes = tester.draw(|buf| list(buf, &texts, to, 99));
            assert!(has_scrolled(&bytes), "{from} {to}");
            assert!(
                from.abs_diff(to) > 1 || bytes.len() < all / 3,
                "{from} {to}: {} of {all}",
                bytes.len()
            );
        }
    }

    #[test]
    fn few_changed_rows_and_rows_with_links_are_not_scrolled() {
        let texts = numbered(40);
        let mut tester = FrameTester::new();
        tester.draw(|buf| list(buf, &texts, 3, 4));
        assert!(!has_scrolled(&tester.draw(|buf| list(buf, &texts, 3, 5))));
        let link = |buf: &mut Buffer| {
            _ = buf[(0, 5)].set_symbol("\x1b]8;;https://a.test\x1b\\a\x1b]8;;\x1b\\")
        };
        tester.draw(|buf| {
            list(buf, &texts, 3, 4);
            link(buf);
        });
        assert!(!has_scrolled(&tester.draw(|buf| list(buf, &texts, 4, 4))));
    }

    #[test]
    fn step_in_a_list_shows_what_a_complete_frame_shows() {
        let texts = numbered(40);
        let (mut tester, mut shown) = (FrameTester::new(), parser());
        for selected in [4, 5, 6, 3] {
            let draw = |buf: &mut Buffer| {
                list(buf, &texts, 3, selected);
                buf.set_string(20, selected as u16, "日本", Style::new());
            };
            shown.process(&tester.draw(draw));
            let mut complete = parser();
            complete.process(&FrameTester::new().draw(draw));
            assert_eq!(cells(shown.screen()), cells(complete.screen()));
        }
    }

    #[test]
    fn areas_are_drawn_into_the_shown_frame() {
        let texts = numbered(40);
        let (mut tester, mut shown) = (FrameTester::new(), parser());
        shown.process(&tester.draw(|buf| list(buf, &texts, 3, 4)));
        shown.process(&tester.draw(|buf| list(buf, &texts, 4, 5)));
        shown.process(&tester.draw_areas(|buf, is_shown| {
            assert!(is_shown);
            buf.set_string(0, 6, "drawn", Style::new());
            Drawn {
                areas: vec![Rect::new(0, 6, 5, 1)],
                moved: None,
            }
        }));
        let lines: Vec<String> = shown.screen().rows(0, SIZE.columns).collect();
        assert_eq!(
            (lines[5].as_str(), lines[6].as_str()),
            ("row 7 of the list", "drawn of the list")
        );
        tester.frames.forget();
        tester.draw_areas(|_, is_shown| {
            assert!(!is_shown);
            Drawn {
                areas: Vec::new(),
                moved: None,
            }
        });
    }

    /// An output that fails while the flag is set.
    struct Failing(Rc<Cell<bool>>);

    impl Write for Failing {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            Ok(bytes.len())
        }
        fn flush(&mut self) -> io::Result<()> {
            if self.0.get() {
                Err(io::ErrorKind::WouldBlock.into())
            } else {
                Ok(())
            }
        }
    }

    #[test]
    fn frame_after_a_failed_flush_is_complete() {
        let fails = Rc::new(Cell::new(false));
        let mut frames = FrameWriter::new(Failing(Rc::clone(&fails)));
        let mut draw = |text: &str| {
            let mut is_shown = None;
            let drawn = frames.draw(SIZE, |buf, shown| {
                is_shown = Some(shown);
                buf.set_string(0, 1, text, Style::new());
                Drawn::all(buf)
            });
            (drawn.is_ok(), is_shown)
        };
        assert_eq!(draw("one"), (true, Some(false)));
        assert_eq!(draw("two"), (true, Some(true)));
        fails.set(true);
        assert_eq!(draw("three"), (false, Some(true)));
        fails.set(false);
        assert_eq!(draw("four"), (true, Some(false)));
    }

    #[test]
    fn complete_frame_is_one_update_of_all_cells_that_are_not_blank() {
        let draw = |buf: &mut Buffer| {
            buf.set_string(0, 1, "日本 👩‍💻 ☀️ e\u{301}", Style::new().bg(Color::Red));
            buf.set_string(20, 3, "日本語", Style::new());
            buf[(0, 5)]
                .set_symbol("\x1b]8;;https://a.test\x1b\\a\x1b]8;;\x1b\\")
                .set_diff_option(ForcedWidth(NonZeroU16::MIN));
            buf[(3, 6)]
                .set_symbol("x")
                .set_diff_option(CellDiffOption::Skip);
            buf[(4, 7)].set_diff_option(CellDiffOption::AlwaysUpdate);
        };
        let area = Rect::new(0, 0, SIZE.columns, SIZE.rows);
        let (mut whole, output) = (Buffer::empty(area), Output::default());
        let mut expected = CrosstermBackend::new(output.clone());
        draw(&mut whole);
        queue!(expected, BeginSynchronizedUpdate, Clear(ClearType::All)).unwrap();
        expected
            .draw(Buffer::empty(area).diff_iter(&whole))
            .unwrap();
        queue!(expected, Hide, EndSynchronizedUpdate).unwrap();
        let bytes = FrameTester::new().draw(draw);
        assert_eq!(
            String::from_utf8_lossy(&bytes),
            String::from_utf8_lossy(&output.0.take())
        );
    }

    #[test]
    fn forgotten_frame_is_written_completely() {
        let texts = numbered(40);
        let mut tester = FrameTester::new();
        let all = tester.draw(|buf| list(buf, &texts, 3, 4));
        tester.frames.forget();
        assert_eq!(tester.draw(|buf| list(buf, &texts, 3, 4)), all);
    }

    #[test]
    fn moved_rows_are_scrolled_if_nothing_is_beside_them() {
        let texts = numbered(40);
        for (side, by) in [(false, 1), (false, -3), (true, 1), (true, -2), (false, 9)] {
            let complete = |buf: &mut Buffer, top: usize| {
                list(buf, &texts, top, top + 2);
                if side {
                    (0..SIZE.rows)
                        .for_each(|y| buf.set_string(20, y, format!("{y}"), Style::new()));
                }
            };
            let (mut tester, mut shown) = (FrameTester::new(), parser());
            shown.process(&tester.draw(|buf| complete(buf, 10)));
            let top = 10_usize.checked_add_signed(by).unwrap();
            let bytes = tester.draw_areas(|buf, _| {
                let rows = Rect::new(0, 2, if side { 20 } else { SIZE.columns }, 9);
                // Those that the cursor has moved through, the new ones, and the title.
                let (moved, exposed) = (
                    by.unsigned_abs() as u16,
                    if by > 0 { 9 - by.min(9) as u16 } else { 0 },
                );
                let areas = [(2, 9.min(3 + moved)), (2 + exposed, moved.min(9)), (0, 1)];
                buf.reset();
                complete(buf, top);
                let areas = areas.map(|(y, height)| Rect::new(0, y, 9, height)).to_vec();
                Drawn {
                    areas,
                    moved: Some((rows, by)),
                }
            });
            assert_eq!(has_scrolled(&bytes), !side && by.abs() < 9, "{side} {by}");
            shown.process(&bytes);
            let mut expected = parser();
            expected.process(&FrameTester::new().draw(|buf| complete(buf, top)));
            assert_eq!(
                cells(shown.screen()),
                cells(expected.screen()),
                "{side} {by}"
            );
        }
    }

    proptest! {
        #[test]
        fn scrolled_screen_equals_screen_that_is_drawn_completely(
            texts in proptest::collection::vec("(ab|a |日|本){0,13}", 1..40),
            frames in proptest::collection::vec((0..40usize, 0..40usize, any::<bool>()), 1..12),
        ) {
            let (mut tester, mut shown) = (FrameTester::new(), parser());
            for (top, selected, has_side) in frames {
                let draw = |buf: &mut Buffer| {
                    list(buf, &texts, top, selected);
                    if has_side {
                        (0..SIZE.rows).for_each(|y| buf.set_string(12, y, format!("│ side {y}"), Style::new()));
                    }
                };
                shown.process(&tester.draw(draw));
                let mut complete = parser();
                complete.process(&FrameTester::new().draw(draw));
                let (shown, complete) = (cells(shown.screen()), cells(complete.screen()));
                prop_assert_eq!(shown.iter().zip(&complete).find(|(one, other)| one != other), None);
            }
        }
    }
}
