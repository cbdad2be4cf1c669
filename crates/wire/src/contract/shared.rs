//! An interned string.
//!
//! 100,000 findings contain a few hundred different texts. Inside [`interned`], equal strings share
//! one allocation; outside it a `Shared` is a plain reference-counted string.

use std::borrow::Borrow;
use std::cell::RefCell;
use std::collections::HashSet;
use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use arcstr::ArcStr;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

thread_local! {
    static POOL: RefCell<Option<Pool>> = const { RefCell::new(None) };
}

#[derive(Default)]
struct Pool {
    /// Longer texts are not looked up.
    longest: Option<usize>,
    texts: HashSet<Shared>,
    wide: HashSet<Arc<str>>,
}

/// An immutable string, cheap to clone, and one word wide because a finding has twenty of them.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Shared(ArcStr);

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

/// Texts that [`interned_briefly`] looks up have at most so many bytes, and are so many at most.
const BRIEF: usize = 128;
const MOST: usize = 1 << 16;

/// Runs `decode` with a pool in which equal strings share an allocation. Nested calls use the outer
/// pool.
pub fn interned<T>(decode: impl FnOnce() -> T) -> T {
    with_pool(None, decode)
}

/// The same for short strings only, so that the pool keeps none of the long ones that are moved
/// elsewhere.
pub fn interned_briefly<T>(decode: impl FnOnce() -> T) -> T {
    with_pool(Some(BRIEF), decode)
}

fn with_pool<T>(longest: Option<usize>, decode: impl FnOnce() -> T) -> T {
    struct Emptied(bool);
    impl Drop for Emptied {
        fn drop(&mut self) {
            if self.0 {
                POOL.with_borrow_mut(|pool| *pool = None);
            }
        }
    }
    let outermost = POOL.with_borrow_mut(|pool| match pool {
        Some(_) => false,
        None => {
            *pool = Some(Pool {
                longest,
                ..Pool::default()
            });
            true
        }
    });
    let _emptied = Emptied(outermost);
    decode()
}

/// A string that is mostly unique: two words wide, but one allocation less than a [`Shared`].
pub fn wide(text: &str) -> Arc<str> {
    POOL.with_borrow_mut(|pool| match pool {
        None => text.into(),
        Some(pool) if pool.longest.is_some() => text.into(),
        Some(pool) => match pool.wide.get(text) {
            Some(known) => Arc::clone(known),
            None => {
                let fresh: Arc<str> = text.into();
                pool.wide.insert(Arc::clone(&fresh));
                fresh
            }
        },
    })
}

impl From<&str> for Shared {
    fn from(text: &str) -> Self {
        POOL.with_borrow_mut(|pool| match pool {
            _ if text.is_empty() => Self(ArcStr::new()),
            None => Self(text.into()),
            Some(pool) if pool.longest.is_some_and(|longest| text.len() > longest) => {
                Self(text.into())
            }
            Some(pool) => match pool.texts.get(text) {
                Some(known) => known.clone(),
                None => {
                    let fresh = Self(text.into());
                    if pool.longest.is_some() && pool.texts.len() >= MOST {
                        pool.texts.clear();
                    }
                    pool.texts.insert(fresh.clone());
                    fresh
                }
            },
        })
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
    fn interned_shares_equal_strings() {
        let (a, b) = interned(|| (Shared::from("TLS 1.0"), Shared::from("TLS 1.0")));
        assert!(a.same(&b));
        assert!(!Shared::from("TLS 1.0").same(&"TLS 1.0".into()));
        let (a, b) = interned(|| (wide("GET /"), wide("GET /")));
        assert!(Arc::ptr_eq(&a, &b) && !Arc::ptr_eq(&a, &wide("GET /")));
    }
}
