-- Whether a row counts as a test: 0 for the rows of its second and further findings.
ALTER TABLE tests ADD COLUMN counted INTEGER NOT NULL DEFAULT 1;
PRAGMA user_version = 6;
