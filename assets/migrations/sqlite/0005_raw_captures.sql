-- A captured request as it arrived, if its parts do not give it exactly, and what is wrong with it (a JSON array).
ALTER TABLE captures ADD COLUMN raw BLOB;
ALTER TABLE captures ADD COLUMN problems TEXT NOT NULL DEFAULT '[]';

-- Targets change the case of a URL.
CREATE INDEX loggers_by_token ON loggers (token COLLATE NOCASE);

PRAGMA user_version = 5;
