//! Hex dumps in the available width: `00000000  50 4b 03 04  …  |PK..|`.

use crate::ui::Theme;
use ratatui::text::{Line, Span};

/// Bytes per line in `width` columns: 16, 8 or 4.
pub fn bytes_per_line(width: u16) -> usize {
    // Offset 8 + 2, three columns per byte, a gap after eight bytes, and the text between bars.
    match width {
        78.. => 16,
        45.. => 8,
        _ => 4,
    }
}

/// The dump of `bytes`, with [`bytes_per_line`] on each line.
pub fn hex_lines(theme: Theme, bytes: &[u8], width: u16) -> Vec<Line<'static>> {
    let per_line = bytes_per_line(width);
    bytes
        .chunks(per_line)
        .enumerate()
        .map(|(row, chunk)| hex_line(theme, row * per_line, chunk, per_line))
        .collect()
}

fn hex_line(theme: Theme, offset: usize, chunk: &[u8], per_line: usize) -> Line<'static> {
    let mut digits = String::with_capacity(per_line * 3 + 2);
    for i in 0..per_line {
        if i > 0 && i % 8 == 0 {
            digits.push(' ');
        }
        match chunk.get(i) {
            Some(byte) => digits.push_str(&format!("{byte:02x} ")),
            None => digits.push_str("   "),
        }
    }
    let text: String = chunk
        .iter()
        .map(|&byte| {
            if matches!(byte, b' '..=b'~') {
                char::from(byte)
            } else {
                '.'
            }
        })
        .collect();
    Line::from(vec![
        Span::styled(format!("{offset:08x}  "), theme.dim()),
        Span::raw(digits),
        Span::styled(" |", theme.dim()),
        Span::raw(text),
        Span::styled("|", theme.dim()),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dump_in_any_width_fits_and_shows_offset_bytes_and_text() {
        let bytes: Vec<u8> = (0..=40).map(|i| i * 6).collect();
        for width in [30, 45, 78, 200] {
            let lines = hex_lines(Theme::default(), &bytes, width);
            assert!(
                lines.iter().all(|line| line.width() <= usize::from(width)),
                "{width}"
            );
        }
        let line = hex_lines(Theme::default(), b"PK\x03\x04", 45).remove(0);
        assert_eq!(
            line.to_string(),
            "00000000  50 4b 03 04              |PK..|"
        );
    }
}
