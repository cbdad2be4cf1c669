//! The logo of a template: a PNG or SVG file as it is, and its pixels for the formats that need them.

use resvg::tiny_skia::{Pixmap, Transform};
use thiserror::Error;

use crate::svg;

/// Longest side of a logo in pixels.
const LONGEST: u32 = 4_096;
/// Longest side of the pixels of an SVG image: 400 dots an inch on the page.
const DRAWN: f32 = 1_200.0;
const PNG: &[u8] = b"\x89PNG\r\n\x1a\n";

/// An image file with its pixels.
#[derive(Clone, PartialEq, Eq)]
pub struct Logo {
    /// The content of the file.
    pub bytes: Vec<u8>,
    pub is_svg: bool,
    /// The image as PNG.
    pub png: Vec<u8>,
    /// Width and height in pixels.
    pub size: (u32, u32),
    /// Four bytes a pixel: red, green, blue and opacity, from the top left.
    pub pixels: Vec<u8>,
}

/// Why a file is no logo.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum LogoError {
    #[error("it is neither PNG nor SVG")]
    OtherFormat,
    #[error("invalid PNG image: {0}")]
    Png(String),
    #[error("invalid SVG image: {0}")]
    Svg(String),
    #[error("{0}; simplify the SVG image, or use a PNG image")]
    Complex(String),
    #[error("it has {0}×{1} pixels; use at most {LONGEST}×{LONGEST}")]
    TooLarge(u32, u32),
}

impl Logo {
    /// An image from the content of a file.
    ///
    /// # Errors
    /// When it is neither PNG nor SVG, damaged, too large, or would take long to draw.
    pub fn read(bytes: Vec<u8>) -> Result<Self, LogoError> {
        let start = String::from_utf8_lossy(&bytes[..bytes.len().min(1_000)]).into_owned();
        let is_svg = !bytes.starts_with(PNG) && start.contains("<svg");
        let pixmap = match is_svg {
            true => draw(&bytes)?,
            false => decode(&bytes)?,
        };
        let png = match is_svg {
            true => pixmap
                .encode_png()
                .map_err(|e| LogoError::Svg(e.to_string()))?,
            false => bytes.clone(),
        };
        Ok(Self {
            bytes,
            is_svg,
            png,
            size: (pixmap.width(), pixmap.height()),
            pixels: pixmap.take_demultiplied(),
        })
    }

    /// Width and height that fit into a rectangle, in its unit, and the largest size of a pixel: a
    /// small image remains small.
    pub fn fitted(&self, (width, height): (f64, f64), pixel: f64) -> (f64, f64) {
        let (across, down) = (f64::from(self.size.0), f64::from(self.size.1));
        let scale = (width / across).min(height / down).min(pixel);
        (across * scale, down * scale)
    }
}

impl std::fmt::Debug for Logo {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "Logo({}×{})", self.size.0, self.size.1)
    }
}

/// The pixels of a PNG image, whose size is read first: a small file can have billions of them.
fn decode(bytes: &[u8]) -> Result<Pixmap, LogoError> {
    if !bytes.starts_with(PNG) {
        return Err(LogoError::OtherFormat);
    }
    let side = |at: usize| {
        let four = bytes.get(at..at + 4).and_then(|four| four.try_into().ok());
        let four = four.ok_or_else(|| LogoError::Png("it has no header".to_owned()))?;
        Ok(u32::from_be_bytes(four))
    };
    let (width, height) = (side(16)?, side(20)?);
    if width.max(height) > LONGEST {
        return Err(LogoError::TooLarge(width, height));
    }
    Pixmap::decode_png(bytes).map_err(|error| LogoError::Png(error.to_string()))
}

/// The pixels of an SVG image. Its texts and embedded images are not drawn, other files not read.
fn draw(bytes: &[u8]) -> Result<Pixmap, LogoError> {
    let failed = |reason: String| LogoError::Svg(reason);
    let tree = svg::read(bytes)?;
    let (width, height) = (tree.size().width(), tree.size().height());
    let scale = DRAWN / width.max(height);
    let side = |length: f32| (length * scale).ceil().max(1.0) as u32;
    let mut pixmap = Pixmap::new(side(width), side(height))
        .ok_or_else(|| failed("it has no size".to_owned()))?;
    let transform = Transform::from_scale(scale, scale);
    resvg::render(&tree, transform, &mut pixmap.as_mut());
    Ok(pixmap)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Document, render};
    use scandeck_wire::contract::ReportFormat;

    const SVG: &str = "<?xml version='1.0'?><svg xmlns='http://www.w3.org/2000/svg' \
        viewBox='0 0 40 10'><rect width='20' height='10' fill='#cc0000'/></svg>";

    #[test]
    fn svg_is_drawn_and_png_is_kept() {
        let logo = Logo::read(SVG.into()).unwrap();
        assert_eq!((logo.is_svg, logo.size), (true, (1_200, 300)));
        assert_eq!(logo.pixels[..4], [0xcc, 0, 0, 0xff]);
        // The right half is transparent.
        assert_eq!(logo.pixels[1_199 * 4 + 3], 0);
        assert_eq!(logo.fitted((100.0, 100.0), 1.0), (100.0, 25.0));
        assert_eq!(logo.fitted((100.0, 10.0), 1.0), (40.0, 10.0));
        assert_eq!(logo.fitted((9_000.0, 9_000.0), 0.75), (900.0, 225.0));
        let png = Logo::read(logo.png.clone()).unwrap();
        assert_eq!((png.is_svg, png.size), (false, logo.size));
        assert_eq!((&png.png, &png.pixels), (&logo.png, &logo.pixels));
    }

    #[test]
    fn paged_reports_show_the_logo() {
        let mut data = crate::tests::data(crate::ChapterKind::Class);
        data.template.image = Some(Logo::read(SVG.into()).unwrap());
        let document = Document::new(&data).unwrap();
        let rendered = |format| render(&document, &format).unwrap();
        let has = |bytes: &[u8], part: &[u8]| bytes.windows(part.len()).any(|at| at == part);
        assert!(has(&rendered(ReportFormat::Pdf), b"/Subtype/Image"));
        assert!(has(&rendered(ReportFormat::Docx), b"word/media/logo.png"));
        assert!(has(
            &rendered(ReportFormat::Html),
            b"data:image/svg+xml;base64,"
        ));
    }

    #[test]
    fn files_that_are_no_logo_are_refused_with_a_reason() {
        let refused = |bytes: &[u8]| Logo::read(bytes.to_vec()).unwrap_err().to_string();
        assert_eq!(refused(b"GIF89a"), "it is neither PNG nor SVG");
        assert!(refused(b"<svg").starts_with("invalid SVG image: "));
        let empty = "<svg xmlns='http://www.w3.org/2000/svg' width='0' height='0'/>";
        assert!(refused(empty.as_bytes()).starts_with("invalid SVG image: "));
        let mut png = Logo::read(SVG.into()).unwrap().png;
        assert!(refused(&png[..60]).starts_with("invalid PNG image: "));
        png[16..20].copy_from_slice(&60_000_u32.to_be_bytes());
        assert_eq!(
            refused(&png),
            "it has 60000×300 pixels; use at most 4096×4096"
        );
    }
}
