-- The attempts of a task that may run on several adapters, as JSON. NULL for other tasks.
ALTER TABLE task_summary ADD COLUMN attempts TEXT;
