//! Evidence: tables aligned, texts as they are, HTTP messages coloured and below their table.

use crate::findings::draw::detail::indent;
use crate::ui::{Theme, grid_lines, is_message, message_lines, tree_lines, words};
use ratatui::text::Line;
use scandeck_domain::mask::Mask;
use scandeck_wire::contract::entities::decode_entities;
use scandeck_wire::contract::{Evidence, EvidenceExchange, EvidenceView};
use scandeck_wire::text;

/// The whole evidence. Cells of tables are HTML-encoded by the service, and masked before they are
/// wrapped.
pub(crate) fn lines(
    theme: Theme,
    given: &Evidence,
    width: u16,
    mask: Option<&Mask>,
) -> Vec<Line<'static>> {
    let shown = |cell: &str| {
        let clean = text::clean_text(&decode_entities(cell)).into_owned();
        match mask {
            Some(mask) => mask.text(&clean).into_owned(),
            None => clean,
        }
    };
    let view = given.view();
    let exchange = view.shared_exchange();
    let found = match exchange {
        Some(_) => view.without_exchange(),
        None => view,
    };
    let mut lines = match found {
        EvidenceView::Nothing => vec![words("No evidence.", theme.dim())],
        EvidenceView::Text(words) => message_lines(theme, &text::clean_text(&words)),
        EvidenceView::Table { headers, rows } => {
            let all = |cells: &Vec<String>| -> Vec<String> {
                cells.iter().map(|cell| shown(cell)).collect()
            };
            let rows: Vec<Vec<String>> = rows.iter().map(all).collect();
            table_lines(theme, &all(&headers), &rows, width)
        }
        EvidenceView::Tree(value) => tree_lines(theme, &value),
    };
    if let Some(exchange) = exchange {
        lines.extend(exchange_lines(theme, &exchange, shown));
    }
    lines
}

/// The messages of an exchange, each with its title.
fn exchange_lines(
    theme: Theme,
    exchange: &EvidenceExchange,
    shown: impl Fn(&str) -> String,
) -> Vec<Line<'static>> {
    let messages = [
        ("Request", &exchange.request),
        ("Response", &exchange.response),
    ];
    let mut lines = Vec::new();
    for (title, message) in messages.into_iter().filter(|(_, text)| !text.is_empty()) {
        lines.push(Line::default());
        lines.push(Line::styled(title, theme.head()));
        lines.extend(
            message_lines(theme, &shown(message))
                .into_iter()
                .map(indent),
        );
    }
    lines
}

/// Cells side by side, or below each other where a cell is an HTTP message.
fn table_lines(
    theme: Theme,
    headers: &[String],
    rows: &[Vec<String>],
    width: u16,
) -> Vec<Line<'static>> {
    if !rows
        .iter()
        .flatten()
        .any(|cell| cell.contains('\n') && is_message(cell))
    {
        return grid_lines(theme, headers, rows, width);
    }
    let mut lines = Vec::new();
    for row in rows {
        if !lines.is_empty() {
            lines.push(Line::default());
        }
        for (at, cell) in row.iter().enumerate().filter(|(_, cell)| !cell.is_empty()) {
            if let Some(head) = headers.get(at).filter(|head| !head.is_empty()) {
                lines.push(Line::styled(head.clone(), theme.head()));
            }
            lines.extend(message_lines(theme, cell).into_iter().map(indent));
        }
    }
    lines
}
