-- The process that renders a report, or sends a callback.
ALTER TABLE reports ADD COLUMN owner TEXT REFERENCES nodes (id) ON DELETE SET NULL;
ALTER TABLE deliveries ADD COLUMN owner TEXT REFERENCES nodes (id) ON DELETE SET NULL;
-- Grows with each claim: writes of an earlier attempt have no effect.
ALTER TABLE reports ADD COLUMN attempt INTEGER NOT NULL DEFAULT 0;

PRAGMA user_version = 10;
