-- What a team shares through a service.

-- The place of an event in the log of its workspace at the service. Null: the service does not have it, so it is still to
-- be sent. 0: sent, and not read back yet.
ALTER TABLE events ADD COLUMN position INTEGER;
-- Why the service did not accept it. It is not sent again.
ALTER TABLE events ADD COLUMN refused TEXT;
CREATE INDEX events_of ON events (workspace, position);

-- How far the log of a workspace at a service was read. A service is named by a number that it drew when its database was
-- made, a workspace by its id, because its name can change.
CREATE TABLE sync (
    service TEXT NOT NULL,
    id INTEGER NOT NULL,
    workspace TEXT NOT NULL,
    epoch INTEGER NOT NULL,
    last INTEGER NOT NULL,
    last_payload INTEGER NOT NULL,
    -- 0: the decisions of the workspace stay on this machine.
    is_shared INTEGER NOT NULL,
    PRIMARY KEY (service, id)
) WITHOUT ROWID;

PRAGMA user_version = 2;
