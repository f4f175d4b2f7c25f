-- compatible-from: 1
-- The attempts of a task that may run on several adapters, as JSON. NULL for other tasks, and for tasks of nodes of the previous release.
ALTER TABLE task ADD COLUMN attempts text COLLATE "C";
