-- compatible-from: 1
-- The `callbackUrl` of the dispatch, which lists show until the task ends: the request may be long. NULL for tasks from before this migration, and
-- of nodes of the previous release.
ALTER TABLE task ADD COLUMN callback_url text COLLATE "C";
