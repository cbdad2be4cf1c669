-- The greatest version of a payload that a workspace ever had. It remains after a purge: members send their payloads again.
ALTER TABLE event_logs ADD COLUMN version INTEGER NOT NULL DEFAULT 0;
UPDATE event_logs SET version = (
    SELECT coalesce(max(version), 0) FROM shared_payloads WHERE shared_payloads.workspace_id = event_logs.workspace_id);

PRAGMA user_version = 16;
