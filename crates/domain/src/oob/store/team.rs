//! Payloads shared with a team: which versions a service has.

use std::collections::HashMap;

use super::payloads::PayloadRow;
use super::{CHUNK, Store, StoreError};
use crate::oob::payload::canonical;
use crate::oob::{Payload, Token};
use scandeck_wire::sqlite::{RefusedRows, UnsentRow};

/// A payload of the service.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArrivedPayload {
    pub position: i64,
    token: Token,
    version: i64,
    /// As it arrived.
    json: String,
}

impl ArrivedPayload {
    /// Reads a payload; only a newer program may be able to read more than token and version. None
    /// if it has no token.
    pub fn parse(position: i64, json: &str) -> Option<Self> {
        #[derive(serde::Deserialize)]
        struct NamedPayload {
            token: Token,
            #[serde(default)]
            version: i64,
        }
        let named: NamedPayload = serde_json::from_str(json).ok()?;
        Some(Self {
            position,
            token: named.token,
            version: named.version,
            json: json.to_owned(),
        })
    }

    pub fn token(&self) -> Token {
        self.token
    }

    /// The payload, as far as this program can read it.
    pub fn payload(&self) -> Option<Payload> {
        serde_json::from_str(&self.json).ok()
    }
}

impl Store {
    /// Stores payloads of the service under a workspace, and returns how many are new or changed. A
    /// greater version here remains, and is sent.
    ///
    /// # Errors
    /// If the file cannot be written; then nothing is stored.
    pub async fn take_payloads(
        &mut self,
        workspace: &str,
        payloads: &[ArrivedPayload],
    ) -> Result<usize, StoreError> {
        let row = |payload: &ArrivedPayload| PayloadRow {
            token: payload.token.to_string(),
            workspace: workspace.to_owned(),
            version: payload.version,
            json: payload.json.clone(),
            position: Some(payload.position),
        };
        self.put_payloads(payloads.iter().map(row).collect()).await
    }

    /// The first payloads of a workspace whose version the service does not have.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub async fn unsent_payloads(&mut self, workspace: &str) -> Result<Vec<UnsentRow>, StoreError> {
        let failed = self.file.failed();
        let connection = &mut self.file.connection;
        let read = UnsentRow::read("payloads", "token", workspace, CHUNK, connection);
        let mut unsent = read.await.map_err(failed)?;
        // The service compares the bytes of two versions with the same number.
        for one in &mut unsent {
            one.json = canonical(&one.json);
        }
        Ok(unsent)
    }

    /// How many payloads of a workspace have a version that the service does not have, without
    /// refused ones.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub async fn count_unsent(&mut self, workspace: &str) -> Result<usize, StoreError> {
        let failed = self.file.failed();
        UnsentRow::count("payloads", workspace, &mut self.file.connection)
            .await
            .map_err(failed)
    }

    /// The payloads of a workspace that the service refused, by reason.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub async fn refused_payloads(
        &mut self,
        workspace: &str,
    ) -> Result<Vec<RefusedRows>, StoreError> {
        let failed = self.file.failed();
        RefusedRows::read("payloads", Some(workspace), &mut self.file.connection)
            .await
            .map_err(failed)
    }

    /// The refused payloads of a workspace are to be sent again.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub async fn retry_payloads(&mut self, workspace: &str) -> Result<(), StoreError> {
        let failed = self.file.failed();
        RefusedRows::retry("payloads", workspace, &mut self.file.connection)
            .await
            .map_err(failed)
    }

    /// Notes the answer of the service to these rows: sent, or refused with a reason by token.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub async fn mark_payloads(
        &mut self,
        sent: &[UnsentRow],
        refused: &HashMap<&str, &str>,
    ) -> Result<(), StoreError> {
        let failed = self.file.failed();
        let change = self.file.begin().await?;
        UnsentRow::mark("payloads", sent, refused, change)
            .await
            .map_err(failed)
    }

    /// Forgets which payloads of a workspace a service has, and which it refused.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub async fn forget_positions(&mut self, workspace: &str) -> Result<(), StoreError> {
        let failed = self.file.failed();
        UnsentRow::forget_positions("payloads", workspace, &mut self.file.connection)
            .await
            .map_err(failed)
    }

    /// Stores the payloads of a workspace under its new name. They keep the name that they were
    /// written with.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub async fn rename_workspace(&mut self, from: &str, to: &str) -> Result<(), StoreError> {
        let failed = self.file.failed();
        let query = sqlx::query("UPDATE payloads SET workspace = ? WHERE workspace = ?")
            .bind(to.to_owned())
            .bind(from.to_owned());
        query
            .execute(&mut self.file.connection)
            .await
            .map(drop)
            .map_err(failed)
    }
}
