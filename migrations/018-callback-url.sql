-- The `callbackUrl` of the dispatch, which lists show until the task ends: the request may be long. NULL for tasks from before this migration.
ALTER TABLE task_summary ADD COLUMN callback_url TEXT;
