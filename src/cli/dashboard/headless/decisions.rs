//! The decisions about a service on this machine.

use std::sync::Arc;

use anyhow::Context;

use crate::cli::error::CliError;
use scandeck_dashboard::runtime::Memory;
use scandeck_domain::triage::{
    Change, Event, EventWriter, OpenedDecisions, Store, StoredSettings, Subject, TriageState,
};
use scandeck_wire::contract::{Shared, Stamp};
use scandeck_wire::sqlite::is_present;
use scandeck_wire::text;

/// Reads decisions and settings. Does not create a missing store.
///
/// # Errors
/// When the store is unreadable: a list that shows every finding as open would be wrong.
pub async fn read(memory: &Memory) -> anyhow::Result<(TriageState, StoredSettings)> {
    if !exists(memory)? {
        return Ok(Default::default());
    }
    let (mut store, state) = open_for_reading(memory).await?;
    let settings = store.settings().await?;
    store.close().await;
    Ok((state, settings))
}

/// The events of a workspace, and every undo and redo of them. Events of a team keep the name that
/// the workspace had when they were written.
///
/// # Errors
/// When the store is unreadable.
pub async fn of_workspace(memory: &Memory, workspace: &str) -> anyhow::Result<Vec<Arc<Event>>> {
    if !exists(memory)? {
        return Ok(Vec::new());
    }
    let (mut store, state) = open_for_reading(memory).await?;
    let mut events = store.events_in(workspace).await?;
    store.close().await;
    events.extend(state.events_of(workspace));
    Ok(events)
}

/// Whether there is a store of decisions.
///
/// # Errors
/// When its directory cannot be read.
pub fn exists(memory: &Memory) -> anyhow::Result<bool> {
    let file = memory.directory.join("decisions.db");
    is_present(&file).with_context(|| format!("decisions cannot be read: {}", file.display()))
}

/// Opens or creates the store, and prints its notes.
///
/// # Errors
/// When the store cannot be opened or created.
pub async fn open(memory: &Memory) -> anyhow::Result<(Store, TriageState)> {
    fold(Store::open(&memory.directory).await?).await
}

async fn open_for_reading(memory: &Memory) -> anyhow::Result<(Store, TriageState)> {
    fold(Store::open_for_reading(&memory.directory).await?).await
}

async fn fold(opened: OpenedDecisions) -> anyhow::Result<(Store, TriageState)> {
    let OpenedDecisions {
        store,
        events,
        notes,
    } = opened;
    print_notes(&notes);
    let state = tokio::task::spawn_blocking(move || TriageState::from_events(events)).await?;
    Ok((store, state))
}

/// Writes changes as one batch of a person. They replace the decisions in `base`.
///
/// # Errors
/// When the store cannot be written; then none of the changes is stored.
pub async fn write(
    memory: &Memory,
    who: Shared,
    base: &TriageState,
    changes: Vec<(Shared, Subject, Change)>,
) -> anyhow::Result<()> {
    let (mut store, state) = open_writable(memory).await?;
    let mut writer = EventWriter {
        who,
        instance: rand::random(),
        ..EventWriter::default()
    };
    let events = writer.write_batch(
        (Stamp(jiff::Timestamp::now()), state.clock() + 1),
        base,
        changes,
    );
    store.record(&events).await?;
    store.close().await;
    Ok(())
}

/// Opens the store for writing.
///
/// # Errors
/// When the store is read-only.
pub async fn open_writable(memory: &Memory) -> anyhow::Result<(Store, TriageState)> {
    let (store, state) = open(memory).await?;
    if !store.is_writable() {
        let message = format!(
            "decisions not saved: {} is read-only",
            store.file().display()
        );
        return Err(CliError::new(message, "make it writable, or set XDG_STATE_HOME").into());
    }
    Ok((store, state))
}

/// Opens or creates the archive of captures and payloads, and prints its notes.
///
/// # Errors
/// When the archive cannot be opened or created.
pub async fn open_archive(memory: &Memory) -> anyhow::Result<scandeck_domain::oob::Store> {
    let opened = scandeck_domain::oob::Store::open(&memory.directory).await?;
    print_notes(&opened.notes);
    Ok(opened.store)
}

/// Prints the notes of a store that was opened.
pub fn print_notes(notes: &[String]) {
    for note in notes {
        note!("scandeck: {}", text::clean(note));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use scandeck_domain::triage::testing::finding;
    use scandeck_domain::triage::{Decision, FindingKey, Verdict};

    #[tokio::test]
    async fn concurrent_decisions_are_a_conflict_until_one_replaces_both() {
        let temp = tempfile::tempdir().unwrap();
        let memory = |who: &str| Memory {
            directory: temp.path().to_owned(),
            cache: None,
            who: who.to_owned(),
            keep_days: None,
        };
        let decide = async |who: &str, base: &TriageState, verdict: Verdict| {
            let change = Change::Decide(Decision {
                verdict,
                ..Decision::default()
            });
            write(
                &memory(who),
                who.into(),
                base,
                vec![("acme".into(), finding(1), change)],
            )
            .await
            .unwrap();
            read(&memory(who)).await.unwrap().0
        };
        let empty = TriageState::default();
        decide("bo", &empty, Verdict::Confirmed).await;
        let both = decide("ann", &empty, Verdict::FalsePositive).await;
        assert_eq!(both.heads(FindingKey(1)).len(), 2);
        let settled = decide("ann", &both, Verdict::Confirmed).await;
        assert_eq!(settled.heads(FindingKey(1)).len(), 1);
    }
}
