-- The schema of the program of each node, so that a newer program migrates the database only when the nodes work with the result.
-- Earlier programs do not name the column, and have schema 9. A file of SQLite has one node.
ALTER TABLE nodes ADD COLUMN schema BIGINT NOT NULL DEFAULT 9;
