//! The words of a wordlist, which a scan carries: a later change of the list does not change it.

use crate::store::scans::ScanToAdd;
use crate::store::{Store, StoreResult};
use scandeck_wire::contract::WordlistId;

/// Adds the words of `wordlist_id`: a scan uses the words that the list has now. Clients see the id
/// only. The inner error is the reason of a refusal.
pub async fn add_words(store: &Store, scan: &mut ScanToAdd) -> StoreResult<Result<(), String>> {
    let Some(id) = scan.shown_params["wordlist_id"].as_i64() else {
        return Ok(Ok(()));
    };
    let refusal = |why: &str| Ok(Err(format!("tool_params.wordlist_id: wordlist {id} {why}")));
    let Some(words) = store.words(WordlistId(id)).await? else {
        return refusal("does not exist");
    };
    let words: Vec<&str> = words
        .lines()
        .map(str::trim)
        .filter(|word| !word.is_empty())
        .collect();
    if words.is_empty() {
        return refusal("has no words");
    }
    scan.params["words"] = words.into();
    Ok(Ok(()))
}
