-- In the order of claims: a claim takes the oldest queued task of one tenant on one provider. `agent_id` is last, so that a claim passes over
-- the tasks of an agent at its limit without reading their rows.
DROP INDEX task_queued;
CREATE INDEX task_queued ON task (provider, tenant, (parent_seq IS NULL), seq, agent_id) WHERE state = 'queued';
