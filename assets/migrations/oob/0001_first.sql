-- The captures of loggers as they arrived, the payload book, and the hits of payloads, of one service.

CREATE TABLE captures (
    -- Grows with every commit: a reader asks for the rows after the last one that it knows.
    row INTEGER PRIMARY KEY AUTOINCREMENT,
    workspace TEXT NOT NULL,
    logger INTEGER NOT NULL,
    label TEXT NOT NULL,
    handler_url TEXT NOT NULL,
    id INTEGER NOT NULL,
    -- Microseconds since 1970: arrival by the service's clock, or when it was first seen if the service reports no time.
    at INTEGER NOT NULL,
    seen_at INTEGER NOT NULL,
    -- Of its date and content, because a service may reuse an id.
    digest INTEGER NOT NULL,
    json TEXT NOT NULL
);
CREATE UNIQUE INDEX captures_once ON captures (logger, id, digest);
-- For the newest captures of a workspace, and the last archived one of a logger.
CREATE INDEX captures_by_time ON captures (workspace, at);
CREATE INDEX captures_by_logger ON captures (logger);

-- A later version of a payload replaces the earlier one, under a new number.
CREATE TABLE payloads (
    row INTEGER PRIMARY KEY AUTOINCREMENT,
    token TEXT NOT NULL UNIQUE,
    workspace TEXT NOT NULL,
    version INTEGER NOT NULL,
    json TEXT NOT NULL
);
CREATE INDEX payloads_of ON payloads (workspace);

-- A capture with the token of a payload, under the key of the capture. Hits are kept longer than captures.
CREATE TABLE hits (
    token TEXT NOT NULL,
    logger INTEGER NOT NULL,
    id INTEGER NOT NULL,
    digest INTEGER NOT NULL,
    workspace TEXT NOT NULL,
    -- Microseconds since 1970, by the service's clock; null if the service reports no time.
    at INTEGER,
    PRIMARY KEY (token, logger, id, digest)
) WITHOUT ROWID;

-- The hits of a payload: how many, the first and the last. A changed row gets a new number.
CREATE TABLE counts (
    row INTEGER PRIMARY KEY AUTOINCREMENT,
    workspace TEXT NOT NULL,
    token TEXT NOT NULL,
    count INTEGER NOT NULL,
    first INTEGER,
    last INTEGER,
    UNIQUE (workspace, token)
);
CREATE TRIGGER hits_counted AFTER INSERT ON hits BEGIN
    INSERT INTO counts (workspace, token, count, first, last) VALUES (NEW.workspace, NEW.token, 1, NEW.at, NEW.at)
    ON CONFLICT (workspace, token) DO UPDATE SET
        row = (SELECT max(row) FROM counts) + 1,
        count = count + 1,
        first = coalesce(min(first, NEW.at), first, NEW.at),
        last = coalesce(max(last, NEW.at), last, NEW.at);
END;

-- The captures up to this row were searched for tokens.
CREATE TABLE looked (row INTEGER NOT NULL);
INSERT INTO looked VALUES (0);

PRAGMA user_version = 1;
