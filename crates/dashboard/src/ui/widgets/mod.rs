//! Elements that are drawn in more than one place. Most take plain values and an area.

pub mod area;
pub mod bar;
pub mod frame;
pub mod grid;
pub mod hex;
pub mod hints;
pub mod input;
pub mod lines;
pub mod menu;
pub mod message;
pub mod pop_up;
pub mod syntax;
pub mod table;
pub mod tabs;
pub mod toast;
pub mod tree;
pub mod wrap;
