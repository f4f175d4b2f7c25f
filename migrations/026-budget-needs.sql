-- What a queued task without a parent needs of budgets: rows of name, cost and tokens as JSON, sorted by name. A claim reads each value once,
-- and skips all tasks with the same needs at once.
ALTER TABLE task ADD COLUMN budget_needs TEXT NOT NULL DEFAULT '[]';
UPDATE task SET budget_needs = (
  SELECT json_group_array(json_array(name, max(1, ask_micros - settled_micros), max(1, ask_tokens - settled_tokens)))
  FROM (SELECT * FROM task_budget WHERE task = seq AND coalesce(ask_micros, ask_tokens) IS NOT NULL ORDER BY name))
WHERE state = 'queued' AND parent_seq IS NULL AND seq IN (SELECT task FROM task_budget);
CREATE INDEX task_queued_needs ON task (provider, tenant, budget_needs, seq, agent_id) WHERE state = 'queued' AND parent_seq IS NULL;
