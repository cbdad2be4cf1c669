//! A frame after steps through a list: the rows through which the cursor has moved or which became
//! visible, and the edges of the list. All other cells are those of the last frame.
//!
//! A step is the most frequent change of the screen, and drawing all of it again takes longer than
//! everything else between the key and the answer. What else follows the cursor, such as the detail
//! and the key hints, is drawn by the complete frame that comes [`COMPLETE_AFTER`] the last step.

use crate::base::{Size, SlotPart};
use crate::core::draw::{Drawn, areas, context_of, notices, panes};
use crate::model::{FOLLOWS_AFTER, Model};
use crate::ui::{Cx, ViewCache};
use ratatui::prelude::{Buffer, Rect};
use ratatui::widgets::{Clear, Widget};
use std::time::Duration;

/// A complete frame is due so long after the last step.
pub const COMPLETE_AFTER: Duration = FOLLOWS_AFTER;

/// Draws steps into the last frame. Returns what it has drawn, or `None` if the frame must be drawn
/// completely.
pub fn draw_step(model: &Model, buf: &mut Buffer, cache: &mut ViewCache) -> Option<Drawn> {
    let last = cache.last_areas.take()?;
    let cx = context_of(model, cache);
    let size = Size {
        columns: buf.area.width,
        rows: buf.area.height,
    };
    let is_beside_detail = last.slots.iter().any(|slot| slot.part == SlotPart::Detail);
    let is_detail_current = is_beside_detail && !model.screen.detail.is_behind();
    if is_detail_current || !is_possible(&cx, buf.area) || areas(model, size, 0) != last {
        return None;
    }
    let focused = (model.navigation.focus.pane, SlotPart::List);
    let slot = last
        .slots
        .iter()
        .find(|slot| (slot.pane, slot.part) == focused)?;
    let at = cache
        .measures
        .map
        .panes
        .iter()
        .position(|placed| (placed.pane, placed.part) == focused)?;
    let from = cache.measures.map.panes[at].rows?;
    let rows = Rect::from(from.area);
    let above = Rect {
        height: rows.y - slot.area.y,
        ..slot.area
    };
    let below = Rect {
        y: rows.bottom(),
        height: slot.area.bottom() - rows.bottom(),
        ..slot.area
    };
    let mut drawn = vec![above, below];
    drawn.iter().for_each(|&area| Clear.render(area, buf));
    let shown = panes::draw_list(
        &Cx {
            stepped_from: Some(from),
            ..cx
        },
        buf,
        slot,
        cache,
    )?;
    let lines = (0..rows.height)
        .filter(|line| shown.is_changed_by_step(from, shown.first + usize::from(*line)));
    drawn.extend(lines.map(|line| Rect {
        y: rows.y + line,
        height: 1,
        ..rows
    }));
    let by = shown.first as isize - from.first as isize;
    cache.measures.map.panes[at].rows = Some(shown);
    cache.measures.row = model.selected_row(slot.pane);
    cache.last_areas = Some(last);
    Some(Drawn {
        areas: drawn,
        moved: (by != 0).then_some((rows, by)),
    })
}

/// Whether nothing is drawn over the panes, and no later stage of drawing changes their cells.
pub(super) fn is_possible(cx: &Cx<'_>, area: Rect) -> bool {
    let model = cx.model;
    let has_menu = model.keyboard.pending.is_some() || !model.keyboard.typed.is_empty();
    let is_covered = has_menu || !model.overlay.modals.is_empty() || notices(cx, area).rows() > 0;
    !is_covered && model.reviewing().is_none() && model.mask().is_none() && cx.theme.glyphs.boxes
}

#[cfg(test)]
mod tests {
    use crate::base::{Focus, Pane, Size, SlotPart, Tone};
    use crate::core::Msg;
    use crate::core::draw::frames::TestFrames;
    use crate::testing::*;
    use ratatui::prelude::{Position, Rect};
    use scandeck_wire::contract::Risk;
    use std::time::Duration;

    const SIZES: [(u16, u16); 5] = [(80, 24), (90, 50), (120, 40), (200, 60), (60, 8)];

    fn in_pane(
        pane: Pane,
        zoomed: bool,
        (columns, rows): (u16, u16),
        script: &str,
    ) -> TestDashboard {
        let mut app = TestDashboard::new();
        app.model.screen.size = Size { columns, rows };
        if pane == Pane::Payloads {
            app.keys("g p");
        }
        app.model.navigation.focus = Focus {
            pane,
            in_detail: false,
            zoomed,
        };
        app.keys(script);
        app.model.overlay.notices = Default::default();
        app
    }

    /// The area of the focused list.
    fn list_area(frames: &TestFrames, pane: Pane) -> Rect {
        let panes = frames.measures().map.panes;
        let list = panes
            .into_iter()
            .find(|placed| (placed.pane, placed.part) == (pane, SlotPart::List));
        list.unwrap().area.into()
    }

    /// Presses a key before the detail follows.
    fn press(app: &mut TestDashboard, key: &str) {
        app.model.screen.dirty = false;
        events(key)
            .into_iter()
            .for_each(|event| _ = app.send(Msg::Key(event)));
    }

    /// Whether the step is drawn into the last frame; then it must be what a complete frame draws.
    fn is_drawn_alone(app: &mut TestDashboard, key: &str) -> bool {
        let (mut stepping, mut complete) = (TestFrames::default(), TestFrames::default());
        let before = stepping.draw(&app.model);
        complete.draw(&app.model);
        press(app, key);
        let after = complete.draw(&app.model);
        let Some((stepped, drawn)) = app
            .model
            .screen
            .only_steps
            .then(|| stepping.step(&app.model))
            .flatten()
        else {
            return false;
        };
        let place = (app.model.navigation.focus, app.model.screen.size, key);
        let all = |at: usize| Position::from(after.pos_of(at));
        let is_listed =
            |at: usize| list_area(&complete, app.model.navigation.focus.pane).contains(all(at));
        let expected = |at: usize| {
            if is_listed(at) {
                &after.content[at]
            } else {
                &before.content[at]
            }
        };
        let differing = (0..after.content.len())
            .find(|&at| *expected(at) != stepped.content[at])
            .map(all);
        assert_eq!(differing, None, "{place:?}");
        let moved = drawn.moved.map(|(area, _)| area);
        let is_announced = |at: &usize| {
            drawn
                .areas
                .iter()
                .chain(&moved)
                .any(|area| area.contains(all(*at)))
        };
        let silent = (0..after.content.len())
            .find(|at| before.content[*at] != stepped.content[*at] && !is_announced(at));
        assert_eq!(silent.map(all), None, "{place:?}");
        assert_eq!(stepping.measures(), complete.measures(), "{place:?}");
        true
    }

    #[test]
    fn step_draws_what_a_complete_frame_draws() {
        let mut alone = 0;
        for size in SIZES {
            for (pane, zoomed) in Pane::ALL
                .into_iter()
                .flat_map(|pane| [(pane, false), (pane, true)])
            {
                for script in ["", "v", "G"] {
                    for key in ["j", "k", "G"] {
                        alone += usize::from(is_drawn_alone(
                            &mut in_pane(pane, zoomed, size, script),
                            key,
                        ));
                    }
                }
            }
            for script in ["b c", "b t", "b c l", "b t j l", "/ 'risk>=low' enter"] {
                for key in ["j", "k", "G"] {
                    alone += usize::from(is_drawn_alone(
                        &mut in_pane(Pane::Findings, false, size, script),
                        key,
                    ));
                }
            }
        }
        assert!(alone > 300, "{alone}");
    }

    #[test]
    fn scrolled_steps_draw_what_complete_frames_draw() {
        for (size, zoomed) in SIZES
            .into_iter()
            .flat_map(|size| [(size, false), (size, true)])
        {
            let mut app = in_pane(Pane::Findings, zoomed, size, "");
            let weakness = |id| finding(id, 1, &format!("Weakness {id}"), Risk::Low);
            app.feed(Snapshot::Findings(table((1..=200).map(weakness))));
            let (mut stepping, mut complete) = (TestFrames::default(), TestFrames::default());
            let first = |frames: &TestFrames| {
                let panes = frames.measures().map.panes;
                panes
                    .into_iter()
                    .filter(|placed| placed.pane == Pane::Findings)
                    .find_map(|placed| Some(placed.rows?.first))
            };
            stepping.draw(&app.model);
            complete.draw(&app.model);
            let mut scrolled = 0;
            for key in ["j"; 45]
                .into_iter()
                .chain(["ctrl-d", "ctrl-d", "j", "G"])
                .chain(["k"; 45])
                .chain(["v", "ctrl-u"])
            {
                press(&mut app, key);
                let whole = complete.draw(&app.model);
                let before = first(&stepping);
                let stepped = app
                    .model
                    .screen
                    .only_steps
                    .then(|| stepping.step(&app.model))
                    .flatten();
                scrolled += usize::from(stepped.is_some() && first(&stepping) != before);
                let shown = stepped.map_or_else(|| stepping.draw(&app.model), |(shown, _)| shown);
                let area = list_area(&complete, Pane::Findings);
                assert!(
                    area.positions().all(|at| shown[at] == whole[at]),
                    "{key} {size:?} {zoomed}"
                );
                assert_eq!(stepping.measures(), complete.measures());
            }
            assert!(scrolled >= 3, "{scrolled} {size:?} {zoomed}");
        }
    }

    #[test]
    fn menus_notices_and_other_messages_are_drawn_completely() {
        let size = (200, 60);
        let mut noticed = in_pane(Pane::Findings, false, size, "");
        noticed.model.notify(Tone::Plain, "saved");
        assert!(!is_drawn_alone(&mut noticed, "j"));
        let mut pending = in_pane(Pane::Findings, false, size, "j");
        press(&mut pending, "g");
        assert!(!is_drawn_alone(&mut pending, "g"));
        // Another message before the frame.
        let mut changed = in_pane(Pane::Findings, false, size, "");
        press(&mut changed, "j");
        assert!(changed.model.screen.only_steps);
        changed.send(Msg::Wake);
        assert!(!changed.model.screen.only_steps);
        changed.send(Msg::Key(events("j").remove(0)));
        assert!(!changed.model.screen.only_steps);
        // Time passes for a filter by age, and a mark on a header changes other rows.
        for (filter, is_alone) in [("/ esc", true), ("/ '-age>1h' enter", false)] {
            let mut aged = in_pane(Pane::Findings, false, size, filter);
            // Until the running scan has stalled.
            aged.at += Duration::from_secs(3600);
            aged.send(Msg::Wake);
            aged.model.overlay.notices = Default::default();
            assert!(is_drawn_alone(&mut aged, "j"));
            aged.at += Duration::from_secs(10);
            assert_eq!(is_drawn_alone(&mut aged, "j"), is_alone, "{filter}");
        }
        let mut grouped = in_pane(Pane::Findings, false, size, "b t l j space k");
        assert!(!is_drawn_alone(&mut grouped, "space"));
    }
}
