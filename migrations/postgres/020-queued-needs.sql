-- compatible-from: 1
-- alone
-- A claim reads each value of `budget_needs` once, and skips all tasks with the same needs at once.
DROP INDEX CONCURRENTLY IF EXISTS task_queued_needs;
CREATE INDEX CONCURRENTLY task_queued_needs ON task (provider, tenant, (coalesce(node, '')), budget_needs, seq, agent_id)
  WHERE state = 'queued' AND parent_seq IS NULL;
