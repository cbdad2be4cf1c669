//! An SVG logo: a few shapes. What would take long to read or to draw is refused before.
//!
//! ```text
//!   bytes ─► elements: `use`, clip paths, numbers ─► shapes: filters, points, area ─► drawn
//! ```

mod effort;
mod elements;

use resvg::usvg::roxmltree::{Document, ParsingOptions};
use resvg::usvg::{Options, Tree};

use crate::LogoError;

const MAX_KIB: usize = 512;

/// The shapes of an SVG image.
///
/// # Errors
/// When it is damaged, or would take long to draw.
pub(crate) fn read(bytes: &[u8]) -> Result<Tree, LogoError> {
    let failed = |reason: String| LogoError::Svg(reason);
    if bytes.len() > MAX_KIB * 1_024 {
        return refuse(format!("it has more than {MAX_KIB} KiB"));
    }
    let text = std::str::from_utf8(bytes).map_err(|_| failed("it is not UTF-8".to_owned()))?;
    let options = ParsingOptions {
        allow_dtd: true,
        ..ParsingOptions::default()
    };
    let document =
        Document::parse_with_options(text, options).map_err(|error| failed(error.to_string()))?;
    elements::check(&document)?;
    let tree = Tree::from_xmltree(&document, &Options::default())
        .map_err(|error| failed(error.to_string()))?;
    effort::check(&tree)?;
    Ok(tree)
}

fn refuse<T>(reason: impl Into<String>) -> Result<T, LogoError> {
    Err(LogoError::Complex(reason.into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_with(size: &str, content: &str) -> Result<Tree, LogoError> {
        let svg = format!("<svg xmlns='http://www.w3.org/2000/svg' {size}>{content}</svg>");
        read(svg.as_bytes())
    }

    fn refused(content: &str) -> String {
        let size = "width='100' height='100'";
        read_with(size, content).unwrap_err().to_string()
    }

    #[test]
    fn images_that_take_long_are_refused_with_the_reason() {
        let noise = "<filter id='f'><feTurbulence numOctaves='9999'/></filter>";
        assert_eq!(
            refused(noise),
            "it has the element `filter`; simplify the SVG image, or use a PNG image"
        );
        let blur = "<rect width='9' height='9' style='filter: blur(9999px)'/>";
        assert!(refused(blur).starts_with("it has a filter; "));
        let size = "width='1e9' height='1'";
        let wide = read_with(size, "<rect width='9' height='9'/>").unwrap_err();
        assert!(
            wide.to_string()
                .starts_with("`width` has a number over 6 digits; ")
        );
        let dashes = "<path d='M0 0H99' stroke='red' stroke-dasharray='.0001'/>";
        assert!(refused(dashes).starts_with("its shapes would take long to draw; "));
        let far = "<g transform='scale(999)'><rect width='99' height='9'/></g>";
        assert!(refused(far).starts_with("a shape is much larger than the image; "));
        let large = " ".repeat(MAX_KIB * 1_024);
        assert!(refused(&large).starts_with("it has more than 512 KiB; "));
    }

    #[test]
    fn repeated_elements_are_counted_before_they_exist() {
        let ten = |used: &str| format!("<use href='#{used}'/>").repeat(10);
        let nested: String = (1..12)
            .map(|at| format!("<g id='g{at}'>{}</g>", ten(&format!("g{}", at - 1))))
            .collect();
        let rect = "<rect id='g0' width='9' height='9'/>";
        assert!(refused(&format!("{rect}{nested}")).starts_with("a `use` repeats another `use`; "));
        let group = format!("<g id='g'>{}</g>", "<path d='M0 0h1v1z'/>".repeat(200));
        let many = format!("{group}{}", "<use href='#g'/>".repeat(10));
        assert!(refused(&many).starts_with("it has more than 2000 elements; "));
    }

    #[test]
    fn layers_and_clip_paths_count_as_often_as_they_are_drawn() {
        let layer = "<g opacity='.5'><rect width='100' height='100'/></g>";
        assert!(refused(&layer.repeat(100)).starts_with("its shapes would take long to draw; "));
        let clip = "<clipPath id='c'><path d='M0 0h9v9z'/></clipPath>";
        let clipped = "<rect width='9' height='9' clip-path='url(#c)'/>".repeat(100);
        let reason = refused(&format!("{clip}{clipped}"));
        assert!(reason.starts_with("its shapes would take long to draw; "));
    }

    #[test]
    fn clip_path_has_no_clip_path() {
        let first = "<clipPath id='a'><rect id='r' width='9' height='9'/></clipPath>";
        for second in [
            "<clipPath id='b'><rect width='9' height='9' clip-path='url(#a)'/></clipPath>",
            "<clipPath id='b' style='clip-path: url(#a)'><rect width='9' height='9'/></clipPath>",
            "<style>.x,.y{fill:red;clip-path:url(#a)}</style><clipPath id='b'><g class='z y'/></clipPath>",
            "<g id='g' clip-path='url(#a)'/><clipPath id='b'><use href='#g'/></clipPath>",
        ] {
            let reason = refused(&format!("{first}{second}"));
            assert!(
                reason.starts_with("a clip path has a clip path; "),
                "{second}: {reason}"
            );
        }
        let all = "<style>rect{clip-path:url(#a)}</style>";
        assert!(refused(all).starts_with("its style sheet clips more than single classes; "));
    }

    #[test]
    fn usual_logos_are_read() {
        let logo = "<style>.a{clip-path:url(#c);fill:#12345678}</style>\
            <defs><path id='p' d='M0 0a5 5 0 01.5.5L1e2 3.25z'/>\
            <clipPath id='c'><use href='#p'/></clipPath>\
            <linearGradient id='l'><stop stop-color='red'/></linearGradient></defs>\
            <g class='a'><rect width='100' height='50' fill='url(#l)'/></g>\
            <use href='#p'/><path d='M0 9H90' stroke='red' stroke-dasharray='4 2'/>";
        assert!(read_with("viewBox='0 0 100 50'", logo).is_ok());
    }
}
