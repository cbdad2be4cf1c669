//! Where everything stands: size and focus in, areas out. All numbers of the layout are here.
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
//! Reports and word lists are full views: in the wide layout they take the places of findings, scans and captures.

use crate::dashboard::base::{Focus, Layout, Pane, Size};
use ratatui::layout::Rect;

/// Under this size one line says what is needed.
pub const LEAST: Size = Size { columns: 20, rows: 5 };
/// Greatest width of pop-ups.
const POPUP_COLUMNS: u16 = 92;
/// Most rows of what the command line offers.
const COMMAND_OFFERS: usize = 12;
/// Columns of a command with its arguments, before what it does.
pub const COMMAND_NAME: usize = 34;
/// Columns of the left side in the wide layout.
const LEFT: (u16, u16) = (30, 44);
/// Least height of a framed list, with its frame, that has a line for tabs.
pub const TABS_FROM: u16 = 10;
/// Least height of a screen that has a line for what changed since one last looked.
const SINCE_FROM: u16 = 12;
/// Rows of the list of workspaces in the wide layout, with its frame.
const WORKSPACES: (u16, u16) = (4, 8);

/// Which part of a pane an area shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SlotPart {
    /// Its list.
    List,
    /// The detail of its selected row.
    Detail,
    /// One line that sums it up.
    Line,
}

/// An area with what stands in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slot {
    /// The pane.
    pub pane: Pane,
    /// The part of it.
    pub part: SlotPart,
    /// Where, with the frame.
    pub area: Rect,
    /// Whether it has a frame.
    pub framed: bool,
}

/// The areas of a screen. Areas that a size has no room for are empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Areas {
    /// Where one is, and what is wrong or new.
    pub header: Rect,
    /// What changed since one last looked.
    pub since: Rect,
    /// Names and counts of the panes that are not shown.
    pub tabs: Rect,
    /// Left free for notices.
    pub notices: Rect,
    /// Key hints.
    pub footer: Rect,
    /// The panes.
    pub slots: Vec<Slot>,
}

/// What stands in places that can hold more than one thing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Places {
    /// Under key 5: captures or loggers.
    pub fifth: Pane,
    /// Whose selected row the detail shows.
    pub detail: Pane,
    /// There is something to tell since one last looked.
    pub since: bool,
    /// Rows above the key hints that are left to notices.
    pub notices: u16,
}

/// The areas at a size.
pub fn areas(size: Size, focus: Focus, places: Places) -> Areas {
    let whole = Rect::new(0, 0, size.columns, size.rows);
    let (header, rest) = take_top(whole, 1);
    let (rest, footer) = take_bottom(rest, 1);
    let (rest, notices) = take_bottom(rest, places.notices);
    let (since, rest) = take_top(rest, u16::from(places.since && size.rows >= SINCE_FROM));
    let mut areas = Areas { header, since, tabs: Rect::ZERO, notices, footer, slots: Vec::new() };
    let layout = Layout::of(size);
    if focus.zoomed || layout == Layout::Stacked {
        let (pane, part) =
            if focus.in_detail { (places.detail, SlotPart::Detail) } else { (focus.pane, SlotPart::List) };
        let framed = layout != Layout::Stacked && layout != Layout::Portrait;
        areas.slots.push(Slot { pane, part, area: rest, framed });
        return areas;
    }
    match layout {
        Layout::Wide => areas.slots = wide(rest, focus, places),
        Layout::Beside => {
            let (tabs, body) = take_top(rest, 1);
            areas.tabs = tabs;
            areas.slots = beside(body, focus, places);
        }
        Layout::Portrait | Layout::Stacked => areas.slots = portrait(rest, focus, places),
    }
    areas
}

fn wide(body: Rect, focus: Focus, places: Places) -> Vec<Slot> {
    let list = |pane, area| Slot { pane, part: SlotPart::List, area, framed: true };
    let detail = |area| Slot { pane: places.detail, part: SlotPart::Detail, area, framed: true };
    let left_width = (body.width / 5).clamp(LEFT.0, LEFT.1);
    let (left, rest) = take_left(body, left_width);
    let (workspaces, targets) = take_top(left, (body.height / 6).clamp(WORKSPACES.0, WORKSPACES.1));
    let (middle, right) = take_left(rest, (u32::from(rest.width) * 58 / 100) as u16);
    let mut slots = vec![list(Pane::Workspaces, workspaces), list(Pane::Targets, targets)];
    if focus.pane.is_full_view() {
        slots.extend([list(focus.pane, middle), detail(right)]);
        return slots;
    }
    let (findings, scans) = take_top(middle, (u32::from(middle.height) * 58 / 100) as u16);
    let (upper, lower) = take_top(right, (u32::from(right.height) * 68 / 100) as u16);
    slots.extend([list(Pane::Findings, findings), list(Pane::Scans, scans), detail(upper), list(places.fifth, lower)]);
    slots
}

fn beside(body: Rect, focus: Focus, places: Places) -> Vec<Slot> {
    let (left, right) = take_left(body, (u32::from(body.width) * 55 / 100) as u16);
    vec![
        Slot { pane: focus.pane, part: SlotPart::List, area: left, framed: true },
        Slot { pane: places.detail, part: SlotPart::Detail, area: right, framed: true },
    ]
}

fn portrait(body: Rect, focus: Focus, places: Places) -> Vec<Slot> {
    let others: Vec<Pane> =
        [Pane::Findings, Pane::Scans, places.fifth].into_iter().filter(|&pane| pane != focus.pane).collect();
    let (body, lines) = take_bottom(body, others.len().min(2) as u16);
    let (list, detail) = take_top(body, (u32::from(body.height) * 42 / 100) as u16);
    let mut slots = vec![
        Slot { pane: focus.pane, part: SlotPart::List, area: list, framed: false },
        Slot { pane: places.detail, part: SlotPart::Detail, area: detail, framed: false },
    ];
    // The two that are least like what is looked at: scans and captures beside findings, findings beside those.
    for (y, pane) in others.into_iter().rev().take(2).rev().enumerate() {
        let area = Rect { y: lines.y + y as u16, height: 1, ..lines };
        slots.push(Slot { pane, part: SlotPart::Line, area, framed: false });
    }
    slots
}

/// A pop-up in the middle of a screen, of at most this size.
pub fn popup(screen: Rect, columns: u16, rows: u16) -> Rect {
    let width = columns.min(POPUP_COLUMNS).min(screen.width);
    let height = rows.min(screen.height.saturating_sub(2).max(1)).min(screen.height);
    Rect::new(screen.x + (screen.width - width) / 2, screen.y + (screen.height - height) / 2, width, height)
}

/// A pop-up over the whole width at the lower end, leaving the list above visible.
pub fn sheet(screen: Rect, rows: u16) -> Rect {
    let (above, _) = take_bottom(screen, 1);
    take_bottom(above, rows.min(screen.height.saturating_sub(2))).1
}

/// The command line over the last row, with room above it for what is offered, its head and a line about it.
pub fn command_sheet(screen: Rect, offers: usize) -> Rect {
    let most = usize::from(screen.height / 2).clamp(1, COMMAND_OFFERS);
    take_bottom(screen, offers.min(most) as u16 + 3).1
}

/// Cuts rows off the top.
pub fn take_top(area: Rect, rows: u16) -> (Rect, Rect) {
    let rows = rows.min(area.height);
    (Rect { height: rows, ..area }, Rect { y: area.y + rows, height: area.height - rows, ..area })
}

/// Cuts rows off the bottom: the rest first.
pub fn take_bottom(area: Rect, rows: u16) -> (Rect, Rect) {
    let rows = rows.min(area.height);
    let rest = area.height - rows;
    (Rect { height: rest, ..area }, Rect { y: area.y + rest, height: rows, ..area })
}

/// Cuts columns off the left.
pub fn take_left(area: Rect, columns: u16) -> (Rect, Rect) {
    let columns = columns.min(area.width);
    (Rect { width: columns, ..area }, Rect { x: area.x + columns, width: area.width - columns, ..area })
}

/// One column free on the left, where there is room for it.
pub fn indented(area: Rect) -> Rect {
    take_left(area, u16::from(area.width > 8)).1
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn shown(columns: u16, rows: u16, pane: Pane) -> Vec<(Pane, SlotPart)> {
        let focus = Focus { pane, in_detail: false, zoomed: false };
        let areas = areas(
            Size { columns, rows },
            focus,
            Places { fifth: Pane::Captures, detail: pane, since: false, notices: 0 },
        );
        areas.slots.iter().map(|slot| (slot.pane, slot.part)).collect()
    }

    #[test]
    fn each_size_shows_what_it_has_room_for() {
        use Pane::*;
        use SlotPart::*;
        assert_eq!(shown(80, 24, Findings), [(Findings, List)]);
        assert_eq!(shown(120, 40, Scans), [(Scans, List), (Scans, Detail)]);
        assert_eq!(shown(90, 50, Findings), [(Findings, List), (Findings, Detail), (Scans, Line), (Captures, Line)]);
        let wide = shown(200, 60, Findings);
        assert_eq!(wide.len(), 6);
        for pane in [Workspaces, Targets, Findings, Scans, Captures] {
            assert!(wide.contains(&(pane, List)), "{pane:?}");
        }
    }

    proptest! {
        #[test]
        fn areas_stay_on_the_screen_and_apart(
            columns in 1u16..=500, rows in 1u16..=200, pane in 0usize..8, in_detail: bool, zoomed: bool,
            since: bool, notices in 0u16..4,
        ) {
            let size = Size { columns, rows };
            let focus = Focus { pane: Pane::ALL[pane], in_detail, zoomed };
            let found = areas(size, focus, Places { fifth: Pane::Loggers, detail: focus.pane, since, notices });
            let mut all = vec![found.header, found.since, found.tabs, found.notices, found.footer];
            all.extend(found.slots.iter().map(|slot| slot.area));
            let whole = Rect::new(0, 0, columns, rows);
            let cells: u32 = all.iter().map(|area| area.area()).sum();
            prop_assert!(all.iter().all(|area| area.is_empty() || whole.intersection(*area) == *area), "{all:?}");
            prop_assert_eq!(cells, whole.area());
            for (i, one) in all.iter().enumerate() {
                prop_assert!(all[i + 1..].iter().all(|other| one.intersection(*other).is_empty()));
            }
            for pop in [popup(whole, 60, 12), sheet(whole, 9), command_sheet(whole, 40)] {
                prop_assert!(pop.is_empty() || whole.intersection(pop) == pop);
            }
        }
    }
}
