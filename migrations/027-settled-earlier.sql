-- The period in which the task has reserved last; NULL before its first run. And how much of what is settled is in the periods before that
-- one, so that an end refunds to a period at most what the period has counted.
ALTER TABLE task_budget ADD COLUMN last_starts_at INTEGER;
ALTER TABLE task_budget ADD COLUMN earlier_micros INTEGER NOT NULL DEFAULT 0;
ALTER TABLE task_budget ADD COLUMN earlier_tokens INTEGER NOT NULL DEFAULT 0;
