-- Everything the API answers. Times are milliseconds since 1970; ids are never given twice (AUTOINCREMENT).

CREATE TABLE settings (
    name  TEXT PRIMARY KEY,
    value TEXT NOT NULL
);

CREATE TABLE workspaces (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    name        TEXT NOT NULL,
    -- trimmed and lower case: what names are compared by
    name_key    TEXT NOT NULL UNIQUE,
    description TEXT NOT NULL DEFAULT ''
);
INSERT INTO workspaces (id, name, name_key) VALUES (1, 'Default', 'default');
INSERT INTO settings (name, value) VALUES ('current_workspace', '1');

CREATE TABLE targets (
    id           INTEGER PRIMARY KEY AUTOINCREMENT,
    workspace_id INTEGER NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
    -- canonical form
    name         TEXT NOT NULL,
    type         TEXT NOT NULL,
    description  TEXT NOT NULL DEFAULT '',
    UNIQUE (workspace_id, name)
);

CREATE TABLE scans (
    id                INTEGER PRIMARY KEY AUTOINCREMENT,
    workspace_id      INTEGER NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
    target_id         INTEGER NOT NULL REFERENCES targets (id) ON DELETE CASCADE,
    tool_id           INTEGER NOT NULL,
    status            TEXT NOT NULL,
    message           TEXT NOT NULL DEFAULT '',
    planned           INTEGER NOT NULL DEFAULT 0,
    finished          INTEGER NOT NULL DEFAULT 0,
    -- findings by risk, info to critical
    risk0             INTEGER NOT NULL DEFAULT 0,
    risk1             INTEGER NOT NULL DEFAULT 0,
    risk2             INTEGER NOT NULL DEFAULT 0,
    risk3             INTEGER NOT NULL DEFAULT 0,
    risk4             INTEGER NOT NULL DEFAULT 0,
    created_at        INTEGER NOT NULL,
    started_at        INTEGER,
    ended_at          INTEGER,
    info              TEXT NOT NULL DEFAULT '[]',
    -- with their defaults, secrets replaced
    params            TEXT NOT NULL,
    redirect_level    TEXT NOT NULL,
    scan_original_url INTEGER NOT NULL,
    vpn_scan          INTEGER NOT NULL,
    max_minutes       INTEGER NOT NULL,
    callback          TEXT,
    output_type       TEXT NOT NULL DEFAULT '',
    output_data       TEXT NOT NULL DEFAULT '{}'
);
CREATE INDEX scans_by_target ON scans (target_id);
CREATE INDEX scans_by_workspace ON scans (workspace_id);

-- A row a scan that has not ended. Every write of a worker names its attempt, and does nothing once another one runs.
CREATE TABLE jobs (
    scan_id        INTEGER PRIMARY KEY REFERENCES scans (id) ON DELETE CASCADE,
    attempt        INTEGER NOT NULL DEFAULT 0,
    owner          TEXT,
    lease_until    INTEGER NOT NULL DEFAULT 0,
    stop_requested INTEGER NOT NULL DEFAULT 0,
    -- how often the service ended under a running attempt
    service_ends   INTEGER NOT NULL DEFAULT 0,
    -- parameters with their secrets, which go when the job goes
    params         TEXT NOT NULL
);

CREATE TABLE tests (
    id           INTEGER PRIMARY KEY AUTOINCREMENT,
    scan_id      INTEGER NOT NULL REFERENCES scans (id) ON DELETE CASCADE,
    finding_id   INTEGER,
    uid          TEXT NOT NULL,
    description  TEXT NOT NULL,
    metadata     TEXT NOT NULL,
    performed_at INTEGER NOT NULL
);
CREATE INDEX tests_by_scan ON tests (scan_id);
CREATE INDEX tests_by_finding ON tests (finding_id);

CREATE TABLE raw_lines (
    id      INTEGER PRIMARY KEY,
    scan_id INTEGER NOT NULL REFERENCES scans (id) ON DELETE CASCADE,
    line    TEXT NOT NULL
);
CREATE INDEX raw_lines_by_scan ON raw_lines (scan_id);

CREATE TABLE findings (
    id           INTEGER PRIMARY KEY AUTOINCREMENT,
    scan_id      INTEGER NOT NULL REFERENCES scans (id) ON DELETE CASCADE,
    target_id    INTEGER NOT NULL REFERENCES targets (id) ON DELETE CASCADE,
    workspace_id INTEGER NOT NULL,
    -- the group of duplicates: workspace, target and these four
    vuln_id      TEXT NOT NULL,
    protocol     TEXT NOT NULL,
    port         INTEGER NOT NULL,
    place        TEXT NOT NULL,
    risk         INTEGER NOT NULL,
    status       TEXT NOT NULL DEFAULT 'open',
    verified     INTEGER NOT NULL DEFAULT 0,
    -- every other field as a JSON object
    body         TEXT NOT NULL
);
-- one scan holds at most one finding a group
CREATE UNIQUE INDEX findings_by_scan ON findings (scan_id, vuln_id, protocol, port, place);
CREATE INDEX findings_by_group ON findings (target_id, vuln_id, protocol, port, place);
CREATE INDEX findings_by_workspace ON findings (workspace_id);

CREATE TABLE reports (
    id           INTEGER PRIMARY KEY AUTOINCREMENT,
    format       TEXT NOT NULL,
    status       TEXT NOT NULL,
    name         TEXT NOT NULL DEFAULT '',
    created_at   INTEGER NOT NULL,
    generated_at INTEGER,
    expires_at   INTEGER NOT NULL,
    -- its own copy of the data, which goes when the content is made
    data         TEXT,
    content      BLOB,
    webhook_url  TEXT
);

CREATE TABLE wordlists (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    name        TEXT NOT NULL UNIQUE,
    description TEXT NOT NULL,
    num_words   INTEGER NOT NULL,
    predefined  INTEGER NOT NULL,
    contents    TEXT NOT NULL
);

CREATE TABLE loggers (
    id           INTEGER PRIMARY KEY AUTOINCREMENT,
    workspace_id INTEGER NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
    label        TEXT NOT NULL UNIQUE,
    token        TEXT NOT NULL UNIQUE,
    created_at   INTEGER NOT NULL,
    num_requests INTEGER NOT NULL DEFAULT 0,
    body_bytes   INTEGER NOT NULL DEFAULT 0
);

CREATE TABLE captures (
    id           INTEGER PRIMARY KEY AUTOINCREMENT,
    logger_id    INTEGER NOT NULL REFERENCES loggers (id) ON DELETE CASCADE,
    received_at  INTEGER NOT NULL,
    ip_address   TEXT NOT NULL,
    remote_port  INTEGER NOT NULL,
    method       TEXT NOT NULL,
    path         TEXT NOT NULL,
    query        TEXT NOT NULL,
    http_version TEXT NOT NULL,
    headers      TEXT NOT NULL,
    body         BLOB NOT NULL
);
CREATE INDEX captures_by_logger ON captures (logger_id);

-- Callbacks that have still to be delivered.
CREATE TABLE deliveries (
    id           INTEGER PRIMARY KEY AUTOINCREMENT,
    url          TEXT NOT NULL,
    subject      TEXT NOT NULL,
    content_type TEXT NOT NULL,
    body         BLOB NOT NULL,
    tries        INTEGER NOT NULL DEFAULT 0,
    next_at      INTEGER NOT NULL
);

PRAGMA user_version = 1;
