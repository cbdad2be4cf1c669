-- What all nodes share: the key that signs callbacks (see 0022_callback_keys.sql of SQLite), the scope, which a service
-- with a database file has in its data directory, the rates of hosts, and the limits of keys.
ALTER TABLE nodes ADD COLUMN callback_key TEXT NOT NULL DEFAULT '';

-- One row. Its version grows with each change; at 0, a node has not stored its scope file yet.
CREATE TABLE scope (
    version BIGINT NOT NULL,
    entries TEXT NOT NULL
);
INSERT INTO scope (version, entries) VALUES (0, '');

-- The nodes that scan a host now.
CREATE TABLE lanes (
    host TEXT NOT NULL,
    node TEXT NOT NULL REFERENCES nodes (id) ON DELETE CASCADE,
    PRIMARY KEY (host, node)
);
CREATE INDEX lanes_node ON lanes (node);

-- What a key has used of its limits at a node.
CREATE TABLE key_windows (
    node     TEXT NOT NULL,
    key_name TEXT NOT NULL,
    kind     TEXT NOT NULL,
    ends     BIGINT NOT NULL,
    used     BIGINT NOT NULL,
    PRIMARY KEY (node, key_name, kind)
);
