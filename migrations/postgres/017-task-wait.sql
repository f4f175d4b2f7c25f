-- compatible-from: 1
-- When a task that was returned to the queue may start again, and when it was returned first. The values stay after the start, because a
-- task with them has started before. NULL for all others.
ALTER TABLE task ADD COLUMN start_after bigint;
ALTER TABLE task ADD COLUMN waits_since bigint;
