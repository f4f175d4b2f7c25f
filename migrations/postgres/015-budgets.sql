-- compatible-from: 1
-- Names of the budgets that apply to a task, with commas between them; NULL: none, and for tasks of nodes of the previous release.
ALTER TABLE task ADD COLUMN budgets text COLLATE "C";

-- The counts of each period of a budget. The rows remain when retention deletes the tasks. Amounts are millionths of a US dollar, and tokens.
CREATE TABLE budget_period (
  name             text   COLLATE "C" NOT NULL,
  starts_at        bigint NOT NULL,
  ends_at          bigint NOT NULL,
  spent_micros     bigint NOT NULL,
  spent_tokens     bigint NOT NULL,
  reserved_micros  bigint NOT NULL,
  reserved_tokens  bigint NOT NULL,
  -- The part of what is spent that is a guess, because the usage of its tasks is unknown.
  estimated_micros bigint NOT NULL,
  estimated_tokens bigint NOT NULL,
  -- The highest share of the maximum of which Bridge has warned.
  warned           double precision NOT NULL,
  PRIMARY KEY (name, starts_at)
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.02);
CREATE INDEX budget_period_end ON budget_period (ends_at);

-- The budgets that apply to a queued or running task. A NULL `ask_micros` or `ask_tokens`: the budget has no such maximum. No foreign key: nodes of
-- the previous release end and delete tasks without these rows.
CREATE TABLE task_budget (
  task            bigint NOT NULL,
  name            text   COLLATE "C" NOT NULL,
  ask_micros      bigint,
  ask_tokens      bigint,
  -- The period in which the task has reserved; NULL while it has not.
  starts_at       bigint,
  reserved_micros bigint NOT NULL DEFAULT 0,
  reserved_tokens bigint NOT NULL DEFAULT 0,
  -- How much of the usage of the task is in what is spent.
  settled_micros  bigint NOT NULL DEFAULT 0,
  settled_tokens  bigint NOT NULL DEFAULT 0,
  PRIMARY KEY (task, name)
);

-- Changes of what is spent, by a person.
CREATE TABLE budget_adjustment (
  seq         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  name        text   COLLATE "C" NOT NULL,
  starts_at   bigint NOT NULL,
  at          bigint NOT NULL,
  adjusted_by text   COLLATE "C" NOT NULL,
  reason      text   COLLATE "C" NOT NULL,
  from_micros bigint NOT NULL,
  to_micros   bigint NOT NULL
);
