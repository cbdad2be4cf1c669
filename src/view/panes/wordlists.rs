//! Word lists: what the guessing tools try.

use ratatui::buffer::Buffer;
use ratatui::text::Line;

use super::detail::{DetailPane, DetailText};
use super::fact;
use super::list::{ListPane, draw_table, pane_of};
use crate::app::model::Pane;
use crate::contract::{Wordlist, WordlistId};
use crate::input::{Action, Context};
use crate::text;
use crate::view::cache::Anchor;
use crate::view::context::{Cx, cell, words};
use crate::view::format;
use crate::view::layout::Slot;
use crate::view::widgets::table::Column;
use crate::view::widgets::wrap::plain;

const COLUMNS: &[Column] = &[
    Column::flex("WORD LIST", 12, 2).at_most(48),
    Column::fixed("WORDS", 5).right(),
    Column::fixed("KIND", 10).expendable(1),
    Column::flex("DESCRIPTION", 16, 3).expendable(2),
];

pub(super) fn draw_list(cx: &Cx<'_>, buf: &mut Buffer, slot: &Slot, anchor: &mut Anchor<WordlistId>) -> u16 {
    let remote = &cx.model.data.wordlists;
    let list = &cx.model.lists.wordlists;
    let pane = ListPane {
        columns: COLUMNS,
        invitation: "No word list. The local service takes one with: scandeck wordlists import FILE".to_owned(),
        ..pane_of(Pane::Wordlists, remote)
    };
    draw_table(cx, buf, slot, anchor, pane, (remote, list), |wordlist, _| {
        vec![
            cell(&wordlist.name),
            words(format::count(wordlist.num_words), cx.theme.text()),
            words(kind(wordlist), cx.theme.dim()),
            cell(&wordlist.description),
        ]
    })
}

fn kind(wordlist: &Wordlist) -> &'static str {
    if wordlist.predefined { "predefined" } else { "own" }
}

pub(super) fn detail<'a>(cx: &Cx<'a>) -> Option<DetailPane<'a>> {
    let table = cx.model.data.wordlists.value()?;
    let wordlist = table.get(cx.model.lists.wordlists.selected?)?;
    let theme = cx.theme;
    let open = super::key(cx, Context::Lists, Action::In);
    let download = super::key(cx, Context::Wordlists, Action::Download);
    let head = vec![
        words(text::clean(&wordlist.name).into_owned(), theme.strong()),
        Line::default(),
        fact(theme, "Words", format::thousands(wordlist.num_words.max(0) as u64)),
        fact(theme, "Kind", if wordlist.predefined { "predefined, cannot be deleted" } else { "own" }),
        fact(theme, "Id", wordlist.id.to_string()),
    ];
    let text = DetailText::new(vec![table.clone()], move |theme, _, _| {
        let mut lines = plain(&text::clean_text(&wordlist.description), theme.text());
        lines.push(Line::default());
        lines.push(words(format!("{open} shows the words, {download} downloads them."), theme.dim()));
        lines
    });
    Some(DetailPane { id: wordlist.id.0, head, tabs: Vec::new(), text })
}
