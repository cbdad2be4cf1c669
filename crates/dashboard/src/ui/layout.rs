//! The areas of the screen by size and focus. All numbers of the layout are here.
//!
//! ```text
//!  Wide                        Beside              Portrait        Stacked
//!  header                      header              header          header
//!  work-  findings   detail    tabs                list            list or detail
//!  spaces                      list    detail      detail
//!  targets scans     captures                      scans line
//!  footer                      footer              captures line   footer
//!                                                  footer
//! ```
//!
//! Full views, such as reports (`Pane::is_full_view`), replace findings, scans and captures in the
//! wide layout.

use crate::base::{
    Axis, CellArea, Divider, Focus, Layout, Pane, PaneSizes, PlacedDivider, Size, SlotPart,
};
use ratatui::layout::Rect;

/// Smaller screens show only a line with the required size.
pub const LEAST: Size = Size {
    columns: 20,
    rows: 5,
};
/// Greatest width of a pop-up.
const POPUP_COLUMNS: u16 = 92;
/// Greatest width of a pop-up with two answers beside each other, or with a tree.
const WIDE_COLUMNS: u16 = 140;
/// Least width of the lines in a pop-up that have two values beside each other.
pub const BESIDE_FROM: u16 = 84;
/// Most rows of suggestions of the command line.
const COMMAND_OFFERS: usize = 12;
/// Columns of a command with its arguments, before its description.
pub const COMMAND_NAME: usize = 34;
/// Least and greatest width of the left side in the wide layout.
const LEFT: (u16, u16) = (30, 44);
/// Least height of a framed list, with its frame, that has a line of tabs.
pub const TABS_FROM: u16 = 10;
/// Least height of a screen that has the line of changes since the last visit.
const SINCE_FROM: u16 = 12;
/// Least and greatest height of the workspaces in the wide layout, with the frame.
const WORKSPACES: (u16, u16) = (4, 8);

/// Least width of a pane that the user made narrower, with the frame.
const NARROWEST: u16 = 24;
/// The same for the middle of the wide layout and for a detail.
const NARROWEST_MAIN: u16 = 40;
/// Least height of a pane that the user made lower, with the frame: one row and its scope.
const LOWEST: u16 = 4;
/// The same for the findings and for a detail.
const LOWEST_MAIN: u16 = 8;

/// Lines of a frame.
const FRAME: u16 = 2;
/// Least height of the list in the portrait layout: it has room for the help of a query.
const PORTRAIT_LIST: u16 = 12;
/// Lines of a list without a frame around its rows: tabs, scope and names of columns.
const AROUND_LIST: u16 = 3;
/// Least height of the lower lists in the wide layout, with the frame.
const LOWER: u16 = 8;

/// An area with the pane that it shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slot {
    pub pane: Pane,
    pub part: SlotPart,
    /// With the frame.
    pub area: Rect,
    pub framed: bool,
}

/// The areas of a screen. Areas for which a size has no room are empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Areas {
    pub header: Rect,
    /// The line of changes since the last visit.
    pub since: Rect,
    /// Titles and counts of the panes that are not shown.
    pub tabs: Rect,
    /// Free rows for notices.
    pub notices: Rect,
    /// The key hints.
    pub footer: Rect,
    pub slots: Vec<Slot>,
    pub dividers: Vec<PlacedDivider>,
}

/// The contents of places that can show more than one pane.
#[derive(Clone, Copy, Debug)]
pub struct Places<'a> {
    /// The pane of key 5: captures or loggers.
    pub fifth: Pane,
    /// Whether there are changes since the last visit.
    pub since: bool,
    /// Rows above the key hints that are free for notices.
    pub notices: u16,
    /// Rows of the workspaces, the scans, and the pane of key 5: their panes take no more than they
    /// need.
    pub rows: [usize; 3],
    /// Rows of the focused list, without its filter while that is typed; none until they are known.
    pub focused_rows: Option<usize>,
    /// The dividers that the user moved.
    pub sizes: &'a PaneSizes,
}

/// Divides areas at dividers, and keeps the places of the dividers.
struct Divisions<'a> {
    sizes: &'a PaneSizes,
    placed: Vec<PlacedDivider>,
    /// Whether panes have frames.
    is_framed: bool,
}

impl Divisions<'_> {
    /// Divides an area at a divider: after `automatic` cells, or where the user moved the divider.
    fn divide(
        &mut self,
        area: Rect,
        divider: Divider,
        axis: Axis,
        automatic: u16,
        least: [u16; 2],
    ) -> (Rect, Rect) {
        let whole = CellArea::from(area);
        let automatic = automatic.min(whole.length(axis));
        let mut placed = PlacedDivider {
            divider,
            axis,
            area: whole,
            before: automatic,
            least,
            is_double: self.is_framed,
        };
        if let Some(cells) = self.sizes.cells(divider, whole.length(axis)) {
            placed.before = placed.clamp(i32::from(cells));
        }
        self.placed.push(placed);
        match axis {
            Axis::Columns => take_left(area, placed.before),
            Axis::Rows => take_top(area, placed.before),
        }
    }
}

pub fn areas(size: Size, focus: Focus, places: Places<'_>) -> Areas {
    let whole = Rect::new(0, 0, size.columns, size.rows);
    let (header, rest) = take_top(whole, 1);
    let (rest, footer) = take_bottom(rest, 1);
    let (rest, notices) = take_bottom(rest, places.notices);
    let (since, rest) = take_top(rest, u16::from(places.since && size.rows >= SINCE_FROM));
    let layout = Layout::of(size);
    let mut areas = Areas {
        header,
        since,
        tabs: Rect::ZERO,
        notices,
        footer,
        slots: Vec::new(),
        dividers: Vec::new(),
    };
    if focus.zoomed || layout == Layout::Stacked {
        let part = if focus.in_detail {
            SlotPart::Detail
        } else {
            SlotPart::List
        };
        let framed = layout != Layout::Stacked && layout != Layout::Portrait;
        areas.slots.push(Slot {
            pane: focus.pane,
            part,
            area: rest,
            framed,
        });
        return areas;
    }
    let is_framed = layout != Layout::Portrait;
    let mut divisions = Divisions {
        sizes: places.sizes,
        placed: Vec::new(),
        is_framed,
    };
    areas.slots = match layout {
        Layout::Wide => wide(rest, focus, places, &mut divisions),
        Layout::Beside => {
            let (tabs, body) = take_top(rest, 1);
            areas.tabs = tabs;
            beside(body, focus, &mut divisions)
        }
        Layout::Portrait | Layout::Stacked => portrait(rest, focus, places, &mut divisions),
    };
    areas.dividers = divisions.placed;
    areas
}

fn wide(body: Rect, focus: Focus, places: Places<'_>, divisions: &mut Divisions<'_>) -> Vec<Slot> {
    let list = |pane, area| Slot {
        pane,
        part: SlotPart::List,
        area,
        framed: true,
    };
    let detail = |area| Slot {
        pane: focus.pane,
        part: SlotPart::Detail,
        area,
        framed: true,
    };
    let left_width = (body.width / 5).clamp(LEFT.0, LEFT.1);
    let least = [NARROWEST, 2 * NARROWEST_MAIN];
    let (left, rest) = divisions.divide(body, Divider::WideLeft, Axis::Columns, left_width, least);
    let most = (body.height / 6).clamp(WORKSPACES.0, WORKSPACES.1);
    let workspaces = needed(places.rows[0], FRAME, WORKSPACES.0, most);
    let (workspaces, targets) = divisions.divide(
        left,
        Divider::Workspaces,
        Axis::Rows,
        workspaces,
        [LOWEST, LOWEST],
    );
    let least = [NARROWEST_MAIN, NARROWEST_MAIN];
    let (middle, right) = divisions.divide(
        rest,
        Divider::WideRight,
        Axis::Columns,
        percent(rest.width, 58),
        least,
    );
    let mut slots = vec![
        list(Pane::Workspaces, workspaces),
        list(Pane::Targets, targets),
    ];
    if focus.pane.is_full_view() {
        slots.extend([list(focus.pane, middle), detail(right)]);
        return slots;
    }
    // The lists below take at most this part, and leave rows that they do not need to the lists
    // above.
    let (scans, captures) = (percent(middle.height, 42), percent(right.height, 32));
    let scans = needed(places.rows[1], FRAME + 1, LOWER.min(scans), scans);
    let captures = needed(places.rows[2], FRAME + 2, LOWER.min(captures), captures);
    let least = [LOWEST_MAIN, LOWEST];
    let (findings, scans) = divisions.divide(
        middle,
        Divider::Scans,
        Axis::Rows,
        middle.height.saturating_sub(scans),
        least,
    );
    let (upper, lower) = divisions.divide(
        right,
        Divider::Captures,
        Axis::Rows,
        right.height.saturating_sub(captures),
        least,
    );
    slots.extend([
        list(Pane::Findings, findings),
        list(Pane::Scans, scans),
        detail(upper),
        list(places.fifth, lower),
    ]);
    slots
}

/// The height of a list with so many rows and so many lines around them.
fn needed(rows: usize, around: u16, least: u16, most: u16) -> u16 {
    u16::try_from(rows)
        .unwrap_or(u16::MAX)
        .saturating_add(around)
        .clamp(least.min(most), most)
}

fn beside(body: Rect, focus: Focus, divisions: &mut Divisions<'_>) -> Vec<Slot> {
    let least = [NARROWEST_MAIN, NARROWEST_MAIN];
    let (left, right) = divisions.divide(
        body,
        Divider::Beside,
        Axis::Columns,
        percent(body.width, 55),
        least,
    );
    vec![
        Slot {
            pane: focus.pane,
            part: SlotPart::List,
            area: left,
            framed: true,
        },
        Slot {
            pane: focus.pane,
            part: SlotPart::Detail,
            area: right,
            framed: true,
        },
    ]
}

fn portrait(
    body: Rect,
    focus: Focus,
    places: Places<'_>,
    divisions: &mut Divisions<'_>,
) -> Vec<Slot> {
    let others: Vec<Pane> = [Pane::Findings, Pane::Scans, places.fifth]
        .into_iter()
        .filter(|&pane| pane != focus.pane)
        .collect();
    let (body, lines) = take_bottom(body, others.len().min(2) as u16);
    let least = [LOWEST_MAIN, LOWEST_MAIN];
    let most = percent(body.height, 42);
    let list = places.focused_rows.map_or(most, |rows| {
        needed(rows, AROUND_LIST, PORTRAIT_LIST.min(most), most)
    });
    let (list, detail) = divisions.divide(body, Divider::Portrait, Axis::Rows, list, least);
    let mut slots = vec![
        Slot {
            pane: focus.pane,
            part: SlotPart::List,
            area: list,
            framed: false,
        },
        Slot {
            pane: focus.pane,
            part: SlotPart::Detail,
            area: detail,
            framed: false,
        },
    ];
    // The two panes that complement the focused one: scans and captures for findings, findings for
    // the others.
    for (y, pane) in others.into_iter().rev().take(2).rev().enumerate() {
        let area = Rect {
            y: lines.y + y as u16,
            height: 1,
            ..lines
        };
        slots.push(Slot {
            pane,
            part: SlotPart::Line,
            area,
            framed: false,
        });
    }
    slots
}

fn percent(length: u16, percent: u32) -> u16 {
    (u32::from(length) * percent / 100) as u16
}

impl From<CellArea> for Rect {
    fn from(area: CellArea) -> Self {
        Self {
            x: area.x,
            y: area.y,
            width: area.width,
            height: area.height,
        }
    }
}

impl From<Rect> for CellArea {
    fn from(area: Rect) -> Self {
        Self {
            x: area.x,
            y: area.y,
            width: area.width,
            height: area.height,
        }
    }
}

/// A pop-up of at most this size in the middle of a screen.
pub fn popup(screen: Rect, columns: u16, rows: u16) -> Rect {
    centered(screen, columns.min(POPUP_COLUMNS), rows)
}

/// A pop-up of lines that need much room.
pub fn wide_popup(screen: Rect, rows: u16) -> Rect {
    centered(screen, WIDE_COLUMNS, rows)
}

fn centered(screen: Rect, columns: u16, rows: u16) -> Rect {
    let width = columns.min(screen.width);
    let height = rows
        .min(screen.height.saturating_sub(2).max(1))
        .min(screen.height);
    Rect::new(
        screen.x + (screen.width - width) / 2,
        screen.y + (screen.height - height) / 2,
        width,
        height,
    )
}

/// A pop-up over the whole width above the footer.
pub fn sheet(screen: Rect, rows: u16) -> Rect {
    let (above, _) = take_bottom(screen, 1);
    take_bottom(above, rows.min(screen.height.saturating_sub(2))).1
}

/// The command line over the last row, with rows above it for the suggestions, their title and a
/// description.
pub fn command_sheet(screen: Rect, offers: usize) -> Rect {
    let most = usize::from(screen.height / 2).clamp(1, COMMAND_OFFERS);
    take_bottom(screen, offers.min(most) as u16 + 3).1
}

/// Cuts rows off the top. Returns them and the rest.
pub fn take_top(area: Rect, rows: u16) -> (Rect, Rect) {
    let rows = rows.min(area.height);
    (
        Rect {
            height: rows,
            ..area
        },
        Rect {
            y: area.y + rows,
            height: area.height - rows,
            ..area
        },
    )
}

/// Cuts rows off the bottom. Returns the rest and the rows.
pub fn take_bottom(area: Rect, rows: u16) -> (Rect, Rect) {
    let rows = rows.min(area.height);
    let rest = area.height - rows;
    (
        Rect {
            height: rest,
            ..area
        },
        Rect {
            y: area.y + rest,
            height: rows,
            ..area
        },
    )
}

/// Cuts columns off the left. Returns them and the rest.
pub fn take_left(area: Rect, columns: u16) -> (Rect, Rect) {
    let columns = columns.min(area.width);
    (
        Rect {
            width: columns,
            ..area
        },
        Rect {
            x: area.x + columns,
            width: area.width - columns,
            ..area
        },
    )
}

/// The area without its first column, if it is wide enough.
pub fn indented(area: Rect) -> Rect {
    take_left(area, u16::from(area.width > 8)).1
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn shown(columns: u16, rows: u16, pane: Pane) -> Vec<(Pane, SlotPart)> {
        let focus = Focus {
            pane,
            in_detail: false,
            zoomed: false,
        };
        let areas = areas(
            Size { columns, rows },
            focus,
            Places {
                fifth: Pane::Captures,
                since: false,
                notices: 0,
                rows: [9; 3],
                focused_rows: None,
                sizes: &PaneSizes::default(),
            },
        );
        areas
            .slots
            .iter()
            .map(|slot| (slot.pane, slot.part))
            .collect()
    }

    #[test]
    fn size_determines_visible_panes() {
        use Pane::*;
        use SlotPart::*;
        assert_eq!(shown(80, 24, Findings), [(Findings, List)]);
        assert_eq!(shown(120, 40, Scans), [(Scans, List), (Scans, Detail)]);
        assert_eq!(
            shown(90, 50, Findings),
            [
                (Findings, List),
                (Findings, Detail),
                (Scans, Line),
                (Captures, Line)
            ]
        );
        let wide = shown(200, 60, Findings);
        assert_eq!(wide.len(), 6);
        for pane in [Workspaces, Targets, Findings, Scans, Captures] {
            assert!(wide.contains(&(pane, List)), "{pane:?}");
        }
    }

    #[test]
    fn short_lists_leave_their_rows_to_the_lists_above() {
        let height = |pane: Pane, scans: usize| {
            let focus = Focus {
                pane: Pane::Findings,
                in_detail: false,
                zoomed: false,
            };
            let (fifth, sizes) = (Pane::Captures, PaneSizes::default());
            let places = Places {
                fifth,
                since: false,
                notices: 0,
                rows: [3, scans, 5],
                focused_rows: None,
                sizes: &sizes,
            };
            let areas = areas(
                Size {
                    columns: 200,
                    rows: 60,
                },
                focus,
                places,
            );
            areas
                .slots
                .iter()
                .find(|slot| slot.pane == pane)
                .map(|slot| slot.area.height)
                .unwrap()
        };
        assert_eq!((height(Pane::Findings, 2), height(Pane::Scans, 2)), (50, 8));
        assert_eq!(
            (height(Pane::Findings, 90), height(Pane::Scans, 90)),
            (34, 24)
        );
    }

    #[test]
    fn short_list_of_portrait_layout_leaves_its_rows_to_the_detail() {
        let height = |rows: Option<usize>| {
            let focus = Focus {
                pane: Pane::Findings,
                in_detail: false,
                zoomed: false,
            };
            let sizes = PaneSizes::default();
            let places = Places {
                fifth: Pane::Captures,
                since: false,
                notices: 0,
                rows: [9; 3],
                focused_rows: rows,
                sizes: &sizes,
            };
            areas(
                Size {
                    columns: 90,
                    rows: 50,
                },
                focus,
                places,
            )
            .slots[0]
                .area
                .height
        };
        assert_eq!(
            [Some(0), Some(12), Some(200), None].map(height),
            [12, 15, 19, 19]
        );
    }

    const DIVIDERS: [Divider; 7] = [
        Divider::WideLeft,
        Divider::WideRight,
        Divider::Workspaces,
        Divider::Scans,
        Divider::Captures,
        Divider::Beside,
        Divider::Portrait,
    ];

    proptest! {
        #[test]
        fn areas_of_any_size_are_disjoint_and_on_screen(
            columns in 1u16..=500, rows in 1u16..=200, pane in 0usize..8, in_detail: bool, zoomed: bool,
            since: bool, notices in 0u16..4, listed in 0usize..300, moved in proptest::option::of(proptest::array::uniform7(0u16..=100)),
        ) {
            let mut sizes = PaneSizes::default();
            for (divider, percent) in DIVIDERS.into_iter().zip(moved.into_iter().flatten()) {
                sizes.set(divider, percent, 100);
            }
            let size = Size { columns, rows };
            let focus = Focus { pane: Pane::ALL[pane], in_detail, zoomed };
            let found = areas(size, focus, Places { fifth: Pane::Loggers, since, notices, rows: [listed; 3], focused_rows: Some(listed), sizes: &sizes });
            let mut all = vec![found.header, found.since, found.tabs, found.notices, found.footer];
            all.extend(found.slots.iter().map(|slot| slot.area));
            let whole = Rect::new(0, 0, columns, rows);
            let cells: u32 = all.iter().map(|area| area.area()).sum();
            prop_assert!(all.iter().all(|area| area.is_empty() || whole.intersection(*area) == *area), "{all:?}");
            prop_assert_eq!(cells, whole.area());
            for (i, one) in all.iter().enumerate() {
                prop_assert!(all[i + 1..].iter().all(|other| one.intersection(*other).is_empty()));
            }
            if moved.is_some() {
                for slot in found.slots.iter().filter(|slot| found.slots.len() > 1 && slot.part != SlotPart::Line) {
                    let (width, height) = if slot.framed { (NARROWEST, LOWEST) } else { (1, LOWEST_MAIN) };
                    prop_assert!(slot.area.width >= width && slot.area.height >= height, "{slot:?}");
                }
            }
            for pop in [
                popup(whole, 60, 12),
                wide_popup(whole, 12),
                sheet(whole, 9),
                command_sheet(whole, 40),
            ] {
                prop_assert!(pop.is_empty() || whole.intersection(pop) == pop);
            }
        }
    }
}
