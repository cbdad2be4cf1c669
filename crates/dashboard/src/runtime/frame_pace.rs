//! When frames are drawn.
//!
//! ```text
//!   key ─────────► at once, unless a frame for a key was drawn just now: then after a pause that follows its cost
//!   other events ► at most one frame each 16 ms
//!   messages ────► handled for at most 16 ms before a frame, 4 ms before a frame that follows a key
//! ```

use std::time::Duration;
use tokio::time::Instant;

/// Least time between two frames after events other than keys.
pub(crate) const FRAME: Duration = Duration::from_millis(16);
/// Frames after keys are so many times as far apart as a frame costs, within [`PAUSES`], so that a
/// held key does not fill a processor.
const COST_FACTOR: u32 = 12;
/// Least and most time between two frames after keys. The cost of a frame includes what other
/// threads took of the processor meanwhile; a key after such a frame must not wait longer than
/// others.
const PAUSES: (Duration, Duration) = (Duration::from_millis(4), Duration::from_millis(12));
/// Most time for queued messages before a frame that follows a key.
const BEFORE_ANSWER: Duration = Duration::from_millis(4);
/// The times of the last frames.
#[derive(Debug, Default)]
pub(crate) struct FramePace {
    /// The end of the last frame.
    drawn: Option<Instant>,
    /// When a frame after the last one that followed a key can follow another key.
    next_answer: Option<Instant>,
    /// Whether the next frame follows a key.
    typed: bool,
}

impl FramePace {
    /// The next frame follows a key. It does not wait for a frame that followed another event.
    pub fn follow_key(&mut self) {
        self.typed = true;
    }

    /// The time of the next frame, if it is not due yet.
    pub fn due(&self, now: Instant) -> Option<Instant> {
        let due = if self.typed {
            self.next_answer?
        } else {
            self.drawn? + FRAME
        };
        (due > now).then_some(due)
    }

    /// Most time for queued messages before the next frame.
    pub fn message_time(&self) -> Duration {
        if self.typed { BEFORE_ANSWER } else { FRAME }
    }

    /// A frame was drawn between these times.
    pub fn drew(&mut self, begun: Instant, ended: Instant) {
        self.drawn = Some(ended);
        if std::mem::take(&mut self.typed) {
            self.next_answer =
                Some(ended + ((ended - begun) * COST_FACTOR).clamp(PAUSES.0, PAUSES.1));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(milliseconds: u64) -> Duration {
        Duration::from_millis(milliseconds)
    }

    #[test]
    fn keys_wait_for_the_cost_of_a_frame_and_other_events_for_a_frame() {
        let (mut pace, start) = (FramePace::default(), Instant::now());
        assert_eq!(pace.due(start), None);
        pace.drew(start, start + ms(2));
        assert_eq!(pace.due(start + ms(3)), Some(start + ms(18)));
        assert_eq!(pace.message_time(), FRAME);
        pace.follow_key();
        assert_eq!(
            pace.due(start + ms(3)),
            None,
            "a key does not wait for that frame"
        );
        assert_eq!(pace.message_time(), BEFORE_ANSWER, "nor for many messages");
        pace.drew(start + ms(3), start + Duration::from_micros(3_500));
        pace.follow_key();
        assert_eq!(
            pace.due(start + ms(4)),
            Some(start + Duration::from_micros(3_500) + ms(6))
        );
        assert_eq!(pace.due(start + ms(10)), None);
    }

    #[test]
    fn pause_after_expensive_frame_is_at_most_12_ms() {
        let (mut pace, start) = (FramePace::default(), Instant::now());
        pace.follow_key();
        pace.drew(start, start + ms(9));
        pace.follow_key();
        assert_eq!(pace.due(start + ms(9)), Some(start + ms(9 + 12)));
    }
}
