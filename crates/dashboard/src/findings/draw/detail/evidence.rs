//! Evidence: tables aligned, texts as they are, HTTP messages coloured.

use crate::findings::draw::detail::indent;
use crate::ui::{Theme, grid_lines, is_message, message_lines, tree_lines, words};
use ratatui::text::Line;
use scandeck_domain::mask::Mask;
use scandeck_wire::contract::entities::decode_entities;
use scandeck_wire::contract::{Evidence, EvidenceView};
use scandeck_wire::text;

/// The whole evidence. Cells of tables are HTML-encoded by the service, and masked before they are
/// wrapped.
pub(crate) fn lines(
    theme: Theme,
    given: &Evidence,
    width: u16,
    mask: Option<&Mask>,
) -> Vec<Line<'static>> {
    match given.view() {
        EvidenceView::Nothing => vec![words("No evidence.", theme.dim())],
        EvidenceView::Text(words) => message_lines(theme, &text::clean_text(&words)),
        EvidenceView::Table { headers, rows } => {
            let clean = |cells: Vec<String>| -> Vec<String> {
                let clean = |cell: &String| text::clean_text(&decode_entities(cell)).into_owned();
                let masked = |cell: String| {
                    mask.map_or_else(|| cell.clone(), |mask| mask.text(&cell).into_owned())
                };
                cells.iter().map(|cell| masked(clean(cell))).collect()
            };
            table_lines(
                theme,
                &clean(headers),
                &rows.into_iter().map(clean).collect::<Vec<_>>(),
                width,
            )
        }
        EvidenceView::Tree(value) => tree_lines(theme, &value),
    }
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
