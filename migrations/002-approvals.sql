-- Tool calls that wait for yes or no, and what was decided. A pending one belongs to a running task: the end of the task rejects it.
CREATE TABLE approval (
  seq          INTEGER PRIMARY KEY AUTOINCREMENT,
  id           TEXT    NOT NULL UNIQUE,
  task         INTEGER NOT NULL REFERENCES task (seq),
  tenant       TEXT    NOT NULL,
  tool_call_id TEXT    NOT NULL,
  tool_name    TEXT    NOT NULL,
  input        TEXT    NOT NULL,
  state        TEXT    NOT NULL CHECK (state IN ('pending', 'approved', 'rejected')),
  created_at   INTEGER NOT NULL,
  expires_at   INTEGER NOT NULL,
  decided_at   INTEGER,
  decided_by   TEXT,
  reason       TEXT,
  CHECK ((decided_at IS NULL) = (state = 'pending')),
  CHECK ((decided_by IS NULL) = (state = 'pending'))
) STRICT;
CREATE INDEX approval_list ON approval (tenant);
CREATE INDEX approval_list_state ON approval (tenant, state);
CREATE INDEX approval_task ON approval (task, state);
