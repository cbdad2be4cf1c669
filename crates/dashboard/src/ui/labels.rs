//! Keys, facts and scopes as short text.

use crate::base::Pane;
use crate::data::Board;
use crate::input::{Action, Context};
use crate::ui::{Cx, Theme, format};
use ratatui::text::{Line, Span};
use scandeck_domain::oob::LoggerExpiry;
use scandeck_wire::contract::import::ImportOrigin;
use scandeck_wire::contract::{LoggerId, Scan, Stamp, Tool};
use scandeck_wire::text;

/// The title of a pane with its number key: `3 Findings`.
pub(crate) fn numbered(pane: Pane) -> String {
    match pane.number() {
        Some(number) => format!("{number} {}", pane.title()),
        None => pane.title().to_owned(),
    }
}

/// The key of an action, for sentences: the key of the pane, else the key of all lists.
pub(crate) fn key(cx: &Cx<'_>, context: Context, action: Action) -> String {
    cx.model.keyboard.keymap.label(context, action)
}

/// The text of an empty list, with the next keys if the session may change the service.
pub(crate) fn invite(cx: &Cx<'_>, empty: &str, next: &str) -> String {
    if cx.model.session.read_only {
        empty.to_owned()
    } else {
        format!("{empty} · {next}")
    }
}

/// The scope of a pane beside its filter: `target:shop`.
pub(crate) fn chips(cx: &Cx<'_>, pane: Pane) -> Vec<String> {
    let scope = &cx.model.navigation.scope;
    let target = || {
        scope
            .target
            .map(|id| format!("target:{}", cx.short_target_name(id)))
    };
    let scan = || scope.scan.map(|id| format!("scan:{}", cx.scan_name(id)));
    // The filter beside it decides which rows are shown, so it has the room.
    let is_filtered = !cx.model.lists.captures.filter.is_empty();
    let lifetime = |id| {
        if is_filtered {
            String::new()
        } else {
            left(cx, id)
        }
    };
    let logger = || {
        scope
            .logger
            .map(|id| format!("logger:{}{}", cx.logger_name(id), lifetime(id)))
    };
    let scopes = match pane {
        Pane::Findings => vec![target(), scan()],
        Pane::Scans => vec![target()],
        Pane::Captures => vec![logger()],
        Pane::Board => vec![about(cx)],
        _ => Vec::new(),
    };
    scopes.into_iter().flatten().collect()
}

/// A name with its value, for headers and summaries.
pub(crate) fn fact(theme: Theme, name: &'static str, value: impl Into<String>) -> Line<'static> {
    Line::from(vec![
        Span::styled(format!("{name:<14}"), theme.dim()),
        Span::raw(value.into()),
    ])
}

/// The remaining lifetime of a logger, for its scope.
pub(crate) fn left(cx: &Cx<'_>, id: LoggerId) -> String {
    let Some(logger) = cx
        .model
        .data
        .loggers
        .value()
        .and_then(|loggers| loggers.get(id))
    else {
        return String::new();
    };
    if LoggerExpiry::of(logger) == Some(LoggerExpiry::Over) {
        return format!(", {}", LoggerExpiry::Over);
    }
    let requests = format::plural(logger.requests_left.max(0) as usize, "request");
    format!(
        ", {} and {requests} left",
        format::plural(logger.active_days.max(0) as usize, "day")
    )
}

/// The subject of the board: `retest 2m ago`, `Website scan of api: #111 → #118`.
pub(crate) fn about(cx: &Cx<'_>) -> Option<String> {
    match cx.model.findings.board.as_ref()? {
        Board::Retest(retest) => {
            let started = if cx.model.findings.is_retest_running {
                "started "
            } else {
                ""
            };
            Some(format!("retest {started}{}", ago(cx, retest.at)))
        }
        Board::Compare(before, after) => {
            let compared = format!("#{before} {} #{after}", cx.theme.glyphs.to);
            let (Some(first), Some(second)) = (cx.scan(*before), cx.scan(*after)) else {
                return Some(compared);
            };
            let of = |scan: &Scan| {
                format!(
                    "{} of {}",
                    Tool(scan.tool_id).scan(),
                    cx.short_target_name(scan.target_id)
                )
            };
            if (first.tool_id, first.target_id) == (second.tool_id, second.target_id) {
                return Some(format!("{}: {compared}", of(second)));
            }
            let (to, first, second) = (cx.theme.glyphs.to, of(first), of(second));
            Some(format!("#{before} {first} {to} #{after} {second}"))
        }
    }
}

/// `imported from results.jsonl, nuclei 3.3, by anna, 2h ago`; none for a scan that a service ran.
pub(crate) fn import_words(cx: &Cx<'_>, scan: &Scan) -> Option<String> {
    let origin = ImportOrigin::of(scan)?;
    let tool = format!("{} {}", origin.tool, origin.version);
    let lead = match origin.file.is_empty() {
        true => "imported".to_owned(),
        false => format!("imported from {}", origin.file),
    };
    let by = format!("by {}", origin.imported_by);
    let parts = [
        Some(lead),
        Some(tool.trim().to_owned()).filter(|tool| !tool.is_empty()),
        Some(by).filter(|_| !origin.imported_by.is_empty()),
        origin.imported_at.map(|at| ago(cx, Some(at))),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    Some(text::clean(&parts.join(", ")).into_owned())
}

/// `2m ago`, `just now`.
pub(crate) fn ago(cx: &Cx<'_>, then: Option<Stamp>) -> String {
    let age = cx.age(then);
    if then.is_none() {
        age
    } else {
        format::ago(&age)
    }
}
