//! Rows of cells, and tables of them: a row continues on the next page below the repeated header.

use super::super::fonts::Style;
use super::super::lines::{Ink, Span, TextLine, break_lines};
use super::super::output::TagName;
use super::{BOTTOM, LEFT, PageLayout, SMALL, TextSize, VERBATIM, WIDTH};
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

impl PageLayout<'_> {
    pub(super) fn table(&mut self, table: &TableBlock<'_>) -> Result<(), RenderError> {
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
            header = self.cells(table.headers, &columns, (Style::Bold, SMALL), |layout| {
                layout.tag(row, TagName::HeaderCell)
            });
            // The header row stays with the first row.
            self.need(3.0 * SMALL.leading)?;
            self.row(&header, head_shape, None)?;
        }
        header.iter_mut().for_each(|cell| cell.tag = None);
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
        for row in table.rows {
            let row_tag = self.tag(tag, TagName::Row);
            let cells = self.cells(row, &columns, (style, size), |layout| {
                layout.tag(row_tag, TagName::Cell)
            });
            let repeated = has_header.then_some((header.as_slice(), head_shape));
            self.row(&cells, shape, repeated)?;
        }
        self.y += 7.0;
        Ok(())
    }

    fn cells(
        &mut self,
        texts: &[String],
        columns: &[(f32, f32)],
        (style, size): (Style, TextSize),
        mut tag: impl FnMut(&mut Self) -> Option<usize>,
    ) -> Vec<RowCell> {
        let mut cells = Vec::with_capacity(columns.len());
        for (at, (x, width)) in columns.iter().enumerate() {
            let text = texts.get(at).map_or("", String::as_str);
            // Risks of the recommendations have their colour.
            let risk = Risk::DOWN
                .into_iter()
                .find(|risk| at == 0 && style == Style::Regular && risk.as_str() == text);
            let (style, ink) =
                risk.map_or((style, Ink::Text), |risk| (Style::Bold, Ink::Risk(risk)));
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
        let most = cells.iter().map(|cell| cell.lines.len()).max().unwrap_or(0);
        let leading = shape.size.leading;
        let mut at = 0;
        while at < most {
            let room = ((BOTTOM - self.y - 2.0 * shape.padding) / leading).max(0.0) as usize;
            if room < (most - at).min(2) {
                self.new_page()?;
                if let Some((header, shape)) = header {
                    // A header may not take the page that its row needs.
                    let rows = header
                        .iter()
                        .map(|cell| cell.lines.len())
                        .max()
                        .unwrap_or(0);
                    if rows <= 10 {
                        self.row(header, shape, None)?;
                    }
                }
                continue;
            }
            let count = room.min(most - at);
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
}
