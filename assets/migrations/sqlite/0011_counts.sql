-- The number of all targets, so that a new one is added without counting them.
CREATE TABLE counts (
    noun   TEXT PRIMARY KEY,
    number INTEGER NOT NULL
) WITHOUT ROWID;
INSERT INTO counts (noun, number) SELECT 'targets', count(*) FROM targets;

CREATE TRIGGER targets_counted AFTER INSERT ON targets BEGIN
    UPDATE counts SET number = number + 1 WHERE noun = 'targets';
END;
CREATE TRIGGER targets_uncounted AFTER DELETE ON targets BEGIN
    UPDATE counts SET number = number - 1 WHERE noun = 'targets';
END;

-- The lists of a workspace in the order of their ids: each entry of an index ends with the id of its row.
CREATE INDEX targets_by_workspace ON targets (workspace_id);
CREATE INDEX loggers_by_workspace ON loggers (workspace_id);

PRAGMA user_version = 11;
