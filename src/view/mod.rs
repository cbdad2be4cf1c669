//! Drawing: the model goes in, cells come out. Nothing here changes what the dashboard knows or decides.
//!
//! ```text
//!   draw(&Model, &mut Frame, &mut ViewCache)
//!     ├─ layout    which areas there are at this size          (all numbers)
//!     ├─ panes/    one file a pane: list and detail
//!     ├─ modals/   help, prompts, forms, menus
//!     └─ widgets/  tables, bars, wrapped text, frames          theme: all colours and glyphs
//! ```

pub mod facts;
pub mod format;
pub mod layout;
pub mod theme;
pub mod widgets;
