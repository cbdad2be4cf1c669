//! Payloads by token.

use std::sync::Arc;

use super::{Payload, Token};

/// Payloads by token. A clone is cheap: recognition works on a clone outside the UI thread.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PayloadBook(imbl::OrdMap<Token, Arc<Payload>>);

impl PayloadBook {
    /// Adds payloads; of two versions of a payload, the later one remains,
    /// see [`Payload::replaces`].
    pub fn take(&mut self, payloads: impl IntoIterator<Item = Arc<Payload>>) {
        for payload in payloads {
            if self
                .get(payload.token)
                .is_none_or(|known| payload.replaces(known))
            {
                self.0.insert(payload.token, payload);
            }
        }
    }

    /// The payload of a token.
    pub fn get(&self, token: Token) -> Option<&Arc<Payload>> {
        self.0.get(&token)
    }

    /// All of them, by token.
    pub fn payloads(&self) -> impl Iterator<Item = &Arc<Payload>> {
        self.0.values()
    }

    /// How many.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// True while no payload has been created.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn payload_versions_in_any_order_keep_latest() {
        let version = |version, note: &str| {
            Arc::new(Payload {
                token: Token::of(1),
                version,
                note: note.into(),
                ..Payload::default()
            })
        };
        for order in [
            [version(1, "a"), version(2, "b")],
            [version(2, "b"), version(1, "a")],
        ] {
            let mut book = PayloadBook::default();
            book.take(order);
            assert_eq!(
                (book.len(), book.get(Token::of(1)).unwrap().note.as_str()),
                (1, "b")
            );
        }
    }
}
