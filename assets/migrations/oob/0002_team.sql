-- The place of this version of a payload in the log of its workspace at a service. Null: the service does not have it, so it
-- is still to be sent. 0: sent, and not read back yet.
ALTER TABLE payloads ADD COLUMN position INTEGER;
-- Why the service did not accept it. It is not sent again.
ALTER TABLE payloads ADD COLUMN refused TEXT;

PRAGMA user_version = 2;
