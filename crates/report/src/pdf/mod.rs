//! The PDF report: tagged pages with bookmarks, page numbers and linked contents. Fonts are in
//! `assets/fonts`; fonts of this machine have the scripts that these lack, such as Chinese.

mod fonts;
mod layout;
mod lines;
mod machine_fonts;
mod output;

use self::fonts::Fonts;
use self::layout::{Measured, PageLayout};
use self::output::PdfPages;
use super::flow::{FlowLimits, walk};
use super::view::{ProofLimit, View};
use super::{Document, RenderError, ReportOutput};
use scandeck_wire::font_files::font_files;

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
    let more;
    let mut fonts = Fonts::new()?;
    let mut known = measure(&view, limits, &footer, &mut fonts)?;
    if !fonts.missing().is_empty() {
        more = machine_fonts::with(fonts.missing(), font_files());
        if !more.is_empty() {
            fonts.add(&more);
            known = measure(&view, limits, &footer, &mut fonts)?;
        }
    }

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

/// The pages of the headings.
fn measure(
    view: &View<'_>,
    limits: FlowLimits,
    footer: &str,
    fonts: &mut Fonts<'_>,
) -> Result<Measured, RenderError> {
    let unknown = Measured::default();
    let mut layout = PageLayout::new(fonts, None, &unknown, (footer, view.words()));
    walk(view, limits, &mut |block| layout.block(&block))?;
    layout.finish()
}
