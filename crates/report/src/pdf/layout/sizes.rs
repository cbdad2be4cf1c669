//! Measures of the pages, in points, and sizes of the texts.

/// A4, in points.
pub const PAGE: (f32, f32) = (595.0, 842.0);
pub(super) const LEFT: f32 = 54.0;
pub(super) const RIGHT: f32 = PAGE.0 - LEFT;
pub(super) const WIDTH: f32 = RIGHT - LEFT;
pub(super) const TOP: f32 = 56.0;
pub(super) const BOTTOM: f32 = PAGE.1 - 66.0;
pub(super) const FOOTER: f32 = PAGE.1 - 46.0;
/// Largest height of facts that move to the next page with the headings above them.
pub(super) const SHORT_FACTS: f32 = 110.0;

/// Size of a text and height of its lines.
#[derive(Clone, Copy, Debug)]
pub(super) struct TextSize {
    pub size: f32,
    pub leading: f32,
}

pub(super) const TITLE: TextSize = TextSize {
    size: 25.0,
    leading: 32.0,
};
pub(super) const CHAPTER: TextSize = TextSize {
    size: 16.0,
    leading: 21.0,
};
pub(super) const FINDING: TextSize = TextSize {
    size: 11.5,
    leading: 15.0,
};
pub(super) const BODY: TextSize = TextSize {
    size: 9.5,
    leading: 13.2,
};
pub(super) const SMALL: TextSize = TextSize {
    size: 8.0,
    leading: 11.0,
};
pub(super) const VERBATIM: TextSize = TextSize {
    size: 7.8,
    leading: 10.6,
};
