-- Result files of other scanners. A scan of an import that has not ended has the status `importing`, and nobody sees it.
CREATE TABLE imports (
    id           INTEGER PRIMARY KEY AUTOINCREMENT,
    workspace_id INTEGER NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
    -- `receiving` until the whole file is stored, then a state of the API
    state        TEXT NOT NULL,
    file_name    TEXT NOT NULL,
    -- SHA-256 of the file, in hexadecimal digits
    digest       TEXT NOT NULL,
    -- replaces the targets of the file unless it is empty
    target_name  TEXT NOT NULL,
    -- empty if the format is recognised by the content
    format       TEXT NOT NULL,
    is_complete  INTEGER NOT NULL,
    imported_by  TEXT NOT NULL,
    created_at   INTEGER NOT NULL,
    ended_at     INTEGER,
    message      TEXT NOT NULL DEFAULT '',
    -- the import that stored the same file before
    same_as      INTEGER,
    -- the contents of the file and its scans, as JSON
    files        TEXT NOT NULL DEFAULT '[]',
    owner        TEXT REFERENCES nodes (id) ON DELETE SET NULL,
    attempt      INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX imports_by_workspace ON imports (workspace_id);
CREATE INDEX imports_by_digest ON imports (digest);

-- The file, compressed by gzip. It is deleted with the last scan of its import.
CREATE TABLE import_parts (
    import_id INTEGER NOT NULL,
    position  INTEGER NOT NULL,
    bytes     BLOB NOT NULL,
    PRIMARY KEY (import_id, position)
);

ALTER TABLE scans ADD COLUMN import_id INTEGER REFERENCES imports (id) ON DELETE SET NULL;
CREATE INDEX scans_by_import ON scans (import_id) WHERE import_id IS NOT NULL;
CREATE INDEX scans_importing ON scans (id) WHERE status = 'importing';

-- The end of an import shows its scans with their findings.
CREATE TRIGGER scans_imported AFTER UPDATE OF status ON scans WHEN OLD.status = 'importing'
BEGIN
    INSERT INTO versions (workspace_id, list, version) VALUES
        (NEW.workspace_id, 'findings', random() >> 20),
        (NEW.workspace_id, 'workspaces', random() >> 20)
    ON CONFLICT (workspace_id, list) DO UPDATE SET version = excluded.version;
END;

PRAGMA user_version = 18;
