-- The version of each list of a workspace, a random number that changes with every change of the list: ETags contain it.
-- Random and not counted, so that a restored backup repeats none (44 bits: a sum of many does not overflow). Workspace 0 has
-- what belongs to no workspace. Rows stay after their workspace, so that the ETag of its lists changes too. Triggers set the
-- versions, so that no write forgets one.
CREATE TABLE versions (
    workspace_id INTEGER NOT NULL,
    list         TEXT NOT NULL,
    version      INTEGER NOT NULL,
    PRIMARY KEY (workspace_id, list)
) WITHOUT ROWID;

INSERT INTO versions (workspace_id, list, version)
    SELECT workspaces.id, lists.value, random() >> 20
    FROM workspaces, json_each('["workspaces", "targets", "scans", "findings", "loggers", "reports"]') AS lists;
INSERT INTO versions (workspace_id, list, version) VALUES
    (0, 'reports', random() >> 20),
    (0, 'wordlists', random() >> 20),
    (0, 'current', random() >> 20);

CREATE TRIGGER workspaces_added AFTER INSERT ON workspaces BEGIN
    INSERT INTO versions (workspace_id, list, version) VALUES
        (NEW.id, 'workspaces', random() >> 20),
        (NEW.id, 'targets', random() >> 20),
        (NEW.id, 'scans', random() >> 20),
        (NEW.id, 'findings', random() >> 20),
        (NEW.id, 'loggers', random() >> 20),
        (NEW.id, 'reports', random() >> 20)
    ON CONFLICT (workspace_id, list) DO UPDATE SET version = excluded.version;
END;
CREATE TRIGGER workspaces_changed AFTER UPDATE ON workspaces BEGIN
    INSERT INTO versions (workspace_id, list, version) VALUES
        (NEW.id, 'workspaces', random() >> 20)
    ON CONFLICT (workspace_id, list) DO UPDATE SET version = excluded.version;
END;
CREATE TRIGGER workspaces_deleted AFTER DELETE ON workspaces BEGIN
    UPDATE versions SET version = random() >> 20 WHERE workspace_id = OLD.id;
END;

-- The workspaces count their targets and scans.
CREATE TRIGGER targets_added AFTER INSERT ON targets BEGIN
    INSERT INTO versions (workspace_id, list, version) VALUES
        (NEW.workspace_id, 'targets', random() >> 20),
        (NEW.workspace_id, 'workspaces', random() >> 20)
    ON CONFLICT (workspace_id, list) DO UPDATE SET version = excluded.version;
END;
CREATE TRIGGER targets_changed AFTER UPDATE ON targets BEGIN
    INSERT INTO versions (workspace_id, list, version) VALUES
        (NEW.workspace_id, 'targets', random() >> 20)
    ON CONFLICT (workspace_id, list) DO UPDATE SET version = excluded.version;
END;
CREATE TRIGGER targets_deleted AFTER DELETE ON targets BEGIN
    INSERT INTO versions (workspace_id, list, version) VALUES
        (OLD.workspace_id, 'targets', random() >> 20),
        (OLD.workspace_id, 'workspaces', random() >> 20)
    ON CONFLICT (workspace_id, list) DO UPDATE SET version = excluded.version;
END;
CREATE TRIGGER scans_added AFTER INSERT ON scans BEGIN
    INSERT INTO versions (workspace_id, list, version) VALUES
        (NEW.workspace_id, 'scans', random() >> 20),
        (NEW.workspace_id, 'workspaces', random() >> 20)
    ON CONFLICT (workspace_id, list) DO UPDATE SET version = excluded.version;
END;
CREATE TRIGGER scans_changed AFTER UPDATE ON scans BEGIN
    INSERT INTO versions (workspace_id, list, version) VALUES
        (NEW.workspace_id, 'scans', random() >> 20)
    ON CONFLICT (workspace_id, list) DO UPDATE SET version = excluded.version;
END;
CREATE TRIGGER scans_deleted AFTER DELETE ON scans BEGIN
    INSERT INTO versions (workspace_id, list, version) VALUES
        (OLD.workspace_id, 'scans', random() >> 20),
        (OLD.workspace_id, 'workspaces', random() >> 20)
    ON CONFLICT (workspace_id, list) DO UPDATE SET version = excluded.version;
END;

CREATE TRIGGER findings_added AFTER INSERT ON findings BEGIN
    INSERT INTO versions (workspace_id, list, version) VALUES
        (NEW.workspace_id, 'findings', random() >> 20)
    ON CONFLICT (workspace_id, list) DO UPDATE SET version = excluded.version;
END;
CREATE TRIGGER findings_changed AFTER UPDATE ON findings BEGIN
    INSERT INTO versions (workspace_id, list, version) VALUES
        (NEW.workspace_id, 'findings', random() >> 20)
    ON CONFLICT (workspace_id, list) DO UPDATE SET version = excluded.version;
END;
CREATE TRIGGER findings_deleted AFTER DELETE ON findings BEGIN
    INSERT INTO versions (workspace_id, list, version) VALUES
        (OLD.workspace_id, 'findings', random() >> 20)
    ON CONFLICT (workspace_id, list) DO UPDATE SET version = excluded.version;
END;
CREATE TRIGGER loggers_added AFTER INSERT ON loggers BEGIN
    INSERT INTO versions (workspace_id, list, version) VALUES
        (NEW.workspace_id, 'loggers', random() >> 20)
    ON CONFLICT (workspace_id, list) DO UPDATE SET version = excluded.version;
END;
CREATE TRIGGER loggers_changed AFTER UPDATE ON loggers BEGIN
    INSERT INTO versions (workspace_id, list, version) VALUES
        (NEW.workspace_id, 'loggers', random() >> 20)
    ON CONFLICT (workspace_id, list) DO UPDATE SET version = excluded.version;
END;
CREATE TRIGGER loggers_deleted AFTER DELETE ON loggers BEGIN
    INSERT INTO versions (workspace_id, list, version) VALUES
        (OLD.workspace_id, 'loggers', random() >> 20)
    ON CONFLICT (workspace_id, list) DO UPDATE SET version = excluded.version;
END;

-- New captures change the counters of their logger; deleted ones do so only at the end of a deletion.
CREATE TRIGGER captures_deleted AFTER DELETE ON captures BEGIN
    UPDATE versions SET version = random() >> 20 WHERE list = 'loggers'
        AND workspace_id = (SELECT workspace_id FROM loggers WHERE id = OLD.logger_id);
END;

CREATE TRIGGER reports_added AFTER INSERT ON reports BEGIN
    INSERT INTO versions (workspace_id, list, version) VALUES
        (coalesce(NEW.workspace_id, 0), 'reports', random() >> 20)
    ON CONFLICT (workspace_id, list) DO UPDATE SET version = excluded.version;
END;
CREATE TRIGGER reports_changed AFTER UPDATE ON reports BEGIN
    INSERT INTO versions (workspace_id, list, version) VALUES
        (coalesce(NEW.workspace_id, 0), 'reports', random() >> 20)
    ON CONFLICT (workspace_id, list) DO UPDATE SET version = excluded.version;
END;
CREATE TRIGGER reports_deleted AFTER DELETE ON reports BEGIN
    INSERT INTO versions (workspace_id, list, version) VALUES
        (coalesce(OLD.workspace_id, 0), 'reports', random() >> 20)
    ON CONFLICT (workspace_id, list) DO UPDATE SET version = excluded.version;
END;
CREATE TRIGGER wordlists_added AFTER INSERT ON wordlists BEGIN
    INSERT INTO versions (workspace_id, list, version) VALUES
        (0, 'wordlists', random() >> 20)
    ON CONFLICT (workspace_id, list) DO UPDATE SET version = excluded.version;
END;
CREATE TRIGGER wordlists_changed AFTER UPDATE ON wordlists BEGIN
    INSERT INTO versions (workspace_id, list, version) VALUES
        (0, 'wordlists', random() >> 20)
    ON CONFLICT (workspace_id, list) DO UPDATE SET version = excluded.version;
END;
CREATE TRIGGER wordlists_deleted AFTER DELETE ON wordlists BEGIN
    INSERT INTO versions (workspace_id, list, version) VALUES
        (0, 'wordlists', random() >> 20)
    ON CONFLICT (workspace_id, list) DO UPDATE SET version = excluded.version;
END;

-- The workspace of requests that name none.
CREATE TRIGGER current_workspace_added AFTER INSERT ON settings WHEN NEW.name = 'current_workspace' BEGIN
    INSERT INTO versions (workspace_id, list, version) VALUES
        (0, 'current', random() >> 20)
    ON CONFLICT (workspace_id, list) DO UPDATE SET version = excluded.version;
END;
CREATE TRIGGER current_workspace_changed AFTER UPDATE ON settings WHEN NEW.name = 'current_workspace' BEGIN
    INSERT INTO versions (workspace_id, list, version) VALUES
        (0, 'current', random() >> 20)
    ON CONFLICT (workspace_id, list) DO UPDATE SET version = excluded.version;
END;

PRAGMA user_version = 7;
