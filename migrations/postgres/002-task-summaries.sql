-- compatible-from: 1
-- What lists show and search of a task. `usage` is JSON. They are NULL for tasks from before this migration, and of nodes of the previous release.
ALTER TABLE task
  ADD COLUMN title text COLLATE "C",
  ADD COLUMN model text COLLATE "C",
  ADD COLUMN cost_usd double precision,
  ADD COLUMN usage text COLLATE "C",
  ADD COLUMN error_code text COLLATE "C";
