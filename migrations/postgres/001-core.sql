-- compatible-from: 1
-- The schema of PostgreSQL: what migrations/001 to 009 create for SQLite, and the columns and tables of several nodes. Times are milliseconds
-- since the epoch. JSON is text, because jsonb rejects U+0000. Texts have the collation "C": they are compared byte by byte, as SQLite does.
-- The CHECK constraints repeat the table of legal states in src/task.ts.

CREATE TABLE meta (
  name  text COLLATE "C" PRIMARY KEY,
  value text COLLATE "C" NOT NULL
);

-- Event numbers are max(event.number) + 1, read under an advisory lock, because a row that is updated for every event becomes slow while an old
-- snapshot is open. `event_floor`: the highest number of the events that were deleted. `pruned`: the last number that retention has deleted.
CREATE TABLE counter (
  name  text COLLATE "C" PRIMARY KEY,
  value bigint NOT NULL
);
INSERT INTO counter (name, value) VALUES ('event_floor', 0), ('pruned', 0);

CREATE TABLE task (
  seq          bigint   GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  tenant       text     COLLATE "C" NOT NULL,
  id           text     COLLATE "C" NOT NULL,
  parent_seq   bigint,
  parent_id    text     COLLATE "C",
  agent_id     text     COLLATE "C" NOT NULL,
  provider     text     COLLATE "C" NOT NULL,
  state        text     COLLATE "C" NOT NULL CHECK (state IN ('queued', 'running', 'completed', 'failed', 'cancelled')),
  metadata     text     COLLATE "C",
  request      text     COLLATE "C" NOT NULL,
  fingerprint  text     COLLATE "C" NOT NULL,
  traceparent  text     COLLATE "C",
  resume_token text     COLLATE "C",
  restarts     smallint NOT NULL DEFAULT 0 CHECK (restarts IN (0, 1)),
  created_at   bigint   NOT NULL,
  started_at   bigint,
  finished_at  bigint,
  result       text     COLLATE "C",
  -- Where long texts belong in the result: `[{at, text}]`, where `at` counts UTF-16 units of the stored JSON. NULL: no gaps.
  result_gaps  text     COLLATE "C",
  -- Queued: the only node that may start the task (NULL: any node). Running: the node that runs it.
  node         text     COLLATE "C",
  -- Tags that a node must have to start the task.
  needs        text[]   COLLATE "C" NOT NULL DEFAULT '{}',
  -- The requested stop of a running task. The node that runs the task stops it.
  stop_code    text     COLLATE "C",
  stop_reason  text     COLLATE "C",
  -- When the task ran, by the clock of its node, which is the clock of its files.
  ran_from     bigint,
  ran_to       bigint,
  CHECK ((finished_at IS NULL) = (state IN ('queued', 'running'))),
  CHECK ((result IS NULL) = (finished_at IS NULL)),
  CHECK ((stop_reason IS NULL) = (stop_code IS NULL)),
  CHECK (state <> 'running' OR started_at IS NOT NULL),
  CHECK (state <> 'completed' OR started_at IS NOT NULL)
) WITH (fillfactor = 85, autovacuum_vacuum_scale_factor = 0.02);
CREATE UNIQUE INDEX task_id ON task (tenant, id);
-- In the order of claims, which read the tasks of their own node and those of any node separately. `agent_id` is last, so that a claim passes
-- over the tasks of an agent at its limit without reading their rows. The expressions are never NULL, because the planner knows only for equality
-- that the rows are in the order of the following columns.
CREATE INDEX task_queued ON task
  (provider, tenant, (CASE WHEN parent_seq IS NULL THEN 'dispatched' ELSE 'child' END), (coalesce(node, '')), seq, agent_id) WHERE state = 'queued';
CREATE INDEX task_running ON task (node, seq) WHERE state = 'running';
-- At most one running task uses a resume token.
CREATE UNIQUE INDEX task_session ON task (tenant, provider, agent_id, resume_token) WHERE state = 'running' AND resume_token IS NOT NULL;
-- Lists, newest first.
CREATE INDEX task_list ON task (tenant, seq);
CREATE INDEX task_list_ended ON task (tenant, state, seq) WHERE finished_at IS NOT NULL;
CREATE INDEX task_list_provider ON task (tenant, provider, seq);
CREATE INDEX task_list_agent ON task (tenant, agent_id, seq);
CREATE INDEX task_list_parent ON task (tenant, parent_id, seq) WHERE parent_id IS NOT NULL;
CREATE INDEX task_finished ON task (finished_at) WHERE finished_at IS NOT NULL;
-- The children of a task, and when an adapter last started one: parents whose children wait for the same adapter take turns.
CREATE INDEX task_children ON task (parent_seq, provider, started_at) WHERE parent_seq IS NOT NULL;

-- No foreign key: it would lock the row of the task once for each event.
CREATE TABLE event (
  number bigint PRIMARY KEY,
  task   bigint NOT NULL,
  type   text   COLLATE "C" NOT NULL,
  at     bigint NOT NULL,
  data   text   COLLATE "C" NOT NULL
);
CREATE INDEX event_task ON event (task, number);
-- Whether a task is in a tool call. Any number of other events can follow the newest of these.
CREATE INDEX event_tool ON event (task, number) WHERE type IN ('tool.invoked', 'tool.completed');

CREATE TABLE callback (
  task        bigint  PRIMARY KEY REFERENCES task (seq),
  tenant      text    COLLATE "C" NOT NULL,
  url         text    COLLATE "C" NOT NULL,
  origin      text    COLLATE "C" NOT NULL,
  -- The exact bytes that every attempt sends, except for the gaps; dropped once delivered.
  body        text    COLLATE "C",
  -- `[{at, text}]` as in `task.result_gaps`, or `{"result": at}`: where the fields of the task's result belong. NULL: no gaps.
  body_gaps   text    COLLATE "C",
  -- The `webhook-id` of every attempt.
  message_id  text    COLLATE "C",
  state       text    COLLATE "C" NOT NULL CHECK (state IN ('pending', 'delivered', 'dead')),
  attempts    integer NOT NULL DEFAULT 0,
  -- `attempts` at the beginning of this round: a redelivery restarts the schedule, and `attempts` continues.
  round_start integer NOT NULL DEFAULT 0,
  next_at     bigint,
  last_status integer,
  last_error  text    COLLATE "C",
  updated_at  bigint  NOT NULL,
  CHECK ((next_at IS NOT NULL) = (state = 'pending')),
  CHECK ((body IS NULL) = (state = 'delivered'))
) WITH (fillfactor = 85, autovacuum_vacuum_scale_factor = 0.02);
CREATE INDEX callback_due ON callback (origin, tenant, next_at, task) WHERE state = 'pending';
CREATE INDEX callback_list_state ON callback (tenant, state, task);

-- A delivered callback is final: the callback of a task in this table is never posted again.
CREATE TABLE callback_dedup (
  task bigint PRIMARY KEY REFERENCES task (seq),
  at   bigint NOT NULL
);

CREATE TABLE resume_token (
  tenant   text   COLLATE "C" NOT NULL,
  provider text   COLLATE "C" NOT NULL,
  agent_id text   COLLATE "C" NOT NULL,
  token    text   COLLATE "C" NOT NULL,
  used_at  bigint NOT NULL,
  PRIMARY KEY (tenant, provider, agent_id, token)
);
CREATE INDEX resume_token_used ON resume_token (used_at);

-- Tool calls that wait for a decision, and the decisions. A pending one belongs to a running task: the end of the task rejects it.
CREATE TABLE approval (
  seq          bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  id           text   COLLATE "C" NOT NULL UNIQUE,
  task         bigint NOT NULL REFERENCES task (seq),
  tenant       text   COLLATE "C" NOT NULL,
  tool_call_id text   COLLATE "C" NOT NULL,
  tool_name    text   COLLATE "C" NOT NULL,
  input        text   COLLATE "C" NOT NULL,
  state        text   COLLATE "C" NOT NULL CHECK (state IN ('pending', 'approved', 'rejected')),
  created_at   bigint NOT NULL,
  expires_at   bigint NOT NULL,
  decided_at   bigint,
  decided_by   text   COLLATE "C",
  reason       text   COLLATE "C",
  CHECK ((decided_at IS NULL) = (state = 'pending')),
  CHECK ((decided_by IS NULL) = (state = 'pending'))
);
CREATE INDEX approval_list ON approval (tenant, seq);
CREATE INDEX approval_list_state ON approval (tenant, state, seq);
CREATE INDEX approval_task ON approval (task, state);

-- Parts of long texts, each the inside of a JSON string. `text` 0 holds the data of events that were pruned before their task.
CREATE TABLE text_chunk (
  task   bigint  NOT NULL REFERENCES task (seq),
  text   integer NOT NULL,
  number bigint  NOT NULL,
  json   text    COLLATE "C" NOT NULL,
  PRIMARY KEY (task, text, number)
);

-- A Bridge process with its own data directory. `incarnation` is new at each start, and `home` identifies the directory. A node is alive until
-- `lease_until`. Until `taken_until`, another node ends the tasks of a dead one.
CREATE TABLE node (
  id              text    COLLATE "C" PRIMARY KEY,
  incarnation     text    COLLATE "C" NOT NULL,
  home            text    COLLATE "C" NOT NULL,
  name            text    COLLATE "C" NOT NULL,
  url             text    COLLATE "C",
  version         text    COLLATE "C" NOT NULL,
  -- The number of migrations that the node knows. No migration is run with which a live node could not work.
  schema_version  integer NOT NULL,
  tags            text[]  COLLATE "C" NOT NULL DEFAULT '{}',
  files           text    COLLATE "C" NOT NULL CHECK (files IN ('local', 'shared', 'ephemeral')),
  state           text    COLLATE "C" NOT NULL CHECK (state IN ('live', 'draining', 'gone')),
  lease_until     bigint  NOT NULL,
  started_at      bigint  NOT NULL,
  settings_digest text    COLLATE "C" NOT NULL,
  skew_ms         bigint  NOT NULL DEFAULT 0,
  taken_until     bigint  NOT NULL DEFAULT 0
);
-- A dead node keeps its name until another node takes it.
CREATE UNIQUE INDEX node_name ON node (name) WHERE state <> 'gone';

CREATE TABLE node_adapter (
  node         text    COLLATE "C" NOT NULL REFERENCES node (id) ON DELETE CASCADE,
  provider     text    COLLATE "C" NOT NULL,
  health       text    COLLATE "C" NOT NULL,
  capabilities text    COLLATE "C",
  running      integer NOT NULL,
  max_running  integer NOT NULL,
  checked_at   bigint,
  PRIMARY KEY (node, provider)
);

-- The node on which an agent has its files: the one that started its first task.
CREATE TABLE place (
  tenant   text   COLLATE "C" NOT NULL,
  agent_id text   COLLATE "C" NOT NULL,
  node     text   COLLATE "C" NOT NULL,
  since    bigint NOT NULL,
  PRIMARY KEY (tenant, agent_id)
);
CREATE INDEX place_node ON place (node);

-- The node that posts the callbacks of an origin, until it releases the origin or is dead.
CREATE TABLE callback_origin (
  origin   text   COLLATE "C" PRIMARY KEY,
  node     text   COLLATE "C" NOT NULL,
  taken_at bigint NOT NULL
);
CREATE INDEX callback_origin_node ON callback_origin (node, taken_at);

-- The last commit of each writer. A writer whose commit got no answer finds its marker here, or knows that the commit has failed. The id of a
-- transaction proves nothing: after a crash of the server, another transaction can have it. Retention removes the markers of writers that are gone.
CREATE TABLE commit_marker (
  writer text   COLLATE "C" NOT NULL,
  number bigint NOT NULL,
  at     bigint NOT NULL DEFAULT floor(extract(epoch FROM clock_timestamp()) * 1000),
  PRIMARY KEY (writer, number)
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 10000);

-- Unused tickets, which replace a token once. `hash` is the SHA-256 of the ticket, and `token_proof` the HMAC of its token's hash with the ticket as
-- the key: neither a ticket nor a token can be read from the database. `scopes` is a JSON array.
CREATE TABLE ticket (
  hash        text   COLLATE "C" PRIMARY KEY,
  principal   text   COLLATE "C" NOT NULL,
  tenant      text   COLLATE "C" NOT NULL,
  scopes      text   COLLATE "C" NOT NULL,
  token_proof text   COLLATE "C" NOT NULL,
  expires_at  bigint NOT NULL
);
CREATE INDEX ticket_tenant ON ticket (tenant);
CREATE INDEX ticket_expiry ON ticket (expires_at);

-- Requests of a token in one minute, added up over all nodes.
CREATE TABLE rate (
  name   text    COLLATE "C" NOT NULL,
  minute bigint  NOT NULL,
  count  integer NOT NULL,
  PRIMARY KEY (name, minute)
);
