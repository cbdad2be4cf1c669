//! The PDF report: tagged pages with bookmarks, page numbers and linked contents. Fonts are in
//! `assets/fonts`.

mod fonts;
mod layout;
mod lines;
mod output;

use self::fonts::Fonts;
use self::layout::{Measured, PageLayout};
use self::output::PdfPages;
use super::flow::{FlowLimits, walk};
use super::view::{ProofLimit, View};
use super::{Document, RenderError, ReportOutput};

/// Findings with texts and evidence; the further ones are listed. Every page is in memory until the
/// file is complete.
pub(super) const IN_FULL: usize = 2_500;

pub(super) fn render(
    document: &Document<'_>,
    out: &mut dyn ReportOutput,
) -> Result<(), RenderError> {
    let view = View::new(document)?;
    let footer = view.footer();
    let limits = FlowLimits {
        in_full: IN_FULL,
        proof: ProofLimit::PAGES,
    };
    let mut fonts = Fonts::new()?;

    let unknown = Measured::default();
    let mut measuring = PageLayout::new(&mut fonts, None, &unknown, (&footer, view.words()));
    walk(&view, limits, &mut |block| measuring.block(&block))?;
    let known = measuring.finish()?;

    let mut pages = PdfPages::new(&view);
    let mut drawing = PageLayout::new(
        &mut fonts,
        Some(&mut pages),
        &known,
        (&footer, view.words()),
    );
    walk(&view, limits, &mut |block| drawing.block(&block))?;
    drawing.finish()?;
    Ok(out.write_all(&pages.finish()?)?)
}
