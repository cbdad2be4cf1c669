//! Short sentences that come and go: what was done, what was refused, what a key could not do.
//!
//! At most three at a time, the oldest leaves first, each expires by itself.

use std::collections::VecDeque;
use std::time::Duration;

/// How a notice is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tone {
    /// A key had nothing to do, or is off.
    Plain,
    /// Something was done.
    Good,
    /// Something failed.
    Bad,
}

/// One sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notice {
    /// How it is meant.
    pub tone: Tone,
    /// The sentence, one line.
    pub text: String,
    /// When it leaves, on the monotonic clock.
    pub until: Duration,
}

/// What is said at present.
#[derive(Clone, Debug, Default)]
pub struct Notices {
    all: VecDeque<Notice>,
}

/// More are never shown at a time.
const MOST: usize = 3;

impl Notices {
    /// Says something. The same sentence again only stays longer.
    pub fn say(&mut self, now: Duration, tone: Tone, text: impl Into<String>) {
        let text = text.into();
        self.all.retain(|notice| notice.text != text);
        let stays = match tone {
            Tone::Plain => 3,
            Tone::Good => 4,
            Tone::Bad => 10,
        };
        self.all.push_back(Notice { tone, text, until: now + Duration::from_secs(stays) });
        while self.all.len() > MOST {
            self.all.pop_front();
        }
    }

    /// Takes off what has expired; true when something did.
    pub fn expire(&mut self, now: Duration) -> bool {
        let before = self.all.len();
        self.all.retain(|notice| notice.until > now);
        self.all.len() != before
    }

    /// When the next one leaves.
    pub fn next_expiry(&self) -> Option<Duration> {
        self.all.iter().map(|notice| notice.until).min()
    }

    /// What is said, oldest first.
    pub fn iter(&self) -> impl Iterator<Item = &Notice> {
        self.all.iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fourth_notice_pushes_the_first_out_and_all_expire() {
        let mut notices = Notices::default();
        for text in ["a", "b", "b", "c", "d"] {
            notices.say(Duration::ZERO, Tone::Good, text);
        }
        assert_eq!(notices.iter().map(|notice| notice.text.as_str()).collect::<Vec<_>>(), ["b", "c", "d"]);
        assert!(!notices.expire(Duration::from_secs(3)));
        assert!(notices.expire(notices.next_expiry().unwrap()));
        assert_eq!(notices.iter().count(), 0);
    }
}
