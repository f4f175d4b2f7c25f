-- compatible-from: 1
-- The last attempts of the callback, the oldest first: one JSON object in each line. NULL: no attempt since this migration. Attempts of nodes of the
-- previous release are missing.
ALTER TABLE callback ADD COLUMN history text COLLATE "C";
