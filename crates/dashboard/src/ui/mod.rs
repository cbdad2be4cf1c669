//! Drawing shared by the features: layout (all numbers), theme (all colours and glyphs), widgets.
//!
//! ```text
//!   draw of a feature ─► columns, cells, detail ─► list, text, form, prompt ─► widgets ─► cells of the buffer
//!                                                    │
//!                               layout · theme · format · cache (scroll anchors, wrapped lines)
//! ```
//!
//! Nothing here changes the model. The drawing of a feature is in its `draw.rs` or `draw/`, which
//! imports the names below from `ui` itself.

pub mod cache;
pub mod context;
pub mod facts;
pub mod form;
pub mod format;
pub mod json_lines;
pub mod labels;
pub mod layout;
pub mod links;
pub mod list;
pub mod mask;
pub mod pane;
pub mod prompt;
pub mod text;
pub mod theme;
pub mod widgets;

pub use cache::ViewCache;
pub(crate) use cache::{ById, DrawnColumns, PlotKey, TextKey, WrappedText};
pub(crate) use context::{Cx, cell, dimmed, words};
pub use facts::PaneFacts;
pub(crate) use facts::target_of;
pub(crate) use format::risk_counts;
pub(crate) use labels::{ago, chips, fact, import_words, invite, key, numbered};
pub use layout::{
    BESIDE_FROM, COMMAND_NAME, LEAST, Places, Slot, TABS_FROM, command_sheet, indented, popup,
    sheet, take_bottom, take_left, take_top, wide_popup,
};
pub(crate) use list::{
    GridRow, ListColumn, ListPane, ListState, Room, cells, dimmed_if, draw_columns,
    draw_columns_dimming, draw_list_pane, header_cells, is_constant, kept_columns, layouts,
    pane_of, problem_lines, retry_in, sampled_items, stale_reason, widest,
};
pub(crate) use mask::{mask_frame, masked_lines};
pub(crate) use pane::{DrawnPane, PaneDrawing};
pub(crate) use text::{DetailPane, DetailText};
pub use theme::{Scheme, Syntax, Theme, UNICODE};
pub use widgets::bar::bar;
pub use widgets::frame::{Edges, draw_frame};
pub use widgets::grid::grid_lines;
pub use widgets::hex::hex_lines;
pub use widgets::hints::{Hint, hint_line};
pub use widgets::input::{input_spans, input_spans_in, marked_spans, still};
pub use widgets::lines::{
    cut_line, draw_line, draw_lines, draw_sides, joined, parts_within, restyle, row_of, width_of,
};
pub use widgets::message::{is_message, message_lines};
pub(crate) use widgets::pop_up::{LineBox, PopUp, draw_box, draw_head};
pub use widgets::syntax::body_lines;
pub use widgets::table::{
    GUTTER, TableColumn, TableRow, draw_header_row, draw_rows, pinned_beside_names, widths, window,
};
pub use widgets::tabs::tab_line;
pub use widgets::toast::Toasts;
pub use widgets::tree::tree_lines;
pub use widgets::wrap::{plain, wrap, wrap_hanging, wrap_parts};
