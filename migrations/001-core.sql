-- Times are milliseconds since the epoch. JSON is TEXT. The CHECK constraints repeat the table of legal states in src/task.ts.

CREATE TABLE meta (
  name  TEXT PRIMARY KEY,
  value TEXT NOT NULL
) STRICT;

-- Event numbers come from this row and not from an autoincrement: gapless, and still right after old events are pruned.
CREATE TABLE counter (
  name  TEXT PRIMARY KEY,
  value INTEGER NOT NULL
) STRICT;
INSERT INTO counter (name, value) VALUES ('event', 0);

CREATE TABLE task (
  seq            INTEGER PRIMARY KEY AUTOINCREMENT,
  tenant         TEXT    NOT NULL,
  id             TEXT    NOT NULL,
  parent_seq     INTEGER,
  parent_id      TEXT,
  agent_id       TEXT    NOT NULL,
  provider       TEXT    NOT NULL,
  state          TEXT    NOT NULL CHECK (state IN ('queued', 'running', 'completed', 'failed', 'cancelled')),
  -- Before the long columns, so that a list reads it without reading them.
  metadata       TEXT,
  request        TEXT    NOT NULL,
  fingerprint    TEXT    NOT NULL,
  traceparent    TEXT,
  resume_token   TEXT,
  restarts       INTEGER NOT NULL DEFAULT 0 CHECK (restarts IN (0, 1)),
  created_at     INTEGER NOT NULL,
  started_at     INTEGER,
  finished_at    INTEGER,
  result         TEXT,
  CHECK ((finished_at IS NULL) = (state IN ('queued', 'running'))),
  CHECK ((result IS NULL) = (finished_at IS NULL)),
  CHECK (state <> 'running' OR started_at IS NOT NULL),
  CHECK (state <> 'completed' OR started_at IS NOT NULL)
) STRICT;
CREATE UNIQUE INDEX task_id ON task (tenant, id);
-- In the order of claims: children first, because a running task waits for them.
CREATE INDEX task_queued ON task (provider, (parent_seq IS NULL)) WHERE state = 'queued';
-- Small, as only running tasks are in it: tells a claim whether its resume token is in use.
CREATE INDEX task_running ON task (provider, tenant, agent_id, resume_token) WHERE state = 'running';
-- Lists, newest first: every filter needs its own, or a list sorts all tasks of the tenant.
CREATE INDEX task_list ON task (tenant);
-- Of ended tasks; the few others are found by the two indexes above, so that a task changes its place only once.
CREATE INDEX task_list_ended ON task (tenant, state) WHERE finished_at IS NOT NULL;
CREATE INDEX task_list_provider ON task (tenant, provider);
CREATE INDEX task_list_agent ON task (tenant, agent_id);
CREATE INDEX task_list_parent ON task (tenant, parent_id) WHERE parent_id IS NOT NULL;
CREATE INDEX task_children ON task (parent_seq) WHERE parent_seq IS NOT NULL;
CREATE INDEX task_finished ON task (finished_at) WHERE finished_at IS NOT NULL;

CREATE TABLE event (
  number INTEGER PRIMARY KEY,
  task   INTEGER NOT NULL REFERENCES task (seq),
  type   TEXT    NOT NULL,
  at     INTEGER NOT NULL,
  data   TEXT    NOT NULL
) STRICT;
CREATE INDEX event_task ON event (task);

CREATE TABLE callback (
  task        INTEGER PRIMARY KEY REFERENCES task (seq),
  tenant      TEXT    NOT NULL,
  url         TEXT    NOT NULL,
  origin      TEXT    NOT NULL,
  -- The exact bytes that every attempt sends; dropped once delivered.
  body        TEXT,
  state       TEXT    NOT NULL CHECK (state IN ('pending', 'delivered', 'dead')),
  attempts    INTEGER NOT NULL DEFAULT 0,
  -- `attempts` at the beginning of this round: a redelivery starts the schedule anew and goes on counting.
  round_start INTEGER NOT NULL DEFAULT 0,
  next_at     INTEGER,
  last_status INTEGER,
  last_error  TEXT,
  updated_at  INTEGER NOT NULL,
  CHECK ((next_at IS NOT NULL) = (state = 'pending')),
  CHECK ((body IS NULL) = (state = 'delivered'))
) STRICT;
CREATE INDEX callback_due ON callback (origin, next_at) WHERE state = 'pending';
CREATE INDEX callback_list ON callback (tenant);
CREATE INDEX callback_list_state ON callback (tenant, state);

-- A delivered callback is final: whatever restarts, a task in here is never posted again.
CREATE TABLE callback_dedup (
  task INTEGER PRIMARY KEY REFERENCES task (seq),
  at   INTEGER NOT NULL
) STRICT;

CREATE TABLE resume_token (
  tenant   TEXT    NOT NULL,
  provider TEXT    NOT NULL,
  agent_id TEXT    NOT NULL,
  token    TEXT    NOT NULL,
  used_at  INTEGER NOT NULL,
  PRIMARY KEY (tenant, provider, agent_id, token)
) STRICT, WITHOUT ROWID;
CREATE INDEX resume_token_used ON resume_token (used_at);
