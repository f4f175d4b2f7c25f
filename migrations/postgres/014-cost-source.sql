-- compatible-from: 1
-- Where the cost of a task comes from: `runtime` or `priced`. NULL if it is unknown, for tasks that ended before this migration, and for tasks
-- of nodes of the previous release.
ALTER TABLE task ADD COLUMN cost_source text COLLATE "C";
