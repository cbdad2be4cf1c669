//! The PDF report: tagged pages with bookmarks, page numbers and linked contents. Fonts are in
//! `assets/fonts`; fonts of this machine have the scripts that these lack, such as Chinese.

mod fonts;
mod layout;
mod lines;
mod machine_fonts;
mod output;

use std::collections::BTreeSet;

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
    let mut fonts = Fonts::new()?;
    let known = measure(&view, limits, &footer, &mut fonts)?;
    let file = match with_machine_fonts(&view, limits, &footer, fonts.missing()) {
        Some(file) => file,
        None => written(&view, limits, &footer, &mut fonts, &known)?,
    };
    Ok(out.write_all(&file)?)
}

/// The file with fonts of this machine for the missing characters. None without such fonts, and
/// with a broken one, which must not cost the report.
fn with_machine_fonts(
    view: &View<'_>,
    limits: FlowLimits,
    footer: &str,
    missing: &BTreeSet<char>,
) -> Option<Vec<u8>> {
    if missing.is_empty() {
        return None;
    }
    let more = machine_fonts::with(missing, font_files());
    if more.is_empty() {
        return None;
    }
    let mut fonts = Fonts::new().ok()?;
    fonts.add(&more);
    let known = measure(view, limits, footer, &mut fonts).ok()?;
    written(view, limits, footer, &mut fonts, &known).ok()
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

/// The bytes of the file.
fn written(
    view: &View<'_>,
    limits: FlowLimits,
    footer: &str,
    fonts: &mut Fonts<'_>,
    known: &Measured,
) -> Result<Vec<u8>, RenderError> {
    let mut pages = PdfPages::new(view);
    let mut layout = PageLayout::new(fonts, Some(&mut pages), known, (footer, view.words()));
    walk(view, limits, &mut |block| layout.block(&block))?;
    layout.finish()?;
    pages.finish()
}
