//! What lies over the panes: help, prompts, forms, texts, the first-start question, and the menu of a two-key sequence.
//!
//! Drawn in the order of the stack. Filter and search lines are drawn by the pane they belong to.

mod alerts;
mod command;
mod decide;
mod form;
mod help;
mod menu;
mod prompt;
mod rules;
mod setup;
mod text_box;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::Line;
use ratatui::widgets::{Clear, Widget};

use super::context::{Cx, words};
use super::theme::Theme;
use super::widgets::frame::{Edges, draw_frame};
use crate::app::modal::Modal;

pub(super) fn draw_modals(cx: &Cx<'_>, buf: &mut Buffer, area: Rect) {
    if let Some(prefix) = cx.model.pending {
        menu::draw_menu(cx, buf, area, prefix);
    }
    for modal in &cx.model.modals {
        match modal {
            Modal::Help(help) => help::draw_help(cx, buf, area, help),
            Modal::Prompt(prompt) => prompt::draw_prompt(cx, buf, area, prompt),
            Modal::Form(form) => form::draw_form(cx, buf, area, form),
            Modal::Decide(menu) => decide::draw_decide(cx, buf, area, menu),
            Modal::Rules(rules) => rules::draw_rules(cx, buf, area, rules),
            Modal::Alerts(at) => alerts::draw_alerts(cx, buf, area, *at),
            Modal::Text(text) => text_box::draw_text_box(cx, buf, area, text),
            Modal::Setup(setup) => setup::draw_setup(cx, buf, area, setup),
            Modal::Command(line) => command::draw_command(cx, buf, area, line),
            Modal::Line(_) => {}
        }
    }
}

/// Clears an area and frames it; on small screens without a frame, so that nothing is lost to it.
fn draw_box(buf: &mut Buffer, area: Rect, theme: Theme, title: &str, below: Line<'_>) -> Rect {
    Clear.render(area, buf);
    let title = words(format!(" {title} "), theme.title(true));
    if area.width < 30 || area.height < 5 {
        return area;
    }
    let inner = draw_frame(buf, area, theme, true, Edges { title, below, ..Edges::default() });
    Rect { x: inner.x + 1, width: inner.width.saturating_sub(2), ..inner }
}
