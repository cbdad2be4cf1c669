//! Keys, facts and chips as short text.

use crate::contract::{LoggerId, Stamp, Tool};
use crate::dashboard::base::Pane;
use crate::dashboard::data::Board;
use crate::dashboard::input::Context;
use crate::dashboard::input::action::Action;
use crate::dashboard::ui::{Cx, format};
use crate::oob::LoggerExpiry;
use ratatui::text::{Line, Span};

/// The key that goes to a pane, with its name: `3 Findings`.
pub(crate) fn numbered(pane: Pane) -> String {
    match pane.number() {
        Some(number) => format!("{number} {}", pane.title()),
        None => pane.title().to_owned(),
    }
}

/// The key of an action in a pane as printed, for sentences: the pane's own, else that of all lists.
pub(crate) fn key(cx: &Cx<'_>, context: Context, action: Action) -> String {
    let known = [context, Context::Lists, Context::Everywhere].into_iter();
    let key = known.filter_map(|context| cx.model.keyboard.keymap.key_of(context, action)).next();
    key.unwrap_or_else(|| format!("({})", action.name()))
}

/// What narrows a pane beside its filter: `target:shop`.
pub(crate) fn chips(cx: &Cx<'_>, pane: Pane) -> Vec<String> {
    let scope = &cx.model.navigation.scope;
    let target = || scope.target.map(|id| format!("target:{}", cx.short_target_name(id)));
    let scan = || scope.scan.map(|id| format!("scan:{}", cx.scan_name(id)));
    let logger = || scope.logger.map(|id| format!("logger:{}{}", cx.logger_name(id), left(cx, id)));
    let all = match pane {
        Pane::Findings => vec![target(), scan()],
        Pane::Scans => vec![target()],
        Pane::Captures => vec![logger()],
        Pane::Board => vec![about(cx)],
        _ => Vec::new(),
    };
    all.into_iter().flatten().collect()
}

/// A name with its value, for heads and summaries.
pub(crate) fn fact(theme: crate::dashboard::ui::Theme, name: &'static str, value: impl Into<String>) -> Line<'static> {
    Line::from(vec![Span::styled(format!("{name:<14}"), theme.dim()), Span::raw(value.into())])
}

/// How long a logger goes on, for its chip.
pub(crate) fn left(cx: &Cx<'_>, id: LoggerId) -> String {
    let Some(logger) = cx.model.data.loggers.value().and_then(|loggers| loggers.get(id)) else { return String::new() };
    if LoggerExpiry::of(logger) == Some(LoggerExpiry::Over) {
        return format!(", {}", LoggerExpiry::Over);
    }
    let requests = format::plural(logger.requests_left.max(0) as usize, "request");
    format!(", {} and {requests} left", format::plural(logger.active_days.max(0) as usize, "day"))
}

/// What the board is about: `retest 2m ago`, `#111 › #118 Website of api`.
pub(crate) fn about(cx: &Cx<'_>) -> Option<String> {
    match cx.model.findings.board.as_ref()? {
        Board::Retest(retest) => Some(format!("retest {}", ago(cx, retest.at))),
        Board::Compare(before, after) => {
            let scan = cx.scan(*after);
            let of = scan.map(|scan| format!(" {} of {}", Tool(scan.tool_id), cx.short_target_name(scan.target_id)));
            Some(format!("#{before} {} #{after}{}", cx.theme.glyphs.path, of.unwrap_or_default()))
        }
    }
}

/// `2m ago`, `just now`.
pub(crate) fn ago(cx: &Cx<'_>, then: Option<Stamp>) -> String {
    match cx.age(then) {
        age if then.is_none() => age,
        age if age.ends_with("now") => "just now".to_owned(),
        age => format!("{age} ago"),
    }
}
