-- New findings change the counters of their scan in the same transaction, so that a batch of them gives their list one new
-- version.
DROP TRIGGER findings_added;
CREATE TRIGGER findings_counted AFTER UPDATE OF risk0, risk1, risk2, risk3, risk4 ON scans
WHEN (NEW.risk0, NEW.risk1, NEW.risk2, NEW.risk3, NEW.risk4) IS NOT (OLD.risk0, OLD.risk1, OLD.risk2, OLD.risk3, OLD.risk4)
BEGIN
    INSERT INTO versions (workspace_id, list, version) VALUES
        (NEW.workspace_id, 'findings', random() >> 20)
    ON CONFLICT (workspace_id, list) DO UPDATE SET version = excluded.version;
END;

PRAGMA user_version = 12;
