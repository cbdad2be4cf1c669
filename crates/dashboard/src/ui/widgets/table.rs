//! Tables of which only the visible rows are drawn.
//!
//! ```text
//!   columns ──► widths for this area: fixed columns keep theirs, flexible columns share the rest
//!   window  ──► first row, so that the selected row is visible and the list scrolls as little as possible
//!   rows    ──► a closure returns the cells of a row; it is called for visible rows only
//! ```
//!
//! Numbers, times and counts are never cut; names are cut at their end. A column without room is
//! not drawn.

use crate::ui::{Theme, UNICODE, draw_line, row_of, width_of};
use ratatui::prelude::{Buffer, Line, Rect, Span, Style};
use scandeck_wire::text;

/// Columns left of the first cell, for the selection bar and the mark.
pub const GUTTER: u16 = 2;
/// In rows of at least so many columns the selection bar covers the name only.
const WIDE: u16 = 120;

/// A column without its cells. Its width is fixed, or a share of the remaining width between `least` and `most`.
#[derive(Clone, Copy, Debug)]
pub struct TableColumn {
    pub title: &'static str,
    /// Smallest sensible width.
    least: u16,
    /// Greatest useful width.
    most: u16,
    /// Columns of its widest cell; further columns are shared out only when no other column needs
    /// them.
    content: u16,
    /// Omitted before the content of another column is cut.
    gives_way: bool,
    /// Columns that remain when it gives way; 0 omits it.
    remaining: u16,
    /// Weight of the share of the remaining width; 0 for a fixed width.
    share: u16,
    /// Right-aligned, for numbers.
    pub right: bool,
    /// Omitted if there is no room, higher ranks first; 0 is never omitted.
    pub expendable: u8,
    /// Shown only in tables of at least so many columns.
    pub from: u16,
    /// Shown only in tables of fewer columns.
    pub below: u16,
    /// Cut at the end of the whole cell, as sentences are; of several parts of a name the longest
    /// is cut.
    pub sentence: bool,
}

impl TableColumn {
    /// A left-aligned column of a fixed width.
    pub const fn fixed(width: u16) -> Self {
        Self {
            most: width,
            ..Self::flex(width, 0)
        }
    }

    /// A left-aligned column of a flexible width.
    pub const fn flex(least: u16, share: u16) -> Self {
        Self {
            title: "",
            least,
            most: u16::MAX,
            content: u16::MAX,
            gives_way: false,
            remaining: 0,
            share,
            right: false,
            expendable: 0,
            from: 0,
            below: u16::MAX,
            sentence: false,
        }
    }

    pub const fn titled(self, title: &'static str) -> Self {
        Self { title, ..self }
    }

    /// Sets the greatest width of a flexible column.
    pub const fn at_most(self, columns: u16) -> Self {
        Self {
            most: columns,
            ..self
        }
    }

    /// Widens a fixed column.
    pub const fn at_least(self, columns: u16) -> Self {
        Self {
            least: columns,
            most: columns,
            ..self
        }
    }

    /// A column whose widest cell has so many columns; at most `kept` of them are never cut for the
    /// content of others.
    pub fn content(self, columns: usize, kept: u16) -> Self {
        let content = u16::try_from(columns).unwrap_or(u16::MAX);
        Self {
            content,
            least: self.least.max(kept.min(content)),
            ..self
        }
    }

    /// A column that is omitted before the content of another one is cut.
    pub const fn gives_way(self) -> Self {
        Self {
            gives_way: true,
            ..self
        }
    }

    /// A column of one value that is omitted before the content of another one is cut, higher ranks
    /// first.
    pub const fn gives_way_if(self, is_constant: bool, rank: u8) -> Self {
        if is_constant {
            self.gives_way().expendable(rank)
        } else {
            self
        }
    }

    /// A column that is no longer omitted before the content of another one is cut.
    pub const fn stays(self) -> Self {
        Self {
            gives_way: self.gives_way && self.remaining > 0,
            ..self
        }
    }

    /// A column that keeps so many columns when it gives way to the content of another one.
    pub const fn shrinks_if(self, is_constant: bool, remaining: u16) -> Self {
        if is_constant {
            Self {
                remaining,
                ..self.gives_way()
            }
        } else {
            self
        }
    }

    pub const fn right(self) -> Self {
        Self {
            right: true,
            ..self
        }
    }

    pub const fn expendable(self, rank: u8) -> Self {
        Self {
            expendable: rank,
            ..self
        }
    }

    pub const fn from(self, columns: u16) -> Self {
        Self {
            from: columns,
            ..self
        }
    }

    pub const fn below(self, columns: u16) -> Self {
        Self {
            below: columns,
            ..self
        }
    }

    /// A column that is never shown if `is_omitted`.
    pub const fn omitted(self, is_omitted: bool) -> Self {
        if is_omitted {
            Self {
                from: u16::MAX,
                ..self
            }
        } else {
            self
        }
    }

    /// A column whose cells are all equal or empty gives its room to the others, except in wide
    /// tables.
    pub const fn constant(self, is_constant: bool) -> Self {
        if is_constant && self.from < WIDE {
            Self { from: WIDE, ..self }
        } else {
            self
        }
    }

    /// A flexible column that keeps this width until its content grows.
    const fn pinned(self, width: u16) -> Self {
        if self.share == 0 {
            return self;
        }
        Self {
            least: width,
            most: width,
            ..self
        }
    }

    /// The column with the place that it had for earlier rows: it is neither omitted nor narrowed
    /// because of the rows that arrived.
    pub fn kept(self, earlier: Self) -> Self {
        if (self.title, self.share) != (earlier.title, earlier.share) {
            return self;
        }
        let was_varied = self.gives_way && !earlier.gives_way;
        let is_omitted = self.from >= WIDE && earlier.from < self.from;
        let is_known = self.content < u16::MAX && earlier.content < u16::MAX;
        let is_pinned = earlier.is_flexible() && earlier.least == earlier.most;
        Self {
            least: self.least.max(earlier.least),
            most: match is_pinned && self.content <= earlier.content {
                true => earlier.most,
                false => self.most.max(earlier.most),
            },
            content: match is_known {
                true => self.content.max(earlier.content),
                false => self.content,
            },
            gives_way: self.gives_way && earlier.gives_way,
            expendable: match was_varied {
                true => earlier.expendable,
                false => self.expendable,
            },
            from: match is_omitted {
                true => earlier.from,
                false => self.from,
            },
            ..self
        }
    }

    pub const fn sentence(self) -> Self {
        Self {
            sentence: true,
            ..self
        }
    }

    /// The width that its content needs.
    fn useful(&self) -> u16 {
        self.most.min(self.content)
    }

    fn is_flexible(&self) -> bool {
        self.share > 0
    }
}

/// The cells of a row, and its state.
#[derive(Debug, Default)]
pub struct TableRow<'a> {
    /// One line per column.
    pub cells: Vec<Line<'a>>,
    /// The style of the whole row, such as dim for stale data.
    pub style: Style,
    pub marked: bool,
    pub selected: bool,
}

/// The widths of the columns in `width`, with one blank column between them. Omitted columns have
/// the width 0.
pub fn widths(columns: &[TableColumn], width: u16) -> Vec<u16> {
    let is_shown = |column: &TableColumn| (column.from..column.below).contains(&width);
    let mut room = RoomOfTable {
        columns: columns.to_vec(),
        shown: columns.iter().map(is_shown).collect(),
        width: width.into(),
    };
    room.omit_expendable();
    room.give_way();
    let RoomOfTable { columns, shown, .. } = &room;
    let least = columns.iter().zip(shown);
    let mut result: Vec<u16> = least
        .map(|(column, shown)| if *shown { column.least } else { 0 })
        .collect();
    let mut spare = room.width.saturating_sub(room.needed());
    share_out(columns, &mut result, &mut spare, TableColumn::useful);
    share_out(columns, &mut result, &mut spare, |column| column.most);
    squeeze(columns, &mut result, room.width);
    result
}

/// The columns of which those with a width `before` keep it: a column that appears takes its room
/// from the names, the first flexible column. Where it has no room there, the columns as they are.
pub fn pinned_beside_names(
    columns: &[TableColumn],
    before: &[u16],
    width: u16,
) -> Vec<TableColumn> {
    let names = columns.iter().position(TableColumn::is_flexible);
    let pin = |(at, (column, &shown)): (usize, (&TableColumn, &u16))| {
        let is_free = shown == 0 || Some(at) == names;
        if is_free {
            *column
        } else {
            column.pinned(shown)
        }
    };
    let pinned: Vec<TableColumn> = columns.iter().zip(before).enumerate().map(pin).collect();
    let (free, now) = (widths(columns, width), widths(&pinned, width));
    let is_cut = |at: usize| match Some(at) == names {
        true => now[at] < pinned[at].least,
        false => free[at] > 0 && now[at] == 0,
    };
    match (0..pinned.len()).any(is_cut) {
        true => columns.to_vec(),
        false => pinned,
    }
}

/// The columns of a table and those that are shown, while columns are omitted.
struct RoomOfTable {
    columns: Vec<TableColumn>,
    shown: Vec<bool>,
    width: u32,
}

impl RoomOfTable {
    fn shown_columns(&self) -> impl Iterator<Item = &TableColumn> {
        let columns = self.columns.iter().zip(&self.shown);
        columns
            .filter(|(_, shown)| **shown)
            .map(|(column, _)| column)
    }

    /// The columns of the screen for the least widths.
    fn needed(&self) -> u32 {
        self.shown_columns()
            .map(|column| u32::from(column.least) + 1)
            .sum::<u32>()
            .saturating_sub(1)
    }

    /// The columns of the screen for all content. Content of an unknown width does not count.
    fn wanted(&self) -> u32 {
        let known = self
            .shown_columns()
            .filter(|column| column.content < u16::MAX);
        let cut = known.map(|column| column.useful().saturating_sub(column.least));
        self.needed() + cut.map(u32::from).sum::<u32>()
    }

    /// The shown column of the highest rank that fulfils a condition.
    fn first_out(&self, is_out: impl Fn(&TableColumn) -> bool) -> Option<usize> {
        let all = (0..self.columns.len()).filter(|&at| self.shown[at] && is_out(&self.columns[at]));
        all.max_by_key(|&at| self.columns[at].expendable)
    }

    /// Omits columns until the least widths fit.
    fn omit_expendable(&mut self) {
        while self.needed() > self.width
            && let Some(out) = self.first_out(|column| column.expendable > 0)
        {
            self.shown[out] = false;
        }
    }

    /// Omits or shrinks columns until the content of the others fits.
    fn give_way(&mut self) {
        while self.wanted() > self.width
            && let Some(out) = self.first_out(|column| column.gives_way)
        {
            let TableColumn {
                right, remaining, ..
            } = self.columns[out];
            if remaining == 0 {
                self.shown[out] = false;
            } else {
                self.columns[out] = TableColumn {
                    right,
                    ..TableColumn::fixed(remaining)
                };
            }
        }
    }
}

/// Distributes the spare columns over the flexible columns by their shares, up to their limits.
fn share_out(
    columns: &[TableColumn],
    widths: &mut [u16],
    spare: &mut u32,
    limit: impl Fn(&TableColumn) -> u16,
) {
    loop {
        let is_open = |&i: &usize| {
            columns[i].is_flexible() && widths[i] > 0 && widths[i] < limit(&columns[i])
        };
        let open: Vec<usize> = (0..columns.len()).filter(is_open).collect();
        let total: u32 = open.iter().map(|&i| u32::from(columns[i].share)).sum();
        if *spare == 0 || total == 0 {
            return;
        }
        let pot = *spare;
        for i in open {
            let share = u32::from(columns[i].share);
            let more = (pot * share)
                .div_ceil(total)
                .min(*spare)
                .min(u32::from(limit(&columns[i]) - widths[i]));
            widths[i] += more as u16;
            *spare -= more;
        }
    }
}

/// Where even the least widths do not fit, cuts the flexible columns first, then the last ones.
fn squeeze(columns: &[TableColumn], widths: &mut [u16], width: u32) {
    let total = |widths: &[u16]| {
        widths
            .iter()
            .filter(|&&w| w > 0)
            .map(|&w| u32::from(w) + 1)
            .sum::<u32>()
            .saturating_sub(1)
    };
    let flexible = (0..columns.len()).filter(|&i| columns[i].is_flexible());
    let fixed = (0..columns.len())
        .rev()
        .filter(|&i| !columns[i].is_flexible());
    for i in flexible.chain(fixed).collect::<Vec<_>>() {
        let over = total(widths).saturating_sub(width);
        if over == 0 {
            return;
        }
        let cut = over.min(u32::from(widths[i])) as u16;
        widths[i] -= cut;
    }
}

pub fn draw_header_row(
    buf: &mut Buffer,
    area: Rect,
    theme: Theme,
    columns: &[TableColumn],
    widths: &[u16],
) {
    let title = |title: &'static str| {
        if title == UNICODE.change {
            theme.glyphs.change
        } else {
            title
        }
    };
    let cells = columns
        .iter()
        .map(|column| Line::styled(title(column.title), theme.head()))
        .collect();
    draw_cells(
        buf,
        area,
        theme,
        columns,
        widths,
        &TableRow {
            cells,
            ..TableRow::default()
        },
    );
}

/// Draws rows in their lines of the area. `focused` decides the style of the selected row.
pub fn draw_rows<'a>(
    buf: &mut Buffer,
    area: Rect,
    theme: Theme,
    columns: &[TableColumn],
    widths: &[u16],
    focused: bool,
    rows: impl Iterator<Item = (u16, TableRow<'a>)>,
) {
    for (y, row) in rows.take_while(|&(y, _)| y < area.height) {
        let line = row_of(area, y);
        draw_cells(buf, line, theme, columns, widths, &row);
        buf.set_style(line, row.style);
        if row.selected {
            buf.set_style(
                selection_bar(line, columns, widths, &row),
                theme.selection(focused),
            );
            buf.set_stringn(
                line.x,
                line.y,
                theme.glyphs.selected,
                line.width as usize,
                theme.key(),
            );
        }
    }
}

/// The cells of the selected row that are restyled: in wide rows the name only, because a step
/// restyles two rows.
fn selection_bar(line: Rect, columns: &[TableColumn], widths: &[u16], row: &TableRow<'_>) -> Rect {
    let is_name =
        |&at: &usize| columns[at].is_flexible() && widths[at] > 0 && width_of(&row.cells[at]) > 0;
    let Some(at) = (0..row.cells.len().min(widths.len()))
        .find(is_name)
        .filter(|_| line.width >= WIDE)
    else {
        return line;
    };
    let before: u16 = widths[..at]
        .iter()
        .filter(|&&width| width > 0)
        .map(|width| width + 1)
        .sum();
    let room = widths[at] + spill(&columns[at], &widths[at + 1..], &row.cells[at + 1..]);
    let width = room.min(width_of(&row.cells[at]) as u16);
    Rect {
        x: line.x + GUTTER + before,
        width,
        ..line
    }
    .intersection(line)
}

fn draw_cells(
    buf: &mut Buffer,
    area: Rect,
    theme: Theme,
    columns: &[TableColumn],
    widths: &[u16],
    row: &TableRow<'_>,
) {
    if area.height == 0 || area.width == 0 {
        return;
    }
    if row.marked && area.width > 1 {
        buf.set_stringn(area.x + 1, area.y, theme.glyphs.marked, 1, theme.key());
    }
    let end = area.x + area.width;
    let mut x = area.x + GUTTER;
    for (i, ((column, &width), cell)) in columns.iter().zip(widths).zip(&row.cells).enumerate() {
        if width == 0 || x >= end {
            continue;
        }
        let room = (width + spill(column, &widths[i + 1..], &row.cells[i + 1..])).min(end - x);
        draw_cell(buf, Rect::new(x, area.y, room, 1), theme, column, cell);
        x += width + 1;
    }
}

/// A left-aligned cell can use the room of empty cells to its right.
fn spill(column: &TableColumn, widths: &[u16], cells: &[Line<'_>]) -> u16 {
    let is_empty = |cell: &Line<'_>| cell.spans.iter().all(|span| span.content.is_empty());
    let free = widths
        .iter()
        .zip(cells)
        .take_while(|(_, cell)| is_empty(cell));
    if column.right {
        0
    } else {
        free.map(|(&width, _)| if width > 0 { width + 1 } else { 0 })
            .sum()
    }
}

fn draw_cell(buf: &mut Buffer, area: Rect, theme: Theme, column: &TableColumn, cell: &Line<'_>) {
    let cell_width = width_of(cell);
    if cell_width > area.width as usize && (column.is_flexible() || cell.spans.len() == 1) {
        return draw_line(
            buf,
            area,
            &shortened(
                cell,
                area.width as usize,
                column.sentence,
                theme.glyphs.ellipsis,
            ),
        );
    }
    let indent = if column.right {
        (area.width as usize).saturating_sub(cell_width) as u16
    } else {
        0
    };
    draw_line(
        buf,
        Rect {
            x: area.x + indent,
            width: area.width - indent,
            ..area
        },
        cell,
    );
}

/// A cell in fewer columns. A sentence keeps its beginning; of several parts of a name the longest
/// is cut at its end.
fn shortened<'a>(cell: &'a Line<'a>, columns: usize, sentence: bool, ellipsis: char) -> Line<'a> {
    let over = width_of(cell).saturating_sub(columns);
    let longest = cell
        .spans
        .iter()
        .map(|span| text::width(&span.content))
        .max()
        .unwrap_or(0);
    let shortened_span = if sentence {
        None
    } else {
        cell.spans
            .iter()
            .rposition(|span| text::width(&span.content) == longest)
    };
    let mut room = columns;
    let last = cell.spans.iter().rposition(|span| !span.content.is_empty());
    let spans = cell.spans.iter().enumerate().map(|(at, span)| {
        let columns = text::width(&span.content);
        let short = match shortened_span {
            Some(one) if one == at => {
                text::start_with(&span.content, longest.saturating_sub(over), ellipsis)
            }
            // This part fits and the following one does not: the ellipsis goes here.
            _ if columns == room && Some(at) != last => {
                text::start_with(&format!("{}{ellipsis}", span.content), room, ellipsis)
                    .into_owned()
                    .into()
            }
            _ => text::start_with(&span.content, room, ellipsis),
        };
        room = room.saturating_sub(text::width(&short));
        Span::styled(short, span.style)
    });
    Line::from(spans.collect::<Vec<_>>()).style(cell.style)
}

/// The first visible row: `top` if the selected row is visible from there, else moved as little as
/// possible. Leaves no empty rows below while there are rows above.
pub fn window(top: usize, selected: usize, total: usize, height: usize) -> usize {
    if height == 0 || total == 0 {
        return 0;
    }
    let lowest = selected.saturating_sub(height - 1);
    top.clamp(lowest, selected.max(lowest))
        .min(total.saturating_sub(height))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const COLUMNS: &[TableColumn] = &[
        TableColumn::fixed(6),
        TableColumn::flex(10, 3),
        TableColumn::flex(6, 1).at_most(20),
        TableColumn::fixed(5).right().expendable(2),
        TableColumn::fixed(4).right().expendable(1),
    ];

    #[test]
    fn fixed_columns_keep_width_and_flexible_ones_share_rest() {
        let shown = widths(COLUMNS, 78);
        assert_eq!((shown[0], shown[3], shown[4]), (6, 5, 4));
        assert_eq!(shown.iter().sum::<u16>() + 4, 78);
    }

    #[test]
    fn expendable_columns_are_omitted_by_rank() {
        assert_eq!(widths(COLUMNS, 30), [6, 11, 6, 0, 4]);
        assert_eq!(widths(COLUMNS, 24), [6, 10, 6, 0, 0]);
    }

    #[test]
    fn columns_share_only_what_others_need() {
        let columns = [
            TableColumn::flex(10, 3).content(40, 0),
            TableColumn::flex(6, 1).content(15, 15),
            TableColumn::fixed(8).expendable(1).gives_way(),
        ];
        assert_eq!(widths(&columns, 70), [44, 16, 8]);
        assert_eq!(
            widths(&columns, 60),
            [43, 16, 0],
            "the content of a name matters more"
        );
        assert_eq!(widths(&columns, 30), [14, 15, 0]);
    }

    #[test]
    fn column_that_appears_takes_its_room_from_the_names() {
        let columns = [
            TableColumn::flex(10, 3).content(40, 0),
            TableColumn::fixed(8).omitted(true),
            TableColumn::flex(6, 1).content(20, 6),
            TableColumn::fixed(4),
        ];
        let mut now = columns;
        now[1] = TableColumn::fixed(8);
        let before = widths(&columns, 60);
        assert_eq!(before, [39, 0, 15, 4]);
        let placed = pinned_beside_names(&now, &before, 60);
        assert_eq!(widths(&placed, 60), [30, 8, 15, 4]);
        let next: Vec<TableColumn> = now
            .iter()
            .zip(&placed)
            .map(|(made, earlier)| made.kept(*earlier))
            .collect();
        assert_eq!(widths(&next, 60), [30, 8, 15, 4], "for the next rows");
        let narrow = pinned_beside_names(&now, &widths(&columns, 26), 26);
        assert_eq!(widths(&narrow, 26), widths(&now, 26), "without room");
    }

    proptest! {
        #[test]
        fn columns_never_exceed_width(width in 0u16..300) {
            let shown = widths(COLUMNS, width);
            let total: u32 = shown.iter().filter(|&&w| w > 0).map(|&w| u32::from(w) + 1).sum();
            prop_assert!(total.saturating_sub(1) <= u32::from(width), "{shown:?}");
        }

        #[test]
        fn selected_row_is_always_in_window(
            top in 0usize..200, total in 1usize..200, at in 0usize..200, height in 1usize..60,
        ) {
            let selected = at % total;
            let first = window(top, selected, total, height);
            prop_assert!(first <= selected && selected < first + height);
            prop_assert!(first == 0 || first + height <= total);
        }
    }

    #[test]
    fn long_cell_extends_into_empty_cells() {
        let area = Rect::new(0, 0, 40, 1);
        let mut buf = Buffer::empty(area);
        let columns = [
            TableColumn::fixed(5),
            TableColumn::fixed(5).right(),
            TableColumn::fixed(5),
        ];
        let row = TableRow {
            cells: ["connection", "", "end"].map(Line::raw).to_vec(),
            selected: true,
            ..TableRow::default()
        };
        draw_rows(
            &mut buf,
            area,
            Theme::default(),
            &columns,
            &[5, 5, 5],
            true,
            [(0, row)].into_iter(),
        );
        let text: String = (0..40).map(|x| buf[(x, 0)].symbol()).collect();
        assert_eq!(text.trim_end(), "▌ connection  end");
    }

    #[test]
    fn selection_bar_covers_narrow_rows_and_names_in_wide_ones() {
        let columns = [TableColumn::fixed(4), TableColumn::flex(10, 1)];
        let bar = |width| {
            let area = Rect::new(0, 0, width, 1);
            let mut buf = Buffer::empty(area);
            let row = TableRow {
                cells: ["high", "Open port"].map(Line::raw).to_vec(),
                selected: true,
                ..TableRow::default()
            };
            let room = widths(&columns, width - GUTTER);
            draw_rows(
                &mut buf,
                area,
                Theme::default(),
                &columns,
                &room,
                true,
                [(0, row)].into_iter(),
            );
            let is_reversed = |x: &u16| {
                buf[(*x, 0)]
                    .modifier
                    .contains(ratatui::style::Modifier::REVERSED)
            };
            (0..width)
                .filter(is_reversed)
                .map(|x| buf[(x, 0)].symbol().to_owned())
                .collect::<String>()
        };
        assert_eq!(bar(WIDE), "Open port");
        assert_eq!(bar(WIDE - 1).chars().count(), usize::from(WIDE - 1));
    }

    #[test]
    fn long_cell_is_cut_in_longest_part_and_sentence_at_end() {
        let shown = |parts: &[&str], columns, sentence| -> String {
            let cell = Line::from(
                parts
                    .iter()
                    .map(|part| Span::raw(*part))
                    .collect::<Vec<_>>(),
            );
            shortened(&cell, columns, sentence, '…')
                .spans
                .iter()
                .map(|span| &*span.content)
                .collect()
        };
        assert_eq!(
            shown(&["▸ ", "#88 keys.txt · url", "  ×12"], 18, false),
            "▸ #88 keys.t…  ×12"
        );
        assert_eq!(
            shown(&["/?t=aaaa", "/latest", "/x"], 12, true),
            "/?t=aaaa/la…"
        );
        assert_eq!(shown(&["/?t=aaaa", "/latest"], 8, true), "/?t=aaa…");
        assert_eq!(shown(&["ab", "cd", "ef"], 3, false), "ab…");
    }

    #[test]
    fn window_scrolls_as_little_as_possible() {
        assert_eq!(window(10, 12, 100, 10), 10);
        assert_eq!(window(10, 20, 100, 10), 11);
        assert_eq!(window(10, 9, 100, 10), 9);
        assert_eq!(window(95, 99, 100, 10), 90);
    }
}
