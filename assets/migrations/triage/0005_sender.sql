-- Name of the key that sent an event to the service, as the service recorded it. Null: not read from a service.
ALTER TABLE events ADD COLUMN sender TEXT;

PRAGMA user_version = 5;
