//! The last line: what the keys do here. It is made from the key table, never written down again.
//! `ui::hint_line` leaves out what has no room.

use crate::base::{Pane, Tab};
use crate::forms::FieldValue;
use crate::input::{
    Action, Context, DecideAction, EditAction, FormAction, ItemAction, KeyHint, ListAction,
    PayloadAction, ReviewAction, TextAction, VerdictAction, ViewAction,
};
use crate::model::{DecideMenu, Line as TypedLine, LinePurpose, MenuChoice, Modal, Review};
use crate::prompts::{Prompt, PromptAnswer};
use crate::text::CLEAR_KEY;
use crate::ui::{Cx, Hint, draw_line, format, hint_line, indented, key, numbered};
use ratatui::prelude::{Buffer, Line, Rect, Span};
use scandeck_client::calls::ApiCall;
use scandeck_domain::query::{Column, Field, Flag, Values};
use scandeck_domain::triage::{Issue, Presence};
use scandeck_wire::contract::{Scan, Wordlist};

/// `has_matches` is false after a search without a match.
pub(crate) fn draw_footer(cx: &Cx<'_>, buf: &mut Buffer, area: Rect, has_matches: bool) {
    let area = indented(area);
    let room = area.width.saturating_sub(1);
    let (hints, last) = hints(cx, has_matches);
    draw_line(buf, area, &hint_line(cx.theme, &hints, &last, room));
}

/// Hints for the layer that has the keys, and those at the end of the line.
fn hints(cx: &Cx<'_>, has_matches: bool) -> (Vec<Hint>, Vec<Hint>) {
    let close = || {
        vec![hint(
            cx,
            Context::Everywhere,
            Action::View(ViewAction::Back),
            "close",
        )]
    };
    let hints = match cx.model.overlay.modals.last() {
        Some(Modal::Decide(menu)) => decide_hints(cx, menu),
        Some(Modal::Rules(rules)) if rules.edit.is_none() => [
            vec![verdicts(cx, Context::Rules, &[VerdictAction::Reopen])],
            modal_hints(cx),
        ]
        .concat(),
        Some(Modal::Prompt(prompt)) => prompt_hints(cx, prompt),
        Some(Modal::Line(line)) if matches!(line.purpose, LinePurpose::Filter(_)) => {
            filter_hints(cx, line)
        }
        Some(Modal::Text(_)) => return (Vec::new(), close()),
        Some(Modal::Help(_)) => {
            let keys = [
                EditAction::LineDown,
                EditAction::LineUp,
                EditAction::LinePageDown,
                EditAction::LinePageUp,
            ];
            let keys = keys
                .map(|action| key(cx, Context::Line, Action::Edit(action)))
                .join(" ");
            return (vec![Hint::new(keys, "scroll")], close());
        }
        Some(
            Modal::Form(_)
            | Modal::Rules(_)
            | Modal::Alerts(_)
            | Modal::Plot(_)
            | Modal::Why(_)
            | Modal::Chain(_)
            | Modal::Setup(_)
            | Modal::Line(_)
            | Modal::Command(_),
        ) => modal_hints(cx),
        None if cx.model.keyboard.pending.is_some() || !cx.model.keyboard.typed.is_empty() => {
            return (Vec::new(), close());
        }
        None => return (pane_hints(cx, has_matches), last_pane_hints(cx)),
    };
    let (last, others) = hints.into_iter().partition(|hint| closes(cx, hint));
    (others, last)
}

/// Whether a hint has the key that closes the layer in front: narrow lines show it too.
fn closes(cx: &Cx<'_>, hint: &Hint) -> bool {
    let keymap = &cx.model.keyboard.keymap;
    let close = |context| keymap.key_of(context, Action::Edit(EditAction::Close));
    let mut keys = cx.model.contexts().into_iter().filter_map(close);
    keys.next().is_some_and(|key| key == hint.keys)
}

/// The way out of a detail, and the help. The footer of a review has its own.
fn last_pane_hints(cx: &Cx<'_>) -> Vec<Hint> {
    let help = everywhere(cx, Action::View(ViewAction::Help));
    if !cx.model.navigation.focus.in_detail || cx.model.reviewing().is_some() {
        return vec![help];
    }
    let back = Action::View(ViewAction::Back);
    vec![hint(cx, Context::Everywhere, back, "back"), help]
}

/// The keys of a layer over the panes. A form without choices has no key for them, and the command
/// line shows its own.
fn modal_hints(cx: &Cx<'_>) -> Vec<Hint> {
    let model = cx.model;
    let hints = model
        .contexts()
        .into_iter()
        .flat_map(|context| model.keyboard.keymap.hints(context));
    let is_useful = |hint: &KeyHint| match model.overlay.modals.last() {
        Some(Modal::Form(form)) if hint.action == Action::Form(FormAction::ChoiceNext) => form
            .fields
            .iter()
            .any(|field| field.shown && matches!(field.value, FieldValue::Choice { .. })),
        Some(Modal::Command(_)) => false,
        Some(Modal::Chain(open)) if hint.action == Action::Item(ItemAction::New) => {
            open.can_create()
        }
        Some(Modal::Why(why)) => {
            hint.action == Action::Edit(EditAction::Close) || why.step(hint.action).is_some()
        }
        _ => true,
    };
    let useful = hints.filter(is_useful).map(|hint| drawn(cx, &hint));
    proven_verdict(cx).into_iter().chain(useful).collect()
}

/// The key of the verdict that an explanation offers after a proof.
fn proven_verdict(cx: &Cx<'_>) -> Option<Hint> {
    let Modal::Why(why) = cx.model.overlay.modals.last()? else {
        return None;
    };
    let verdicts = [
        (VerdictAction::Confirm, "confirmed"),
        (VerdictAction::Fix, "fixed"),
    ];
    let is_offered = |verdict| why.step(Action::Verdict(verdict)).is_some();
    let mut offered = verdicts
        .into_iter()
        .filter(|(verdict, _)| is_offered(*verdict));
    let (verdict, does) = offered.next()?;
    Some(hint(cx, Context::Why, Action::Verdict(verdict), does))
}

/// The keys of a filter that is typed.
fn filter_hints(cx: &Cx<'_>, line: &TypedLine) -> Vec<Hint> {
    let mut hints = modal_hints(cx);
    if !line.help.offers.all.is_empty() {
        hints.push(hint(
            cx,
            Context::Line,
            Action::Edit(EditAction::Complete),
            "complete",
        ));
    }
    if !line.input.text().is_empty() {
        hints.push(Hint::new(CLEAR_KEY, "clear"));
    }
    hints
}

fn hint(cx: &Cx<'_>, context: Context, action: Action, does: &str) -> Hint {
    Hint {
        off: cx.model.off(action).is_some(),
        ..Hint::new(key(cx, context, action), does)
    }
}

/// The pane's own actions, then those of lists or texts, then those of everywhere.
fn pane_hints(cx: &Cx<'_>, has_matches: bool) -> Vec<Hint> {
    let focus = cx.model.navigation.focus;
    if let Some(review) = cx.model.reviewing() {
        return review_hints(cx, review);
    }
    let mut all = own_hints(cx, focus.pane.context());
    if focus.pane == Pane::Board {
        all.insert(
            0,
            verdicts(cx, focus.pane.context(), &[VerdictAction::Reopen]),
        );
    }
    if matches!(focus.pane, Pane::Payloads | Pane::Captures | Pane::Loggers) {
        all.insert(0, everywhere(cx, Action::Payload(PayloadAction::Plant)));
    }
    if focus.pane == Pane::Findings {
        all.insert(0, verdicts(cx, focus.pane.context(), &[]));
        if cx.model.can_undo() {
            all.insert(2, everywhere(cx, Action::Decide(DecideAction::Undo)));
        }
        if cx
            .model
            .lists
            .findings
            .selected
            .is_some_and(|id| cx.model.offered_verdict(id).is_some())
        {
            all.insert(
                1,
                hint(
                    cx,
                    Context::Findings,
                    Action::Decide(DecideAction::ReuseOffered),
                    "reuse",
                ),
            );
        }
    }
    all.extend(own_hints(
        cx,
        if focus.in_detail {
            Context::Text
        } else {
            Context::Lists
        },
    ));
    if cx.model.detail.search.is_some() && has_matches && focus.in_detail {
        // Its keys come before those of the pane.
        all.splice(0..0, own_hints(cx, Context::Search));
    }
    let everywhere = cx
        .model
        .keyboard
        .keymap
        .hints(Context::Everywhere)
        .into_iter();
    // The help has its own place, and the sizes are in the menu of their first key.
    let others = everywhere.filter(|hint| match hint.action {
        Action::View(action) => action != ViewAction::Help && !action.resizes(),
        _ => true,
    });
    all.extend(others.map(|hint| drawn(cx, &hint)));
    let mut seen = Vec::new();
    all.retain(|hint| {
        let new = !seen.contains(&hint.keys);
        seen.push(hint.keys.clone());
        new
    });
    all
}

/// The keys of a card; in the summary, those that end the review.
fn review_hints(cx: &Cx<'_>, review: &Review) -> Vec<Hint> {
    let of_card = |action, does| hint(cx, Context::Review, Action::Review(action), does);
    let undo = |does| {
        hint(
            cx,
            Context::Everywhere,
            Action::Decide(DecideAction::Undo),
            does,
        )
    };
    if review.card().is_none() {
        let end = of_card(ReviewAction::End, "end the review");
        let back = of_card(ReviewAction::Back, "back to the cards");
        return match review.first_undecided(&cx.model.findings.triage.state) {
            None => vec![end, back, undo("undo all")],
            Some(_) => {
                let pause = hint(
                    cx,
                    Context::Everywhere,
                    Action::View(ViewAction::Back),
                    "pause",
                );
                vec![
                    of_card(ReviewAction::Skip, "first undecided card"),
                    back,
                    pause,
                    end,
                    undo("undo all"),
                ]
            }
        };
    }
    let entries = cx.model.keyboard.keymap.entries(Context::Review);
    let verdicts = entries.filter(|entry| matches!(entry.action, Action::Verdict(_)));
    let keys: Vec<String> = verdicts
        .filter_map(|entry| Some(entry.keys.first()?.to_string()))
        .collect();
    let mut all = vec![Hint::new(keys.join(" "), "decide")];
    if review.tab == Tab::Where {
        all.push(of_card(ReviewAction::Exclude, "exclude or include"));
    }
    let open = key(cx, Context::Review, Action::Review(ReviewAction::Open));
    all.extend(
        own_hints(cx, Context::Review)
            .into_iter()
            .filter(|hint| hint.keys != open),
    );
    all.push(undo("undo"));
    all.push(hint(
        cx,
        Context::Text,
        Action::Text(TextAction::TabRight),
        "tabs",
    ));
    all.push(hint(
        cx,
        Context::Everywhere,
        Action::View(ViewAction::Back),
        "pause",
    ));
    all
}

fn own_hints(cx: &Cx<'_>, context: Context) -> Vec<Hint> {
    let keymap = &cx.model.keyboard.keymap;
    let inner: Vec<Context> = cx
        .model
        .contexts()
        .into_iter()
        .take_while(|&one| one != context)
        .collect();
    let is_useful = |hint: &&KeyHint| {
        !keymap.is_shadowed(&inner, context, hint.action) && !has_no_use(cx, hint.action)
    };
    keymap
        .hints(context)
        .iter()
        .filter(is_useful)
        .map(|hint| drawn(cx, hint))
        .collect()
}

/// Whether an action of the pane would only answer why it is not possible.
fn has_no_use(cx: &Cx<'_>, action: Action) -> bool {
    let model = cx.model;
    match (model.navigation.focus.pane, action) {
        (Pane::Scans, Action::Item(ItemAction::Stop)) if marked(cx) == 0 => model
            .selected_item::<Scan>()
            .is_some_and(|scan| scan.has_ended()),
        (Pane::Wordlists, Action::Item(ItemAction::Delete)) if marked(cx) == 0 => model
            .selected_item::<Wordlist>()
            .is_some_and(|list| list.predefined),
        (Pane::Activity, Action::Item(ItemAction::CancelCall)) if marked(cx) == 0 => model
            .selected_item::<ApiCall>()
            .is_none_or(|call| call.end.is_some()),
        (Pane::Findings | Pane::Board, Action::Item(ItemAction::Why)) => model
            .issue_at_hand()
            .is_none_or(|issue| issue.presence == Presence::Unchanged),
        (Pane::Findings, Action::Item(ItemAction::Edit)) => model
            .selected_item::<Issue>()
            .is_none_or(|issue| issue.manual().is_none()),
        (Pane::Findings, Action::Item(ItemAction::Delete)) => {
            let marks = &model.lists.findings.marks;
            match model.data.findings.value().filter(|_| !marks.is_empty()) {
                None => model
                    .selected_item::<Issue>()
                    .is_none_or(|issue| issue.manual().is_none()),
                // Read from the column: this is drawn in every frame, and all findings can be
                // marked.
                Some(table) => {
                    let Some(Column {
                        values: Values::Flags(flags),
                        cells,
                    }) = table.column(Field::Is)
                    else {
                        return true;
                    };
                    let is_manual: Vec<bool> = flags
                        .iter()
                        .map(|bits| bits & Flag::Manual.bit() != 0)
                        .collect();
                    !(is_manual.contains(&true)
                        && marks
                            .rows()
                            .any(|row| cells.row(row).any(|flags| is_manual[flags])))
                }
            }
        }
        _ => false,
    }
}

/// `c f a w x i decide` and further verdicts, with marks also how many.
fn verdicts(cx: &Cx<'_>, context: Context, further: &[VerdictAction]) -> Hint {
    let given = [
        VerdictAction::Confirm,
        VerdictAction::FalsePositive,
        VerdictAction::AcceptRisk,
        VerdictAction::NotApplicable,
        VerdictAction::Fix,
        VerdictAction::InReview,
    ];
    let keys = given.iter().chain(further).filter_map(|&action| {
        cx.model
            .keyboard
            .keymap
            .key_of(context, Action::Verdict(action))
    });
    let does = match marked(cx) {
        _ if context == Context::Rules => "set verdict".to_owned(),
        0 => "decide".to_owned(),
        marked => format!("decide {marked}"),
    };
    Hint {
        keys: keys.collect::<Vec<_>>().join(" "),
        does,
        off: cx.model.cannot_decide().is_some(),
    }
}

/// With marks a hint carries their number: `scan 12`.
fn drawn(cx: &Cx<'_>, hint: &KeyHint) -> Hint {
    let does = match marked(cx) {
        marked @ 1.. if applies_to_marks(hint.action) => format!("{} {marked}", hint.label),
        0 if hint.action == Action::Review(ReviewAction::Open) => review_label(cx, hint.label),
        // The key closes the detail or the full view first.
        _ if hint.action == Action::View(ViewAction::Quit) && !quits(cx) => "close".to_owned(),
        _ => hint.label.to_owned(),
    };
    Hint {
        keys: hint.key.clone(),
        does,
        off: cx.model.off(hint.action).is_some(),
    }
}

/// Whether the key that closes views quits the dashboard.
fn quits(cx: &Cx<'_>) -> bool {
    let focus = cx.model.navigation.focus;
    cx.model.overlay.modals.last().is_some() || !focus.in_detail && !focus.pane.is_full_view()
}

fn applies_to_marks(action: Action) -> bool {
    use ItemAction::{Delete, Download, Report, Retest, Scan, ScanAgain, Stop, TagTargets};
    matches!(
        action,
        Action::Item(Scan | ScanAgain | TagTargets | Retest | Stop | Delete | Report | Download)
            | Action::Decide(DecideAction::More)
            | Action::Review(ReviewAction::Open)
    )
}

/// `review 34`: the number of groups, which are the cards; of a list without groups, whose classes
/// are not counted, none. A review leaves out the retained rows. An open range has no number,
/// because a review of it leaves out all other rows.
fn review_label(cx: &Cx<'_>, label: &str) -> String {
    let list = &cx.model.lists.findings;
    let count = if list.retained_only.is_empty() {
        list.groups.count()
    } else {
        0
    };
    match (cx.model.navigation.focus.pane, count) {
        (Pane::Findings, 1..)
            if cx.model.findings.review.is_none() && list.range_from.is_none() =>
        {
            format!("{label} {}", format::thousands(count as u64))
        }
        _ => label.to_owned(),
    }
}

/// Marked rows of the focused list. The keys of a card act on its findings, whatever is marked.
fn marked(cx: &Cx<'_>) -> usize {
    if cx.model.reviewing().is_some() {
        return 0;
    }
    cx.model.lists.count_marks(cx.model.navigation.focus.pane)
}

fn everywhere(cx: &Cx<'_>, action: Action) -> Hint {
    hint(cx, Context::Everywhere, action, action.short())
}

/// The keys of the option that is typed; the menu shows its own letters.
fn decide_hints(cx: &Cx<'_>, menu: &DecideMenu) -> Vec<Hint> {
    let hint = |context, action, does: &str| hint(cx, context, action, does);
    let key = |verdict: VerdictAction| {
        cx.model
            .keyboard
            .keymap
            .key_of(Context::Decide, Action::Verdict(verdict))
    };
    match menu.entry.as_ref().map(|entry| entry.choice) {
        None => vec![
            Hint::new(
                VerdictAction::MENU
                    .into_iter()
                    .filter_map(key)
                    .collect::<Vec<_>>()
                    .join(" "),
                "decide",
            ),
            hint(
                Context::Decide,
                Action::Edit(EditAction::Accept),
                "save without a verdict",
            ),
            hint(
                Context::Decide,
                Action::List(ListAction::TakeBack),
                "undo choice",
            ),
            hint(Context::Decide, Action::Edit(EditAction::Close), "cancel"),
        ],
        Some(MenuChoice::Note) => vec![
            hint(
                Context::Form,
                Action::Form(FormAction::Send),
                Action::Form(FormAction::Send).short(),
            ),
            hint(Context::Form, Action::Form(FormAction::Editor), "editor"),
            hint(Context::Form, Action::Edit(EditAction::Close), "cancel"),
        ],
        Some(_) => vec![
            hint(Context::Line, Action::Edit(EditAction::Accept), "accept"),
            hint(Context::Line, Action::Edit(EditAction::LineDown), "choose"),
            hint(Context::Line, Action::Edit(EditAction::Close), "cancel"),
        ],
    }
}

/// The keys of a prompt, which depend on the kind of prompt.
fn prompt_hints(cx: &Cx<'_>, prompt: &Prompt) -> Vec<Hint> {
    if matches!(prompt.answer, PromptAnswer::Type { .. }) {
        let hint = |action, does: &str| hint(cx, Context::Line, Action::Edit(action), does);
        return vec![
            hint(EditAction::Accept, "confirm"),
            hint(EditAction::Close, "cancel"),
        ];
    }
    let wider = key(cx, Context::Prompt, Action::Edit(EditAction::IncludeHidden));
    let mut hints = own_hints(cx, Context::Prompt);
    hints.retain(|hint| prompt.wider.is_some() || hint.keys != wider);
    if let (Some(word), Some(other)) = (
        prompt.wider_word,
        hints.iter_mut().find(|hint| hint.keys == wider),
    ) {
        word.clone_into(&mut other.does);
    }
    if let (PromptAnswer::Enter, Some(yes)) = (&prompt.answer, hints.first_mut()) {
        yes.keys = cx
            .model
            .key_label(Context::Line, Action::Edit(EditAction::Accept));
    }
    let close = cx
        .model
        .keyboard
        .keymap
        .key_of(Context::Prompt, Action::Edit(EditAction::Close));
    if let Some(cancel) = hints
        .iter_mut()
        .find(|hint| Some(&hint.keys) == close.as_ref())
    {
        "cancel".clone_into(&mut cancel.does);
    }
    hints
}

/// The line of tabs of the layout that shows one pane at a time: names, and how many there are of
/// each.
pub(crate) fn draw_tabs(cx: &Cx<'_>, buf: &mut Buffer, area: Rect) {
    let theme = cx.theme;
    let mut line = Line::default();
    // One of the panes that share a key is shown.
    let fifth = cx.model.navigation.fifth;
    let is_shown =
        |pane: &Pane| *pane == fifth || pane.number().is_some() && pane.number() != fifth.number();
    for pane in Pane::ALL.into_iter().filter(is_shown) {
        // Calls are reported only while their view is open.
        let count = cx.model.data.count(pane).filter(|_| pane != Pane::Activity);
        let count = count.map(|count| format!(" {}", format::count(count as i64)));
        let count = count.unwrap_or_default();
        if pane == cx.model.navigation.focus.pane {
            line.push_span(Span::styled(theme.glyphs.tab_open, theme.key()));
            line.push_span(Span::styled(
                format!("{}{count}", numbered(pane)),
                theme.strong(),
            ));
            line.push_span(Span::styled(theme.glyphs.tab_close, theme.key()));
        } else {
            line.push_span(Span::styled(format!(" {}", numbered(pane)), theme.text()));
            line.push_span(Span::styled(format!("{count} "), theme.dim()));
        }
    }
    draw_line(buf, area, &line);
}
