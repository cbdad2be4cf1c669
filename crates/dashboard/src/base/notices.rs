//! Notices: short messages about results, refusals and keys without effect.
//!
//! At most three at a time, the oldest leaves first, each expires by itself.

use std::collections::VecDeque;
use std::time::Duration;

/// The tone of a notice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tone {
    /// A key had no effect.
    Plain,
    /// An action succeeded.
    Good,
    /// An action failed.
    Bad,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notice {
    pub tone: Tone,
    /// One line.
    pub text: String,
    /// When it expires, on the monotonic clock.
    pub until: Duration,
    end: NoticeEnd,
}

/// The event that removes a notice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum NoticeEnd {
    Time,
    /// Its time, or the next key if that is earlier.
    TimeOrKey,
    /// The first key after its time.
    KeyAfterTime,
}

/// The notices on the screen.
#[derive(Clone, Debug, Default)]
pub struct Notices {
    all: VecDeque<Notice>,
}

/// Most notices at a time.
const MOST: usize = 3;

impl Notices {
    /// Adds a notice. A repeated text only extends its time.
    pub fn notify(&mut self, now: Duration, tone: Tone, text: impl Into<String>) {
        let text = text.into();
        self.all.retain(|notice| notice.text != text);
        let seconds = match tone {
            Tone::Plain => 3,
            Tone::Good => 4,
            Tone::Bad => 10,
        };
        self.all.push_back(Notice {
            tone,
            text,
            until: now + Duration::from_secs(seconds),
            end: NoticeEnd::Time,
        });
        while self.all.len() > MOST {
            self.all.pop_front();
        }
    }

    /// Adds a notice that only concerns the last key: the next one removes it.
    pub fn notify_until_key(&mut self, now: Duration, text: impl Into<String>) {
        self.notify(now, Tone::Plain, text);
        if let Some(last) = self.all.back_mut() {
            last.end = NoticeEnd::TimeOrKey;
        }
    }

    /// Adds a notice that the user may miss: it remains until the first key after its time.
    pub fn notify_until_seen(&mut self, now: Duration, tone: Tone, text: impl Into<String>) {
        self.notify(now, tone, text);
        if let Some(last) = self.all.back_mut() {
            last.end = NoticeEnd::KeyAfterTime;
        }
    }

    /// Removes a notice that is no longer true.
    pub fn remove(&mut self, text: &str) {
        self.all.retain(|notice| notice.text != text);
    }

    /// Removes the notices that end with this text.
    pub fn remove_ending(&mut self, text: &str) {
        self.all.retain(|notice| !notice.text.ends_with(text));
    }

    /// Removes the notices that start with one of these texts.
    pub fn remove_starting(&mut self, texts: &[&str]) {
        self.all
            .retain(|notice| !texts.iter().any(|text| notice.text.starts_with(text)));
    }

    /// A key was pressed.
    pub fn key_pressed(&mut self, now: Duration) {
        self.all.retain(|notice| match notice.end {
            NoticeEnd::Time => true,
            NoticeEnd::TimeOrKey => false,
            NoticeEnd::KeyAfterTime => notice.until > now,
        });
    }

    /// Removes expired notices.
    pub fn expire(&mut self, now: Duration) {
        self.all
            .retain(|notice| notice.until > now || notice.end == NoticeEnd::KeyAfterTime);
    }

    /// When the next notice expires.
    pub fn next_expiry(&self) -> Option<Duration> {
        self.all
            .iter()
            .filter(|notice| notice.end != NoticeEnd::KeyAfterTime)
            .map(|notice| notice.until)
            .min()
    }

    /// Oldest first.
    pub fn iter(&self) -> impl Iterator<Item = &Notice> {
        self.all.iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn next_key_removes_only_notices_about_the_last_key() {
        let mut notices = Notices::default();
        notices.notify(Duration::ZERO, Tone::Good, "saved");
        notices.notify_until_key(Duration::ZERO, "nothing to close");
        assert_eq!(notices.iter().count(), 2);
        notices.key_pressed(Duration::ZERO);
        assert_eq!(
            notices
                .iter()
                .map(|notice| notice.text.as_str())
                .collect::<Vec<_>>(),
            ["saved"]
        );
    }

    #[test]
    fn notice_until_seen_remains_until_a_key_after_its_time() {
        let mut notices = Notices::default();
        notices.notify_until_seen(Duration::ZERO, Tone::Good, "retest ended");
        notices.key_pressed(Duration::from_secs(1));
        notices.expire(Duration::from_secs(60));
        assert_eq!((notices.iter().count(), notices.next_expiry()), (1, None));
        notices.key_pressed(Duration::from_secs(60));
        assert_eq!(notices.iter().count(), 0);
    }

    #[test]
    fn fourth_notice_removes_the_first_and_all_expire() {
        let mut notices = Notices::default();
        for text in ["a", "b", "b", "c", "d"] {
            notices.notify(Duration::ZERO, Tone::Good, text);
        }
        assert_eq!(
            notices
                .iter()
                .map(|notice| notice.text.as_str())
                .collect::<Vec<_>>(),
            ["b", "c", "d"]
        );
        notices.expire(Duration::from_secs(3));
        assert_eq!(notices.iter().count(), 3);
        notices.expire(notices.next_expiry().unwrap());
        assert_eq!(notices.iter().count(), 0);
    }
}
