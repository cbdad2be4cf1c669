//! The scope of the tests: the targets, the gaps, and the methodology with the scale of risks.

use super::grid::Grid;
use super::{Block, Each, heading, rich};
use crate::RenderError;
use crate::view::View;
use scandeck_wire::contract::Risk;

pub fn walk_scope(view: &View<'_>, each: Each<'_>) -> Result<(), RenderError> {
    let words = view.words();
    rich(&view.template.scope, each)?;
    let keys = [
        "column.target",
        "column.tools",
        "column.tested",
        "column.findings",
    ];
    let mut grid = Grid::new(words, &keys);
    for row in &view.scope.targets {
        let cells = [&row.target, &row.tools, &row.tested, &row.findings];
        grid.row(cells.map(String::to_owned));
    }
    grid.pass(each)?;
    if view.scope.gaps.is_empty() {
        return Ok(());
    }
    heading(each, 2, words.get("heading.gaps"), 0, false)?;
    each(Block::Remark(words.get("text.gaps")))?;
    let keys = [
        "column.target",
        "column.tool",
        "column.start",
        "column.cause",
    ];
    let mut grid = Grid::new(words, &keys);
    for gap in &view.scope.gaps {
        let cells = [&gap.target, &gap.tool, &gap.at, &gap.cause];
        grid.row(cells.map(String::to_owned));
    }
    grid.pass(each)
}

pub fn walk_methodology(view: &View<'_>, each: Each<'_>) -> Result<(), RenderError> {
    let words = view.words();
    rich(&view.template.methodology, each)?;
    let scale = Risk::DOWN.into_iter().zip(view.template.severities.texts());
    let mut grid = Grid::new(words, &["column.risk", "column.meaning"]);
    for (risk, text) in scale.filter(|(_, text)| !text.is_empty()) {
        grid.risk_row(risk, words, [text.to_owned()]);
    }
    grid.pass(each)
}
