-- Tags of targets, and schedules of a tag; see 0019_target_tags.sql of SQLite.
ALTER TABLE targets ADD COLUMN tags TEXT NOT NULL DEFAULT '';
ALTER TABLE schedules ADD COLUMN tag TEXT NOT NULL DEFAULT '';
