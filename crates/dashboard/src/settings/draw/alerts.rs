//! The list of alert rules: the state and the query of each.

use crate::data::AlertRule;
use crate::list::PopUpList;
use crate::ui::{Cx, PopUp};
use ratatui::prelude::{Buffer, Rect, Span};
use scandeck_wire::text;

const POPUP: PopUp = PopUp {
    title: "Alerts",
    note: " alert on every match ",
    columns: 72,
    lines: 4,
    below: 0,
};

pub(crate) fn draw_alerts(cx: &Cx<'_>, buf: &mut Buffer, area: Rect, list: PopUpList) {
    let alerts = &cx.model.captures.alerts.rules;
    POPUP.draw(cx, buf, area, (list, alerts), |alert, width| {
        alert_spans(cx, alert, width)
    });
}

fn alert_spans(cx: &Cx<'_>, alert: &AlertRule, width: u16) -> Vec<Span<'static>> {
    let theme = cx.theme;
    let room = usize::from(width).saturating_sub(5);
    let query = text::start(&text::clean(&alert.query), room).into_owned();
    let (word, style) = if alert.off {
        ("off", theme.dim())
    } else {
        ("on ", theme.good())
    };
    vec![
        Span::styled(format!("{word} "), style),
        Span::styled(query, if alert.off { theme.dim() } else { theme.text() }),
    ]
}
