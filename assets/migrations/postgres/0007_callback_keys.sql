-- The keys that nodes share; see 0022_callback_keys.sql of SQLite.
ALTER TABLE nodes ADD COLUMN callback_key TEXT NOT NULL DEFAULT '';
