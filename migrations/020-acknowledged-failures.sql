-- The acknowledgement of a failed task is in its row, so that an index separates what was acknowledged: it would otherwise be read again and again.
ALTER TABLE task ADD COLUMN acknowledged_by TEXT;
ALTER TABLE task ADD COLUMN acknowledged_at INTEGER;
UPDATE task SET (acknowledged_by, acknowledged_at) = (SELECT s.acknowledged_by, s.acknowledged_at FROM task_summary s WHERE s.task = task.seq)
  WHERE seq IN (SELECT task FROM task_summary WHERE acknowledged_at IS NOT NULL);
ALTER TABLE task_summary DROP COLUMN acknowledged_by;
ALTER TABLE task_summary DROP COLUMN acknowledged_at;

DROP INDEX task_failed;
CREATE INDEX task_failed ON task (tenant, (CASE WHEN acknowledged_at IS NULL THEN 0 ELSE 1 END), finished_at)
  WHERE state = 'failed' AND parent_seq IS NULL;
