//! A reference-counted string, and the pool in which the items of a list share equal ones.
//!
//! 100,000 findings contain a few hundred different texts. A decoder of many items has a
//! [`SharedPool`], and passes it to each item after decoding.

use std::borrow::Borrow;
use std::collections::HashSet;
use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use arcstr::ArcStr;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::inline_schema;

/// An immutable string, cheap to clone, and one word wide because a finding has twenty of them.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Shared(ArcStr);

inline_schema!(Shared, {"type": "string"});

impl Shared {
    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether both share one allocation.
    pub fn same(&self, other: &Shared) -> bool {
        ArcStr::ptr_eq(&self.0, &other.0)
    }
}

/// The texts of decoded items: equal ones share an allocation.
#[derive(Debug, Default)]
pub struct SharedPool {
    /// Longer texts are not shared.
    longest: Option<usize>,
    texts: HashSet<Shared>,
    wide: HashSet<Arc<str>>,
}

/// Texts in a [`SharedPool::brief`] have at most so many bytes, and are so many at most.
const BRIEF: usize = 128;
const MOST: usize = 1 << 16;

impl SharedPool {
    /// A pool of short texts only, which keeps none of the long ones that are moved elsewhere.
    pub fn brief() -> Self {
        Self {
            longest: Some(BRIEF),
            ..Self::default()
        }
    }

    /// Replaces a text by the equal one of the pool.
    pub fn share(&mut self, text: &mut Shared) {
        let is_long = self.longest.is_some_and(|longest| text.len() > longest);
        if text.is_empty() || is_long {
            return;
        }
        if let Some(known) = self.texts.get(text) {
            *text = known.clone();
            return;
        }
        if self.longest.is_some() && self.texts.len() >= MOST {
            self.texts.clear();
        }
        self.texts.insert(text.clone());
    }

    /// Replaces a text that is often long; a pool of short texts leaves it alone.
    pub(super) fn share_wide(&mut self, text: &mut Arc<str>) {
        if self.longest.is_some() {
            return;
        }
        match self.wide.get(text) {
            Some(known) => *text = Arc::clone(known),
            None => _ = self.wide.insert(Arc::clone(text)),
        }
    }
}

/// An item of a list. Its texts may repeat in other items.
pub trait SharedTexts {
    /// Replaces texts by equal ones of the pool. The lists of most types are too short for that.
    fn share_texts(&mut self, _pool: &mut SharedPool) {}
}

impl<T: SharedTexts> SharedTexts for Option<T> {
    fn share_texts(&mut self, pool: &mut SharedPool) {
        self.iter_mut().for_each(|item| item.share_texts(pool));
    }
}

impl<T: SharedTexts> SharedTexts for Vec<T> {
    fn share_texts(&mut self, pool: &mut SharedPool) {
        self.iter_mut().for_each(|item| item.share_texts(pool));
    }
}

impl SharedTexts for Shared {
    fn share_texts(&mut self, pool: &mut SharedPool) {
        pool.share(self);
    }
}

impl From<&str> for Shared {
    fn from(text: &str) -> Self {
        match text {
            "" => Self::default(),
            text => Self(text.into()),
        }
    }
}

impl From<String> for Shared {
    fn from(text: String) -> Self {
        Self::from(text.as_str())
    }
}

impl Default for Shared {
    fn default() -> Self {
        Self(ArcStr::new())
    }
}

impl Deref for Shared {
    type Target = str;
    fn deref(&self) -> &str {
        &self.0
    }
}

impl AsRef<str> for Shared {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

impl Borrow<str> for Shared {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl PartialEq<str> for Shared {
    fn eq(&self, other: &str) -> bool {
        self.as_str() == other
    }
}

impl PartialEq<&str> for Shared {
    fn eq(&self, other: &&str) -> bool {
        self.as_str() == *other
    }
}

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

impl fmt::Display for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

impl Serialize for Shared {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for Shared {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        super::lenient::text(from)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_texts_of_a_pool_share_their_memory() {
        let shared = |pool: &mut SharedPool, text: &str| {
            let mut text = Shared::from(text);
            pool.share(&mut text);
            text
        };
        let mut pool = SharedPool::default();
        let (a, b) = (shared(&mut pool, "TLS 1.0"), shared(&mut pool, "TLS 1.0"));
        assert!(a.same(&b) && !a.same(&"TLS 1.0".into()));
        let mut evidence: [Arc<str>; 2] = ["GET /".into(), "GET /".into()];
        evidence.iter_mut().for_each(|text| pool.share_wide(text));
        assert!(Arc::ptr_eq(&evidence[0], &evidence[1]));
    }

    #[test]
    fn brief_pool_keeps_short_texts_only() {
        let mut pool = SharedPool::brief();
        for (length, is_shared) in [(BRIEF, true), (BRIEF + 1, false)] {
            let mut texts = vec![Shared::from("x".repeat(length)); 1];
            texts.push("x".repeat(length).into());
            texts.share_texts(&mut pool);
            assert_eq!(texts[0].same(&texts[1]), is_shared, "{length}");
        }
        let mut evidence: [Arc<str>; 2] = ["GET /".into(), "GET /".into()];
        evidence.iter_mut().for_each(|text| pool.share_wide(text));
        assert!(!Arc::ptr_eq(&evidence[0], &evidence[1]));
    }
}
