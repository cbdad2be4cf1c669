-- The owner of the key at a service, as the service reported it last: the author of decisions while the service does not
-- respond. One profile can name another service later, so the base URL identifies it. The key itself is never stored.
CREATE TABLE members (
    base_url TEXT PRIMARY KEY,
    service TEXT NOT NULL,
    name TEXT NOT NULL,
    role TEXT NOT NULL
) WITHOUT ROWID;

PRAGMA user_version = 3;
