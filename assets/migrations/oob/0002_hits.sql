-- What each payload brought in, kept longer than the captures that brought it.

-- That a capture carried the token of a payload. Captures are told apart as in their own table.
CREATE TABLE hits (
    token TEXT NOT NULL,
    logger INTEGER NOT NULL,
    id INTEGER NOT NULL,
    digest INTEGER NOT NULL,
    workspace TEXT NOT NULL,
    -- Microseconds since 1970, by the service's clock; nothing where it does not tell.
    at INTEGER,
    PRIMARY KEY (token, logger, id, digest)
) WITHOUT ROWID;

-- How many of them a payload has, and when the first and the last came. What has changed stands under a new number.
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

-- The captures up to this row were looked through for tokens.
CREATE TABLE looked (row INTEGER NOT NULL);
INSERT INTO looked VALUES (0);

PRAGMA user_version = 2;
