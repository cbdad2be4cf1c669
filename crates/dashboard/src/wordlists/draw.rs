//! Wordlists: the words that guessing tools try.

use crate::base::{RowRef, ShownRows};
use crate::input::{Action, Context, ItemAction, ListAction};
use crate::ui::{
    Cx, DetailPane, DetailText, ListPane, Slot, TableColumn, ViewCache, cell, columns_of,
    draw_table, fact, format, is_constant, key, pane_of, plain, sampled_items, widest, words,
};
use ratatui::prelude::{Buffer, Line};
use scandeck_wire::contract::Wordlist;
use scandeck_wire::text;

const COLUMNS: [TableColumn; 4] = [
    TableColumn::flex("WORDLIST", 12, 2).at_most(48),
    TableColumn::fixed("WORDS", 5).right(),
    TableColumn::fixed("KIND", 10).expendable(1),
    TableColumn::flex("DESCRIPTION", 16, 3).expendable(2),
];

pub(crate) fn draw_list(
    cx: &Cx<'_>,
    buf: &mut Buffer,
    slot: &Slot,
    cache: &mut ViewCache,
) -> ShownRows {
    let columns = columns_of::<Wordlist>(cx, cache, || columns(cx).to_vec());
    let pane = ListPane {
        columns: &columns,
        invitation: "no wordlists · `scandeck wordlists import FILE` adds one to the local service"
            .to_owned(),
        ..pane_of::<Wordlist>(cx)
    };
    draw_table::<Wordlist>(cx, buf, slot, cache, pane, |wordlist, _| {
        vec![
            cell(&wordlist.name),
            words(format::count(wordlist.num_words), cx.theme.text()),
            words(kind(wordlist), cx.theme.dim()),
            cell(&wordlist.description),
        ]
    })
}

/// The columns for the shown wordlists.
fn columns(cx: &Cx<'_>) -> [TableColumn; 4] {
    let rows = || sampled_items::<Wordlist>(cx).map(|(_, wordlist)| wordlist);
    COLUMNS.map(|column| match column.title {
        "WORDLIST" => column.content(widest(rows().map(|wordlist| &*wordlist.name)), 0),
        "KIND" => column.gives_way_if(is_constant(rows().map(kind)), 1),
        "DESCRIPTION" => column.content(widest(rows().map(|wordlist| &*wordlist.description)), 0),
        _ => column,
    })
}

fn kind(wordlist: &Wordlist) -> &'static str {
    if wordlist.predefined {
        "predefined"
    } else {
        "custom"
    }
}

pub(crate) fn detail<'a>(cx: &Cx<'a>, _: &mut ViewCache) -> Option<DetailPane<'a>> {
    let wordlist = cx.model.selected_item::<Wordlist>()?;
    let theme = cx.theme;
    let open = key(cx, Context::Lists, Action::List(ListAction::In));
    let download = key(cx, Context::Wordlists, Action::Item(ItemAction::Download));
    let head = vec![
        words(text::clean(&wordlist.name).into_owned(), theme.strong()),
        Line::default(),
        fact(
            theme,
            "Words",
            format::thousands(wordlist.num_words.max(0) as u64),
        ),
        fact(
            theme,
            "Kind",
            if wordlist.predefined {
                "predefined, cannot be deleted"
            } else {
                "custom"
            },
        ),
        fact(theme, "Id", wordlist.id.to_string()),
    ];
    let text = DetailText::new(vec![wordlist.clone()], move |theme, _, _| {
        let mut lines = plain(&text::clean_text(&wordlist.description), theme.text());
        lines.push(Line::default());
        lines.push(words(
            format!("{open} shows the words, {download} downloads them"),
            theme.dim(),
        ));
        lines
    });
    Some(DetailPane {
        id: RowRef::Item(wordlist.id.0),
        head,
        tabs: Vec::new(),
        text,
    })
}
