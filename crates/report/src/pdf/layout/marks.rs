//! What a pass leaves: marks on pages, and where the headings are.

use std::collections::HashMap;

use krilla::image::Image;

use super::super::lines::{Ink, TextLine};

/// Where a heading is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Place {
    /// From 0.
    pub page: usize,
    pub y: f32,
}

/// A text, an area or a link on a page. Texts and links belong to a tag; without one they are
/// decoration.
#[derive(Debug)]
pub struct PageMark {
    pub tag: Option<usize>,
    pub x: f32,
    /// Top of an area, base line of a text.
    pub y: f32,
    pub kind: PageMarkKind,
}

#[derive(Debug)]
pub enum PageMarkKind {
    Text {
        line: TextLine,
        size: f32,
    },
    Area {
        width: f32,
        height: f32,
        ink: Ink,
    },
    Image {
        image: Image,
        width: f32,
        height: f32,
    },
    Link {
        width: f32,
        height: f32,
        target: LinkTarget,
    },
}

/// The destination of a link.
#[derive(Clone, Debug)]
pub enum LinkTarget {
    Place(Place),
    Web(String),
}

/// The pages found by the measuring pass.
#[derive(Clone, Debug, Default)]
pub struct Measured {
    pub places: HashMap<usize, Place>,
    pub pages: usize,
}
