//! Drawing: the model goes in, cells come out. Nothing here changes the model.
//!
//! ```text
//!   draw(&Model, &mut Frame, &mut ViewCache)
//!     ├─ ui/layout   which areas exist at this size            (all numbers)
//!     ├─ header, footer, panes, modals                         one file per part of the screen
//!     │    └─ draw of the features   columns, cells, details
//!     └─ ui          lists, texts, forms, widgets              ui/theme: all colours and glyphs
//! ```

pub mod footer;
#[cfg(test)]
pub(crate) mod frames;
pub mod header;
pub mod modals;
pub mod panes;

use crate::base::batch::MOMENT;
use crate::base::{Batch, FileReading, Measures, Pane, Size, Tone};
use crate::model::{Modal, Model};
use crate::ui::layout::{self, Areas};
use crate::ui::links::{link_urls, unlink};
use crate::ui::theme::ASCII;
use crate::ui::{Cx, LEAST, Places, Toasts, draw_line, mask_frame, take_bottom};
use ratatui::Frame;
use ratatui::prelude::{Buffer, Line, Rect};
use scandeck_wire::text;

pub use crate::ui::{Scheme, Theme, ViewCache};

/// The text of the focused detail, or of the card of a review, for a pager. None if there is none.
pub fn paged_text(model: &Model, cache: &mut ViewCache) -> Option<String> {
    match model.reviewing() {
        Some(_) => cache.shown_text(),
        None => panes::detail_text(&context_of(model, cache), cache),
    }
}

fn context_of<'a>(model: &'a Model, cache: &mut ViewCache) -> Cx<'a> {
    let facts = cache.facts_of(&model.data, &model.findings.triage.facts);
    let theme = model.scheme().map_or(cache.theme, |(scheme, own)| Theme {
        scheme,
        own,
        ..cache.theme
    });
    Cx::new(model, theme, facts)
}

/// Draws the whole screen. What it measured is in the cache afterwards.
pub fn draw(model: &Model, frame: &mut Frame<'_>, cache: &mut ViewCache) {
    let area = frame.area();
    draw_into(model, frame.buffer_mut(), area, cache);
}

/// As [`draw`], into any buffer.
pub fn draw_into(model: &Model, buf: &mut Buffer, area: Rect, cache: &mut ViewCache) {
    cache.measures = Measures::default();
    cache.text_area = None;
    cache.is_search_missed = false;
    if area.is_empty() {
        return;
    }
    let size = Size {
        columns: area.width,
        rows: area.height,
    };
    if size.columns < LEAST.columns || size.rows < LEAST.rows {
        let need = format!("scandeck needs {}x{}", LEAST.columns, LEAST.rows);
        return draw_line(buf, area, &Line::raw(need));
    }
    let cx = context_of(model, cache);
    let notices = notices(&cx, area);
    let beside_hints = is_beside_hints(model, &notices, area);
    let rows = notices.rows().saturating_sub(u16::from(beside_hints));
    let areas = areas(model, size, rows);
    header::draw_header(&cx, buf, areas.header);
    crate::settings::draw::last_visit::draw_last_visit(&cx, buf, areas.since);
    footer::draw_tabs(&cx, buf, areas.tabs);
    cache.measures.map.dividers.clone_from(&areas.dividers);
    for slot in &areas.slots {
        panes::draw_slot(&cx, buf, slot, cache);
    }
    let notice_width = if beside_hints { notices.columns() } else { 0 };
    let footer_area = Rect {
        width: areas.footer.width - notice_width,
        ..areas.footer
    };
    footer::draw_footer(&cx, buf, footer_area, !cache.is_search_missed);
    modals::draw_modals(&cx, buf, take_bottom(area, rows).0, cache);
    // The command line shows its own hints.
    let over_hints = matches!(model.overlay.modals.last(), Some(Modal::Command(_)));
    let notice_area = if beside_hints || over_hints {
        area
    } else {
        take_bottom(area, 1).0
    };
    notices.draw(buf, notice_area);
    finish(&cx, buf, area, cache);
}

/// Whether notices are drawn beside the key hints of a pane: a short last one. A long one is above
/// them, as for a form or prompt.
fn is_beside_hints(model: &Model, notices: &Toasts, area: Rect) -> bool {
    let is_short = notices.columns() <= area.width / 2;
    is_short && matches!(model.overlay.modals.last(), None | Some(Modal::Line(_)))
}

/// What holds for all cells: the mask, links, and the signs of the terminal.
fn finish(cx: &Cx<'_>, buf: &mut Buffer, area: Rect, cache: &mut ViewCache) {
    let before = std::mem::take(&mut cache.linked);
    let shows_links = cache.links && cx.theme.scheme != Scheme::Mono;
    let text = cache.text_area.filter(|_| shows_links);
    match (cx.model.mask(), text) {
        // A stand-in is not an address.
        (Some(mask), _) => mask_frame(mask, buf, area),
        (None, Some(text)) if cx.model.overlay.modals.is_empty() => {
            cache.linked = link_urls(buf, text)
        }
        (None, _) => {}
    }
    if !cx.theme.glyphs.boxes {
        replace_signs(buf, area);
    }
    unlink(buf, &before, &cache.linked);
}

/// The areas of the screen, with free rows for notices.
fn areas(model: &Model, size: Size, notices: u16) -> Areas {
    let focused = model.navigation.focus.pane;
    let places = Places {
        fifth: model.navigation.fifth,
        since: model.settings.last_visit.is_shown(),
        notices,
        rows: [Pane::Workspaces, Pane::Scans, model.navigation.fifth]
            .map(|pane| model.lists.len(pane)),
        focused_rows: match model.overlay.modals.last() {
            // The list keeps its height while a filter is typed.
            Some(Modal::Line(_)) => model
                .data
                .count(focused)
                .map(|count| count.max(model.lists.len(focused))),
            _ => model.data.count(focused).map(|_| model.lists.len(focused)),
        },
        sizes: &model.screen.sizes,
    };
    layout::areas(size, model.navigation.focus, places)
}

/// Texts of the program have signs in them, which terminals without Unicode show in their ASCII
/// forms.
fn replace_signs(buf: &mut Buffer, area: Rect) {
    let ellipsis = ASCII.ellipsis.to_string();
    let signs = [
        ("…", ellipsis.as_str()),
        ("·", ASCII.separator),
        ("–", ASCII.dash),
        ("→", ASCII.to),
        ("│", "|"),
    ];
    for position in area.positions() {
        let cell = &mut buf[position];
        if let Some((_, ascii)) = signs.iter().find(|(sign, _)| *sign == cell.symbol()) {
            cell.set_symbol(ascii);
        }
    }
}

/// Notices and the progress of running work, lower right. They cover nothing: panes give up rows
/// for them.
fn notices(cx: &Cx<'_>, area: Rect) -> Toasts {
    let theme = cx.theme;
    let mut notices: Vec<_> = cx
        .model
        .overlay
        .notices
        .iter()
        .map(|notice| {
            let style = match notice.tone {
                Tone::Plain => theme.chosen(),
                Tone::Good => theme.good().patch(theme.chosen()),
                Tone::Bad => theme.bad().patch(theme.chosen()),
            };
            let text = text::clean(&notice.text);
            (style, cx.shown(&text).into_owned())
        })
        .collect();
    let readings = cx.model.scans.readings.iter();
    notices.extend(readings.map(|reading| (theme.chosen(), in_reading(cx, reading))));
    notices.extend(
        cx.model
            .calls
            .batches
            .iter()
            .filter_map(|batch| in_flight(cx, batch))
            .map(|text| (theme.chosen(), text)),
    );
    Toasts::of(&notices, area, theme.glyphs.ellipsis)
}

/// `reading nuclei.jsonl: 12s` for a file that takes more than a moment.
fn in_reading(cx: &Cx<'_>, reading: &FileReading) -> String {
    let elapsed = cx.model.now.mono.saturating_sub(reading.began);
    let mut words = format!("reading {}", text::clean(&reading.path));
    if elapsed >= MOMENT {
        words.push_str(&format!(": {}s", elapsed.as_secs()));
    }
    cx.shown(&words).into_owned()
}

/// `delete: 12 of 60` for calls that take more than a moment.
fn in_flight(cx: &Cx<'_>, batch: &Batch) -> Option<String> {
    let progress = batch.progress();
    let elapsed = cx.model.now.mono.saturating_sub(batch.began);
    if let ([(job, _)], true) = (batch.jobs.as_slice(), elapsed >= MOMENT) {
        return Some(format!(
            "{} {}: waiting {}s",
            batch.verb,
            text::clean(&job.about),
            elapsed.as_secs()
        ));
    }
    let refused = if progress.refused > 0 {
        format!(", {} refused", progress.refused)
    } else {
        String::new()
    };
    (progress.total > 1 && !batch.is_over()).then(|| {
        format!(
            "{}: {} of {}{refused}",
            batch.verb, progress.done, progress.total
        )
    })
}

#[cfg(test)]
mod tests {
    use super::{ViewCache, draw_into};
    use crate::base::Tone;
    use crate::testing::*;
    use ratatui::prelude::{Buffer, Rect};

    #[test]
    fn help_dims_actions_that_are_off() {
        let style_of = |read_only: bool, words: &str| {
            let mut app = TestDashboard::new();
            app.model.session.read_only = read_only;
            app.keys(&format!("4 ? '{words}'"));
            let area = Rect::new(0, 0, 100, 30);
            let mut buffer = Buffer::empty(area);
            draw_into(&app.model, &mut buffer, area, &mut ViewCache::default());
            let line = |y| {
                (0..100)
                    .map(|x| buffer[(x, y)].symbol())
                    .collect::<String>()
            };
            // Below the border and the filter.
            let y = (3..30).find(|&y| line(y).contains(words)).unwrap();
            let x = line(y).find(words).unwrap() as u16;
            buffer[(x, y)].style()
        };
        let words = "stop the scan";
        assert_ne!(style_of(true, words), style_of(false, words));
        assert_eq!(style_of(true, "scroll"), style_of(false, "scroll"));
    }

    #[test]
    fn long_notice_stands_above_the_key_hints() {
        let mut app = TestDashboard::new();
        app.model.screen.size = Size {
            columns: 80,
            rows: 24,
        };
        app.keys("3");
        let hints = app.frame()[23].clone();
        let long = "retest ended: 1 finding absent · bn opens the board";
        app.model.notify(Tone::Plain, long);
        let lines = app.frame();
        assert!(lines[22].contains(long), "{lines:#?}");
        assert_eq!(lines[23], hints);
        app.keys("esc");
        app.model.overlay.notices = Default::default();
        app.model.notify(Tone::Plain, "saved");
        let last = app.frame()[23].clone();
        assert!(last.contains("saved") && last.contains("keys"), "{last}");
    }
}
