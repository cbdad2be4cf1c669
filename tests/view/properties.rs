//! Whatever the size, the keys and the data: something is drawn, nothing panics, the selection is in sight.

use proptest::prelude::*;
use scandeck::app::msg::Msg;
use scandeck::app::screen::Size;
use scandeck::view::{Scheme, Theme, ViewCache};

use super::fixtures::{press, tell, world};
use super::{drawn, lines};

const KEYS: &str = "j k g G h l z 1 2 3 4 5 6 7 enter esc space v * ! , / a < > J K y ? n s D R tab q = - d e x o";

fn theme(at: usize) -> Theme {
    [Theme::new(Scheme::Dark), Theme::new(Scheme::Light), Theme::new(Scheme::Mono), Theme::default().with_ascii()][at]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn every_size_draws_after_any_keys(
        columns in 1u16..=500, rows in 1u16..=200, keys in prop::collection::vec(0usize..40, 0..24), look in 0usize..4,
    ) {
        let all: Vec<&str> = KEYS.split(' ').collect();
        let mut model = world(columns, rows);
        let mut cache = ViewCache::new(theme(look));
        for key in keys {
            press(&mut model, all[key % all.len()]);
            let buffer = drawn(&mut model, &mut cache);
            prop_assert!(lines(&buffer).iter().any(|line| !line.is_empty()));
        }
    }

    #[test]
    fn a_resize_storm_keeps_the_selected_row_in_sight(sizes in prop::collection::vec((20u16..220, 5u16..70), 1..12)) {
        let mut model = world(80, 24);
        press(&mut model, "3 j j j");
        let mut cache = ViewCache::new(Theme::default());
        for (columns, rows) in sizes {
            tell(&mut model, 90_000, Msg::Resize(Size { columns, rows }));
            let buffer = drawn(&mut model, &mut cache);
            let shown = lines(&buffer);
            prop_assert!(shown.iter().any(|line| line.contains('▌')), "{columns}x{rows}\n{}", shown.join("\n"));
        }
    }
}
