//! Modals over the panes: help, prompts, forms, texts, the first-start question, and the menu of a
//! two-key sequence.
//!
//! Drawn in the order of the stack. Filter and search lines are drawn by the pane they belong to.

pub mod help;
pub mod setup;
pub mod text_box;

use crate::input::sequence::printed;
use crate::model::Modal;
use crate::ui::widgets::menu::draw_menu;
use crate::ui::{Cx, ViewCache};
use ratatui::prelude::{Buffer, Rect};

pub(crate) fn draw_modals(cx: &Cx<'_>, buf: &mut Buffer, area: Rect, cache: &mut ViewCache) {
    let keyboard = &cx.model.keyboard;
    if let Some(context) = keyboard.pending {
        draw_menu(
            cx,
            buf,
            area,
            &keyboard.keymap.title(context),
            keyboard.keymap.hints(context),
        );
    } else if !keyboard.typed.is_empty() {
        let hints = keyboard
            .keymap
            .continuations(&cx.model.pane_contexts(), &keyboard.typed);
        draw_menu(
            cx,
            buf,
            area,
            &format!("{}, then", printed(&keyboard.typed)),
            hints,
        );
    }
    for modal in &cx.model.overlay.modals {
        match modal {
            Modal::Help(help) => help::draw_help(cx, buf, area, help),
            Modal::Prompt(prompt) => crate::ui::prompt::draw_prompt(cx, buf, area, prompt),
            Modal::Form(form) => crate::ui::form::draw_form(cx, buf, area, form),
            Modal::Decide(menu) => crate::findings::decide::draw::draw_decide(cx, buf, area, menu),
            Modal::Rules(rules) => {
                crate::findings::decide::draw::rules::draw_rules(cx, buf, area, rules)
            }
            Modal::Alerts(list) => crate::settings::draw::alerts::draw_alerts(cx, buf, area, *list),
            Modal::Text(text) => text_box::draw_text_box(cx, buf, area, text),
            Modal::Plot(plot) => crate::plots::draw::draw_plot(cx, buf, area, *plot, cache),
            Modal::Why(why) => crate::findings::explain::draw::draw_why(cx, buf, area, why, cache),
            Modal::Chain(open) => crate::chains::draw::draw_chain(cx, buf, area, open, cache),
            Modal::Setup(setup) => setup::draw_setup(cx, buf, area, setup),
            Modal::Command(line) => crate::palette::draw::draw_command(cx, buf, area, line),
            Modal::Line(_) => {}
        }
    }
}
