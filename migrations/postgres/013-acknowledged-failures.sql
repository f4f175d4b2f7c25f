-- compatible-from: 1
-- alone
-- Separates the failed tasks that were acknowledged, which would otherwise be read again and again.
DROP INDEX CONCURRENTLY IF EXISTS task_fault;
CREATE INDEX CONCURRENTLY task_fault ON task (tenant, (CASE WHEN acknowledged_at IS NULL THEN 0 ELSE 1 END), finished_at)
  WHERE state = 'failed' AND parent_seq IS NULL;
DROP INDEX CONCURRENTLY IF EXISTS task_failed;
