-- The last attempts of the callback, the oldest first: one JSON object in each line. NULL: no attempt since this migration.
ALTER TABLE callback ADD COLUMN history TEXT;
