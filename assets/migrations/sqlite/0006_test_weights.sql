-- The planned tests that a test counts as; 0 for further rows of the same test.
ALTER TABLE tests ADD COLUMN weight INTEGER NOT NULL DEFAULT 1;
PRAGMA user_version = 6;
