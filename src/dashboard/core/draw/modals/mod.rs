//! Modals over the panes: help, prompts, forms, texts, the first-start question, and the menu of a two-key sequence.
//!
//! Drawn in the order of the stack. Filter and search lines are drawn by the pane they belong to.

pub mod help;
pub mod setup;
pub mod text_box;

use crate::dashboard::model::Modal;
use crate::dashboard::ui::Cx;
use ratatui::prelude::{Buffer, Rect};

pub(crate) fn draw_modals(cx: &Cx<'_>, buf: &mut Buffer, area: Rect) {
    if let Some(context) = cx.model.keyboard.pending {
        crate::dashboard::ui::widgets::menu::draw_menu(cx, buf, area, context);
    }
    for modal in &cx.model.overlay.modals {
        match modal {
            Modal::Help(help) => help::draw_help(cx, buf, area, help),
            Modal::Prompt(prompt) => crate::dashboard::ui::prompt::draw_prompt(cx, buf, area, prompt),
            Modal::Form(form) => crate::dashboard::ui::form::draw_form(cx, buf, area, form),
            Modal::Decide(menu) => crate::dashboard::findings::decide::draw::draw_decide(cx, buf, area, menu),
            Modal::Rules(rules) => crate::dashboard::findings::decide::draw::rules::draw_rules(cx, buf, area, rules),
            Modal::Alerts(list) => crate::dashboard::settings::draw::alerts::draw_alerts(cx, buf, area, *list),
            Modal::Text(text) => text_box::draw_text_box(cx, buf, area, text),
            Modal::Setup(setup) => setup::draw_setup(cx, buf, area, setup),
            Modal::Command(line) => crate::dashboard::palette::draw::draw_command(cx, buf, area, line),
            Modal::Line(_) => {}
        }
    }
}
