//! Fonts of this machine for the characters that no embedded font has.
//!
//! ```text
//!   missing characters, font files ─► the first fonts with some of them ─► until none is missing
//! ```

use std::collections::BTreeSet;
use std::sync::Arc;

use skrifa::raw::TableProvider;
use skrifa::{FontRef, MetadataProvider};

/// The licence of a font that may not be embedded, in the bits of its type.
const RESTRICTED: u16 = 2;
const LICENCE: u16 = 0xf;

/// A font in the bytes of a file; a collection has several.
#[derive(Clone, Debug)]
pub struct MachineFont {
    pub data: Arc<Vec<u8>>,
    pub index: u32,
}

/// The fonts of the files that have some of the missing characters.
pub fn with(missing: &BTreeSet<char>, files: impl Iterator<Item = Vec<u8>>) -> Vec<MachineFont> {
    let mut wanted = missing.clone();
    let mut fonts = Vec::new();
    for bytes in files {
        let data = Arc::new(bytes);
        for (index, read) in (0..).zip(FontRef::fonts(&data)) {
            let found = read.map_or_else(|_| BTreeSet::new(), |font| covered(&font, &wanted));
            if !found.is_empty() {
                wanted.retain(|c| !found.contains(c));
                fonts.push(MachineFont {
                    data: Arc::clone(&data),
                    index,
                });
            }
        }
        if wanted.is_empty() {
            break;
        }
    }
    fonts
}

/// The characters that a font can draw in a report.
fn covered(font: &FontRef<'_>, wanted: &BTreeSet<char>) -> BTreeSet<char> {
    let licence = font.os2().map(|table| table.fs_type() & LICENCE);
    if licence.is_ok_and(|bits| bits == RESTRICTED) {
        return BTreeSet::new();
    }
    let (characters, outlines) = (font.charmap(), font.outline_glyphs());
    let has_outline = |c: &&char| {
        let glyph = characters.map(**c);
        glyph.is_some_and(|glyph| outlines.get(glyph).is_some())
    };
    wanted.iter().filter(has_outline).copied().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_fonts_with_missing_characters_are_found() {
        let [hebrew, thai]: [&[u8]; 2] = [
            include_bytes!("../../assets/fonts/NotoSansHebrew-Regular.ttf"),
            include_bytes!("../../assets/fonts/NotoSansThai-Regular.ttf"),
        ];
        let files = [b"no font".as_slice(), hebrew, thai, hebrew];
        let sizes = |missing: &[char]| -> Vec<usize> {
            let characters = missing.iter().copied().collect();
            let fonts = with(&characters, files.into_iter().map(<[u8]>::to_vec));
            fonts.iter().map(|font| font.data.len()).collect()
        };
        assert_eq!(sizes(&['\u{e01}']), [thai.len()]);
        let all = sizes(&['\u{5d0}', '\u{e01}', '\u{65e5}']);
        assert_eq!(all, [hebrew.len(), thai.len()]);
        assert!(sizes(&['\u{65e5}']).is_empty());
    }
}
