//! The decisions kept beside the service: read for every list of findings, written by `findings decide`.

use crate::cli::advised::Advised;
use crate::contract::{Shared, Stamp};
use crate::dashboard::runtime::Memory;
use crate::text;
use crate::triage::{Change, EventWriter, OpenedDecisions, Store, StoreError, StoredSettings, Subject, TriageState};

/// What was decided, and the settings. Where nothing was ever kept nothing is made.
///
/// # Errors
/// When the file cannot be read: a list that shows everything as open would be wrong.
pub async fn read(memory: &Memory) -> anyhow::Result<(TriageState, StoredSettings)> {
    if !memory.directory.join("decisions.db").exists() {
        return Ok(Default::default());
    }
    let (mut store, state) = open(memory).await?;
    let settings = store.settings().await.map_err(advised)?;
    store.close().await;
    Ok((state, settings))
}

/// Opens the store, which is made where there is none, and says what a person should know about it.
///
/// # Errors
/// When it cannot be opened or made.
pub async fn open(memory: &Memory) -> anyhow::Result<(Store, TriageState)> {
    let OpenedDecisions { store, events, notes } = Store::open(&memory.directory).await.map_err(advised)?;
    for note in notes {
        eprintln!("scandeck: {}", text::clean(&note));
    }
    let state = tokio::task::spawn_blocking(move || TriageState::from_events(events)).await?;
    Ok((store, state))
}

/// Writes these changes as one batch of one person; returns how many there are. They replace what was known when they
/// were made.
///
/// # Errors
/// When the file cannot be written; nothing of the batch is kept then.
pub async fn write(
    memory: &Memory,
    known: &TriageState,
    changes: Vec<(Shared, Subject, Change)>,
) -> anyhow::Result<usize> {
    let (mut store, state) = writable(memory).await?;
    let mut writer =
        EventWriter { who: memory.who.as_str().into(), instance: rand::random(), ..EventWriter::default() };
    let events = writer.write_batch((Stamp(jiff::Timestamp::now()), state.clock() + 1), known, changes);
    store.record(&events).await.map_err(advised)?;
    store.close().await;
    Ok(events.len())
}

/// Opens the store to write into it.
///
/// # Errors
/// When it cannot be written.
pub async fn writable(memory: &Memory) -> anyhow::Result<(Store, TriageState)> {
    let (store, state) = open(memory).await?;
    if !store.is_writable() {
        return Err(Advised::new(
            format!("decisions cannot be kept: {} is read-only", store.file().display()),
            "make it writable, or set XDG_STATE_HOME",
        )
        .into());
    }
    Ok((store, state))
}

/// Opens the archive of captures and payloads, which is made where there is none, and says what a person should know
/// about it.
///
/// # Errors
/// When it cannot be opened or made.
pub async fn archive(memory: &Memory) -> anyhow::Result<crate::oob::Store> {
    let opened = crate::oob::Store::open(&memory.directory).await.map_err(advised)?;
    for note in opened.notes {
        eprintln!("scandeck: {}", text::clean(&note));
    }
    Ok(opened.store)
}

/// With what to do about it.
pub fn advised(error: StoreError) -> Advised {
    Advised::new(&error, error.hint())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::triage::testing::finding;
    use crate::triage::{Decision, FindingKey, Verdict};

    #[tokio::test]
    async fn what_somebody_else_said_meanwhile_is_a_conflict_and_not_replaced_unseen() {
        let temp = tempfile::tempdir().unwrap();
        let memory =
            |who: &str| Memory { directory: temp.path().to_owned(), cache: None, who: who.to_owned(), keep_days: None };
        let says = async |who: &str, known: &TriageState, verdict: Verdict| {
            let change = Change::Decide(Decision { verdict, ..Decision::default() });
            write(&memory(who), known, vec![("acme".into(), finding(1), change)]).await.unwrap();
            read(&memory(who)).await.unwrap().0
        };
        let nothing = TriageState::default();
        says("bo", &nothing, Verdict::Confirmed).await;
        let both = says("ann", &nothing, Verdict::FalsePositive).await;
        assert_eq!(both.heads(FindingKey(1)).len(), 2);
        let settled = says("ann", &both, Verdict::Confirmed).await;
        assert_eq!(settled.heads(FindingKey(1)).len(), 1);
    }
}
