-- What lists show and search of a task, apart from its row: SQLite would read the long columns before added ones. `usage` is JSON. Tasks from before
-- this migration have a row only if they end after it.
CREATE TABLE task_summary (
  task       INTEGER PRIMARY KEY REFERENCES task (seq),
  title      TEXT,
  model      TEXT,
  cost_usd   REAL,
  usage      TEXT,
  error_code TEXT
) STRICT;
