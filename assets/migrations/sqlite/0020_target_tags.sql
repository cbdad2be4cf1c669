-- Tags of a target, sorted and separated by spaces.
ALTER TABLE targets ADD COLUMN tags TEXT NOT NULL DEFAULT '';

-- The tag of the targets that a schedule scans. It is empty for all of the workspace, and for those of `schedule_targets`.
ALTER TABLE schedules ADD COLUMN tag TEXT NOT NULL DEFAULT '';

PRAGMA user_version = 20;
