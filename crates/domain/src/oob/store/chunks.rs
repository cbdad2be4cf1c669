//! Captures in chunks, so that no transaction blocks others for long and no message delays a key.

use crate::oob::ArchivedCapture;

/// Maximum number of captures per chunk.
pub(super) const MOST: usize = 1_000;
/// Approximate maximum size of bodies per chunk; a larger capture is a chunk by itself.
pub(super) const MOST_BYTES: usize = 4 << 20;

/// The captures in order, in chunks.
pub fn chunks(captures: Vec<ArchivedCapture>) -> impl Iterator<Item = Vec<ArchivedCapture>> {
    let mut rest = captures.into_iter().peekable();
    std::iter::from_fn(move || {
        let (mut chunk, mut bytes) = (Vec::new(), 0);
        while let Some(next) =
            rest.next_if(|next| chunk.is_empty() || bytes + size(next) <= MOST_BYTES)
        {
            bytes += size(&next);
            chunk.push(next);
            if chunk.len() == MOST {
                break;
            }
        }
        (!chunk.is_empty()).then_some(chunk)
    })
}

fn size(archived: &ArchivedCapture) -> usize {
    archived.capture.request_body_base64.len()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use scandeck_wire::contract::{Capture, CaptureId};

    fn with_bodies(sizes: impl IntoIterator<Item = usize>) -> Vec<ArchivedCapture> {
        let capture = |(at, size): (usize, usize)| {
            let body = "x".repeat(size).into();
            let capture = Capture {
                id: CaptureId(at as i64),
                request_body_base64: body,
                ..Capture::default()
            };
            ArchivedCapture {
                capture: Arc::new(capture),
                ..ArchivedCapture::default()
            }
        };
        sizes.into_iter().enumerate().map(capture).collect()
    }

    #[test]
    fn chunks_respect_limits_and_keep_every_capture() {
        let lengths = |all: &[ArchivedCapture]| {
            chunks(all.to_vec())
                .map(|chunk| chunk.len())
                .collect::<Vec<_>>()
        };
        assert_eq!(lengths(&with_bodies([0; 2_001])), [1_000, 1_000, 1]);
        let big = with_bodies([1 << 20, 3 << 20, 1, 9 << 20, 1]);
        assert_eq!(lengths(&big), [2, 1, 1, 1]);
        assert_eq!(chunks(big.clone()).flatten().collect::<Vec<_>>(), big);
        assert!(chunks(Vec::new()).next().is_none());
    }
}
