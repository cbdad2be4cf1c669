-- The node that lost a scan without having ended it: if it lives, the attempt does not count.
ALTER TABLE jobs ADD COLUMN lost_by TEXT;

PRAGMA user_version = 23;
