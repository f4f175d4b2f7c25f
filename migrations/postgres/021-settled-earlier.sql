-- compatible-from: 1
-- The period in which the task has reserved last; NULL before its first run. And how much of what is settled is in the periods before that
-- one, so that an end refunds to a period at most what the period has counted.
ALTER TABLE task_budget ADD COLUMN last_starts_at bigint;
ALTER TABLE task_budget ADD COLUMN earlier_micros bigint NOT NULL DEFAULT 0;
ALTER TABLE task_budget ADD COLUMN earlier_tokens bigint NOT NULL DEFAULT 0;
