-- What all nodes share: the key that signs callbacks (see 0022_callback_keys.sql of SQLite), and the scope, which a service
-- with a database file has in its data directory.
ALTER TABLE nodes ADD COLUMN callback_key TEXT NOT NULL DEFAULT '';

-- One row. Its version grows with each change; at 0, a node has not stored its scope file yet.
CREATE TABLE scope (
    version BIGINT NOT NULL,
    entries TEXT NOT NULL
);
INSERT INTO scope (version, entries) VALUES (0, '');
