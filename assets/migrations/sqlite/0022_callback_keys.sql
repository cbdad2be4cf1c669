-- The fingerprint of the key with which a node signs callbacks. Workers that use the API have none.
ALTER TABLE nodes ADD COLUMN callback_key TEXT NOT NULL DEFAULT '';

PRAGMA user_version = 22;
