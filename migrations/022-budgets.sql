-- The counts of each period of a budget. The rows remain when retention deletes the tasks. Amounts are millionths of a US dollar, and tokens.
CREATE TABLE budget_period (
  name             TEXT    NOT NULL,
  starts_at        INTEGER NOT NULL,
  ends_at          INTEGER NOT NULL,
  spent_micros     INTEGER NOT NULL,
  spent_tokens     INTEGER NOT NULL,
  reserved_micros  INTEGER NOT NULL,
  reserved_tokens  INTEGER NOT NULL,
  -- The part of what is spent that is a guess, because the usage of its tasks is unknown.
  estimated_micros INTEGER NOT NULL,
  estimated_tokens INTEGER NOT NULL,
  -- The highest share of the maximum of which Bridge has warned.
  warned           REAL    NOT NULL,
  PRIMARY KEY (name, starts_at)
) STRICT, WITHOUT ROWID;
CREATE INDEX budget_period_end ON budget_period (ends_at);

-- The budgets that apply to a queued or running task. A NULL `ask_micros` or `ask_tokens`: the budget has no such maximum.
CREATE TABLE task_budget (
  task            INTEGER NOT NULL REFERENCES task (seq),
  name            TEXT    NOT NULL,
  ask_micros      INTEGER,
  ask_tokens      INTEGER,
  -- The period in which the task has reserved; NULL while it has not.
  starts_at       INTEGER,
  reserved_micros INTEGER NOT NULL DEFAULT 0,
  reserved_tokens INTEGER NOT NULL DEFAULT 0,
  -- How much of the usage of the task is in what is spent.
  settled_micros  INTEGER NOT NULL DEFAULT 0,
  settled_tokens  INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (task, name)
) STRICT, WITHOUT ROWID;

-- Changes of what is spent, by a person.
CREATE TABLE budget_adjustment (
  seq         INTEGER PRIMARY KEY,
  name        TEXT    NOT NULL,
  starts_at   INTEGER NOT NULL,
  at          INTEGER NOT NULL,
  adjusted_by TEXT    NOT NULL,
  reason      TEXT    NOT NULL,
  from_micros INTEGER NOT NULL,
  to_micros   INTEGER NOT NULL
) STRICT;
