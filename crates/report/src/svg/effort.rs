//! What drawing a tree of shapes takes, counted until it is too much.

use resvg::usvg::{ClipPath, Group, Node, Path, Tree};

use super::refuse;
use crate::LogoError;

/// Parts of the tree, each counted as often as it is drawn.
const MAX_PARTS: usize = 10_000;
const MAX_POINTS: usize = 100_000;
/// The areas of all shapes together, in areas of the image.
const MAX_AREA: f32 = 200.0;
/// A layer is cleared, drawn and merged.
const LAYER_COST: f32 = 3.0;
/// Longest side of a shape, in longest sides of the image.
const MAX_REACH: f32 = 100.0;

/// Refuses a tree that would take long to draw.
pub(super) fn check(tree: &Tree) -> Result<(), LogoError> {
    if !tree.filters().is_empty() {
        return refuse("it has a filter");
    }
    let mut effort = Effort {
        image: (tree.size().width(), tree.size().height()),
        parts: 0,
        points: 0,
        area: 0.0,
    };
    effort.add_group(tree.root())
}

struct Effort {
    /// Width and height.
    image: (f32, f32),
    parts: usize,
    points: usize,
    area: f32,
}

impl Effort {
    fn add_group(&mut self, group: &Group) -> Result<(), LogoError> {
        if let Some(clip) = group.clip_path() {
            self.add_clip(clip)?;
        }
        for node in group.children() {
            let bounds = node.abs_stroke_bounding_box();
            let area = self.area_of((bounds.width(), bounds.height()))?;
            match node {
                Node::Group(inner) => {
                    if inner.should_isolate() {
                        self.add(0, area * LAYER_COST)?;
                    }
                    self.add_group(inner)?;
                }
                Node::Path(path) => self.add(points(path), area)?,
                // Neither is drawn.
                Node::Image(_) | Node::Text(_) => {}
            }
        }
        Ok(())
    }

    /// A layer of the size of the image, in which the shapes of the clip path are drawn.
    fn add_clip(&mut self, clip: &ClipPath) -> Result<(), LogoError> {
        self.add(0, LAYER_COST)?;
        self.add_group(clip.root())
    }

    fn add(&mut self, points: usize, area: f32) -> Result<(), LogoError> {
        self.parts += 1;
        self.points = self.points.saturating_add(points);
        self.area += area;
        match self.parts > MAX_PARTS || self.points > MAX_POINTS || self.area > MAX_AREA {
            true => refuse("its shapes would take long to draw"),
            false => Ok(()),
        }
    }

    /// The part of the image that a rectangle of this size covers at most.
    fn area_of(&self, (width, height): (f32, f32)) -> Result<f32, LogoError> {
        let (across, down) = self.image;
        if width.max(height) > across.max(down) * MAX_REACH {
            return refuse("a shape is much larger than the image");
        }
        Ok((width / across).min(1.0) * (height / down).min(1.0))
    }
}

/// The points of the outline, with those of its dashes.
fn points(path: &Path) -> usize {
    let outline = path.data().len();
    let Some(dashes) = path.stroke().and_then(|stroke| stroke.dasharray()) else {
        return outline;
    };
    let bounds = path.bounding_box();
    let per_part = (bounds.width() + bounds.height()) / dashes.iter().sum::<f32>();
    outline.saturating_mul((per_part.ceil() as usize).saturating_add(1))
}
