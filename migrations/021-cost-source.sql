-- Where the cost of a task comes from: `runtime` or `priced`; NULL if it is unknown, and for tasks that ended before this migration.
ALTER TABLE task_summary ADD COLUMN cost_source TEXT;
