-- Whether the positions and refusals of the events and payloads of the workspace are those of this log. A profile can name
-- another service later, so workspaces of two services can share a name here. 0: this log is read and sent from its beginning.
ALTER TABLE sync ADD COLUMN has_marks INTEGER NOT NULL DEFAULT 1;
UPDATE sync SET has_marks = 0 WHERE workspace IN (SELECT workspace FROM sync GROUP BY workspace HAVING count(*) > 1);

PRAGMA user_version = 4;
