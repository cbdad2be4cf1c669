-- Notifies all nodes that a row waits for one of them: a new one, or one whose claim has ended. They would see it with their next
-- poll.
CREATE FUNCTION tell_queue() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_notify('scandeck_queue', TG_TABLE_NAME);
    RETURN NULL;
END
$$;
CREATE TRIGGER jobs_told AFTER INSERT OR UPDATE OF owner ON jobs
    FOR EACH ROW WHEN (NEW.owner IS NULL) EXECUTE FUNCTION tell_queue();
CREATE TRIGGER reports_told AFTER INSERT OR UPDATE OF owner ON reports
    FOR EACH ROW WHEN (NEW.owner IS NULL AND NEW.status = 'waiting') EXECUTE FUNCTION tell_queue();
CREATE TRIGGER imports_told AFTER UPDATE OF state, owner ON imports
    FOR EACH ROW WHEN (NEW.owner IS NULL AND NEW.state IN ('waiting', 'running')) EXECUTE FUNCTION tell_queue();
CREATE TRIGGER deliveries_told AFTER INSERT OR UPDATE OF owner ON deliveries
    FOR EACH ROW WHEN (NEW.owner IS NULL) EXECUTE FUNCTION tell_queue();

-- See 0023_lost_scans.sql of SQLite.
ALTER TABLE jobs ADD COLUMN lost_by TEXT;
