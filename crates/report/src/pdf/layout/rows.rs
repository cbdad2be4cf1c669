//! Rows of cells, and tables of them: a row continues on the next page below the repeated header.

use super::super::fonts::Style;
use super::super::lines::{Ink, Span, TextLine, break_lines};
use super::super::output::TagName;
use super::sizes::{BODY, BOTTOM, LEFT, SHORT_FACTS, SMALL, TOP, TextSize, VERBATIM, WIDTH};
use super::{PageLayout, PartStart};
use crate::RenderError;
use crate::flow::TableBlock;
use scandeck_wire::contract::Risk;

/// A cell of a row with its lines.
pub(super) struct RowCell {
    pub lines: Vec<TextLine>,
    pub x: f32,
    pub width: f32,
    pub tag: Option<usize>,
}

#[derive(Clone, Copy)]
pub(super) struct RowShape {
    pub size: TextSize,
    pub padding: f32,
    pub fill: Option<Ink>,
    pub has_rule: bool,
}

pub(super) const CONTENTS_ROW: RowShape = RowShape {
    size: BODY,
    padding: 1.0,
    fill: None,
    has_rule: false,
};

/// Rows of a table that stay on one page.
const KEPT_ROWS: usize = 6;
/// Their largest height.
const KEPT_HEIGHT: f32 = 260.0;
/// Longest row that is not divided, in lines.
const WHOLE_ROW: usize = 24;

/// The font of the cells of a row, and the risk that a column shows.
type CellStyle<'a> = (Style, TextSize, &'a dyn Fn(usize) -> Option<Risk>);

fn lines_of(cells: &[RowCell]) -> usize {
    cells.iter().map(|cell| cell.lines.len()).max().unwrap_or(0)
}

pub(super) fn height(cells: &[RowCell], shape: RowShape) -> f32 {
    match lines_of(cells) {
        0 => 0.0,
        lines => lines as f32 * shape.size.leading + 2.0 * shape.padding,
    }
}

/// Left edge and width of each column.
fn columns(widths: &[f32]) -> Vec<(f32, f32)> {
    let mut columns = Vec::with_capacity(widths.len());
    let mut x = LEFT;
    for share in widths {
        let width = WIDTH * share / 100.0;
        columns.push((x, width));
        x += width;
    }
    columns
}

impl PageLayout<'_, '_> {
    /// A table, on the page of the end of the text above it.
    pub(super) fn table(
        &mut self,
        table: &TableBlock<'_>,
        tail: Option<PartStart>,
    ) -> Result<(), RenderError> {
        let tag = self.tag(None, TagName::Table);
        let columns = columns(table.widths);
        let has_header = table.headers.iter().any(|header| !header.is_empty());
        let head_shape = RowShape {
            size: SMALL,
            padding: 2.5,
            fill: Some(Ink::Shade),
            has_rule: true,
        };
        let mut header = Vec::new();
        if has_header {
            let row = self.tag(tag, TagName::Row);
            header = self.cells(
                table.headers,
                &columns,
                (Style::Bold, SMALL, &|_| None),
                |layout| layout.tag(row, TagName::HeaderCell),
            );
        }
        let (style, size) = if table.is_verbatim {
            (Style::Mono, VERBATIM)
        } else {
            (Style::Regular, SMALL)
        };
        let shape = RowShape {
            size,
            padding: 2.2,
            fill: None,
            has_rule: true,
        };
        // The header row stays with the first rows, and a short table is whole.
        let room = self.height_of(table, &columns, (style, shape)) + height(&header, head_shape);
        let is_lead = table.is_verbatim && table.rows.len() <= KEPT_ROWS && room <= SHORT_FACTS;
        if is_lead && self.y + room > BOTTOM {
            self.new_page()?;
        } else if !is_lead {
            self.hold_tail(tail.filter(|_| !table.is_verbatim), room);
            self.need(room)?;
        }
        let above = self.held.take();
        let start = self.here();
        if has_header {
            self.row(&header, head_shape, None)?;
        }
        header.iter_mut().for_each(|cell| cell.tag = None);
        for (at, row) in table.rows.iter().enumerate() {
            let row_tag = self.tag(tag, TagName::Row);
            let risks = |column: usize| table.risk_at(at, column);
            let cells = self.cells(row, &columns, (style, size, &risks), |layout| {
                layout.tag(row_tag, TagName::Cell)
            });
            let repeated = has_header.then_some((header.as_slice(), head_shape));
            // The last row is not alone on a page.
            if at > 1 && at + 2 == table.rows.len() {
                let last = &table.rows[at + 1];
                let last = self.cells(last, &columns, (style, size, &|_| None), |_| None);
                let both = height(&cells, shape) + height(&last, shape);
                if both < KEPT_HEIGHT && self.y + both > BOTTOM {
                    self.continue_table(repeated)?;
                }
            }
            self.row(&cells, shape, repeated)?;
        }
        self.y += 7.0;
        if is_lead {
            // Request and response below short evidence are on its page.
            self.hold_part(start, above);
            if let Some(held) = &mut self.held {
                held.has_table = true;
            }
        }
        Ok(())
    }

    /// The height of the rows that stay on one page: of all, if they are few, else of the first two.
    fn height_of(
        &mut self,
        table: &TableBlock<'_>,
        columns: &[(f32, f32)],
        (style, shape): (Style, RowShape),
    ) -> f32 {
        let mut total = 0.0;
        for (at, row) in table.rows.iter().take(KEPT_ROWS + 1).enumerate() {
            let cells = self.cells(row, columns, (style, shape.size, &|_| None), |_| None);
            let next = height(&cells, shape);
            // A longer part is divided at the end of a page.
            if at > 0 && total + next > KEPT_HEIGHT {
                break;
            }
            total += next;
            if at == 1 && table.rows.len() > KEPT_ROWS {
                break;
            }
        }
        total.min(KEPT_HEIGHT)
    }

    fn cells(
        &mut self,
        texts: &[String],
        columns: &[(f32, f32)],
        (style, size, risks): CellStyle<'_>,
        mut tag: impl FnMut(&mut Self) -> Option<usize>,
    ) -> Vec<RowCell> {
        let mut cells = Vec::with_capacity(columns.len());
        for (at, (x, width)) in columns.iter().enumerate() {
            let text = texts.get(at).map_or("", String::as_str);
            let (style, ink) =
                risks(at).map_or((style, Ink::Text), |risk| (Style::Bold, Ink::Risk(risk)));
            let lines = break_lines(
                self.fonts,
                &[Span { text, style, ink }],
                size.size,
                width - 8.0,
            );
            let tag = tag(self);
            cells.push(RowCell {
                lines,
                x: x + 4.0,
                width: width - 8.0,
                tag,
            });
        }
        cells
    }

    /// A row of cells, which continues on the next page below the repeated header.
    pub(super) fn row(
        &mut self,
        cells: &[RowCell],
        shape: RowShape,
        header: Option<(&[RowCell], RowShape)>,
    ) -> Result<(), RenderError> {
        let most = lines_of(cells);
        let leading = shape.size.leading;
        let mut at = 0;
        while at < most {
            let room = ((BOTTOM - self.y - 2.0 * shape.padding) / leading).max(0.0) as usize;
            // A short row is whole; of a longer one no single line is alone.
            let least = match at == 0 && most <= WHOLE_ROW {
                true => most,
                false => (most - at).min(2),
            };
            if room < least && self.y > TOP {
                self.continue_table(header)?;
                continue;
            }
            self.settle();
            let count = room.max(1).min(most - at);
            let height = count as f32 * leading + 2.0 * shape.padding;
            if let Some(ink) = shape.fill {
                self.area(LEFT, self.y, WIDTH, height, ink);
            }
            for cell in cells {
                for (offset, line) in cell.lines.iter().skip(at).take(count).enumerate() {
                    let top = self.y + shape.padding + offset as f32 * leading;
                    self.line(
                        line.clone(),
                        (cell.x, top),
                        cell.width,
                        shape.size,
                        cell.tag,
                    );
                }
            }
            self.y += height;
            if shape.has_rule {
                self.area(LEFT, self.y - 0.5, WIDTH, 0.5, Ink::Rule);
            }
            at += count;
        }
        Ok(())
    }

    /// Begins a new page with the repeated header.
    fn continue_table(
        &mut self,
        header: Option<(&[RowCell], RowShape)>,
    ) -> Result<(), RenderError> {
        self.new_page()?;
        match header {
            // A header may not take the page that its row needs.
            Some((header, shape)) if lines_of(header) <= 10 => self.row(header, shape, None),
            _ => Ok(()),
        }
    }
}
