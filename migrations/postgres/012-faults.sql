-- compatible-from: 1
-- alone
-- Failed tasks, dead callbacks and dead deliveries, in the order in which lists show those that nobody has acknowledged.
DROP INDEX CONCURRENTLY IF EXISTS task_failed;
CREATE INDEX CONCURRENTLY task_failed ON task (tenant, finished_at) WHERE state = 'failed' AND parent_seq IS NULL;
DROP INDEX CONCURRENTLY IF EXISTS callback_dead;
CREATE INDEX CONCURRENTLY callback_dead
  ON callback (tenant, (CASE WHEN acknowledged_attempts = attempts THEN 1 ELSE 0 END), task, origin) WHERE state = 'dead';
DROP INDEX CONCURRENTLY IF EXISTS webhook_delivery_dead;
CREATE INDEX CONCURRENTLY webhook_delivery_dead
  ON webhook_delivery (tenant, (CASE WHEN acknowledged_attempts = attempts THEN 1 ELSE 0 END), seq, webhook) WHERE state = 'dead';
