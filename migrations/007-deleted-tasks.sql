-- A task can be deleted from the middle of the log, so the oldest event that is kept no longer shows what retention has deleted. `pruned` is the number
-- of the last event that it has deleted.
INSERT INTO counter (name, value)
  SELECT 'pruned', coalesce((SELECT min(number) FROM event) - 1, (SELECT value FROM counter WHERE name = 'event'));

-- The `webhook-id` of the callback. After a task was deleted, another task can have its id. NULL: the task ended before this migration, and its
-- `webhook-id` is made of its tenant and its id alone.
ALTER TABLE callback ADD COLUMN message_id TEXT;
