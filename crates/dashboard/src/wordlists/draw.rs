//! Wordlists: the words that guessing tools try.

use crate::base::{RowRef, ShownRows};
use crate::input::{Action, Context, ItemAction, ListAction};
use crate::ui::{
    Cx, DetailPane, DetailText, DrawnPane, ListColumn, ListPane, PaneDrawing, Slot, TableColumn,
    ViewCache, draw_columns, fact, format, is_constant, key, pane_of, plain, sampled_items, widest,
    words,
};
use ratatui::prelude::{Buffer, Line};
use scandeck_domain::table::columns::wordlist;
use scandeck_wire::contract::Wordlist;
use scandeck_wire::text;

const COLUMNS: &[ListColumn<Wordlist>] = &[
    ListColumn::of(wordlist::NAME, TableColumn::flex(12, 2).at_most(48))
        .fit(|column, cx| column.content(widest(shown(cx).map(|wordlist| &*wordlist.name)), 0)),
    ListColumn::<Wordlist>::new(
        wordlist::WORDS.title,
        TableColumn::fixed(5).right(),
        |cx, wordlist, _| words(format::count(wordlist.num_words), cx.theme.text()),
    ),
    ListColumn::<Wordlist>::new(
        wordlist::KIND.title,
        TableColumn::fixed(10).expendable(1),
        |cx, wordlist, _| words((wordlist::KIND.text)(wordlist).into_owned(), cx.theme.dim()),
    )
    .fit(|column, cx| {
        column.gives_way_if(
            is_constant(shown(cx).map(|wordlist| wordlist.predefined)),
            1,
        )
    }),
    ListColumn::of(
        wordlist::DESCRIPTION,
        TableColumn::flex(16, 3).expendable(2),
    )
    .fit(|column, cx| column.content(widest(shown(cx).map(|wordlist| &*wordlist.description)), 0)),
];

fn shown<'a>(cx: &Cx<'a>) -> impl Iterator<Item = &'a Wordlist> + use<'a> {
    sampled_items::<Wordlist>(cx)
}

impl DrawnPane for Wordlist {
    const DRAWING: PaneDrawing = PaneDrawing::new(draw_list, detail);
}

pub(crate) fn draw_list(
    cx: &Cx<'_>,
    buf: &mut Buffer,
    slot: &Slot,
    cache: &mut ViewCache,
) -> ShownRows {
    let pane = ListPane {
        invitation: "no wordlists · `scandeck wordlists import FILE` adds one to the local service"
            .to_owned(),
        ..pane_of::<Wordlist>(cx)
    };
    draw_columns(cx, buf, slot, cache, pane, COLUMNS)
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
