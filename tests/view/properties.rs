//! For any size, keys and data: content is drawn, nothing panics, and the selection is visible.

use proptest::prelude::*;
use scandeck::dashboard::base::Size;
use scandeck::dashboard::core::Msg;
use scandeck::dashboard::ui::{Scheme, Theme, ViewCache};

use super::fixtures::{populated, press, send};
use super::{draw_measured, drawn, lines};

const KEYS: &str =
    "j k g G h l z 1 2 3 4 5 6 7 enter esc space v * ! , / a < > J K y ? n s D R tab q = - d e x o";

fn theme(at: usize) -> Theme {
    [
        Theme::new(Scheme::Dark),
        Theme::new(Scheme::Light),
        Theme::new(Scheme::Mono),
        Theme::default().with_ascii(),
    ][at]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn any_keys_at_any_size_draw_content(
        columns in 1u16..=500, rows in 1u16..=200, keys in prop::collection::vec(0usize..40, 0..24), look in 0usize..4,
    ) {
        let all: Vec<&str> = KEYS.split(' ').collect();
        let mut model = populated(columns, rows);
        let mut cache = ViewCache::new(theme(look));
        let mut buffer = drawn(&mut model, &mut cache);
        for key in keys {
            press(&mut model, all[key % all.len()]);
            buffer.reset();
            draw_measured(&mut model, &mut buffer, &mut cache);
            prop_assert!(buffer.content.iter().any(|cell| !cell.symbol().trim().is_empty()));
        }
    }

    #[test]
    fn changed_view_keeps_row_above_cursor_visible(
        rows in 8u16..16, down in 0usize..14, keys in prop::sample::select(vec!["b c", "b t", "b c b b", ", ,", "/ e enter", "<"]),
    ) {
        let mut model = populated(80, rows);
        let mut cache = ViewCache::new(Theme::default());
        press(&mut model, &format!("3 {}", "j ".repeat(down)));
        drawn(&mut model, &mut cache);
        press(&mut model, keys);
        let shown = lines(&drawn(&mut model, &mut cache));
        let line = |sign: &str| shown.iter().position(|line| line.contains(sign));
        let above = line("▌").unwrap() - line("RISK").unwrap() - 1;
        let at = model.lists.findings.at;
        prop_assert!(above > 0 || at == 0, "row {at} is at the top after {keys}\n{}", shown.join("\n"));
    }

    #[test]
    fn repeated_resizes_keep_selected_row_visible(sizes in prop::collection::vec((20u16..220, 5u16..70), 1..12)) {
        let mut model = populated(80, 24);
        press(&mut model, "3 j j j");
        let mut cache = ViewCache::new(Theme::default());
        for (columns, rows) in sizes {
            send(&mut model, 90_000, Msg::Resize(Size { columns, rows }));
            let buffer = drawn(&mut model, &mut cache);
            let shows_cursor = buffer.content.iter().any(|cell| cell.symbol().contains('▌'));
            prop_assert!(shows_cursor, "{columns}x{rows}\n{}", lines(&buffer).join("\n"));
        }
    }
}
