-- The document of a report in parts, so that neither its writer nor its readers hold the whole. Without a foreign key: a
-- deleted report goes at once, and its parts a few at a time.

CREATE TABLE report_parts (
    report_id INTEGER NOT NULL,
    position  INTEGER NOT NULL,
    bytes     BLOB NOT NULL,
    PRIMARY KEY (report_id, position)
);

INSERT INTO report_parts (report_id, position, bytes) SELECT id, 0, content FROM reports WHERE content IS NOT NULL;
ALTER TABLE reports DROP COLUMN content;

PRAGMA user_version = 4;
