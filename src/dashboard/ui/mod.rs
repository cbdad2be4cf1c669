//! Drawing that belongs to no feature: layout (all numbers), theme (all colours and glyphs), widgets.
//!
//! ```text
//!   draw of a feature ─► columns, cells, detail ─► list, text, form, prompt ─► widgets ─► cells of the buffer
//!                                                    │
//!                               layout · theme · format · cache (scroll anchors, wrapped lines)
//! ```
//!
//! Nothing here changes the model. Drawing of one feature is in its `draw.rs` or `draw/`.

pub mod cache;
pub mod context;
pub mod facts;
pub mod form;
pub mod labels;
pub mod list;
pub mod prompt;
pub mod text;

pub mod format;
pub mod layout;
pub mod theme;
pub mod widgets;

pub use cache::ViewCache;
pub(crate) use cache::{Counted, TextKey, WrappedText};
pub(crate) use context::Cx;
pub use facts::PaneFacts;
pub use layout::{COMMAND_NAME, LEAST, Places, Slot, SlotPart, TABS_FROM};
pub(crate) use list::{ListPane, ListState};
pub(crate) use text::{DetailPane, DetailText};
pub use theme::{Scheme, Theme, UNICODE};
pub use widgets::frame::Edges;
pub use widgets::hints::Hint;
pub(crate) use widgets::pop_up::PopUp;
pub use widgets::table::{GUTTER, TableColumn, TableRow};
pub use widgets::toast::Toasts;
