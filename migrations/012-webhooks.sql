-- The position of each webhook in the event log: every matching event up to `cursor` has its delivery.
CREATE TABLE webhook (
  name   TEXT    PRIMARY KEY,
  cursor INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- What Bridge posts to the webhooks. `id` is the `webhook-id` of every attempt. The URL is not stored, because it can contain a secret; each attempt
-- reads it from the file of webhooks. `task` is NULL for events that belong to no task. Retention deletes rows by their age.
CREATE TABLE webhook_delivery (
  seq         INTEGER PRIMARY KEY,
  id          TEXT    NOT NULL UNIQUE,
  tenant      TEXT    NOT NULL,
  webhook     TEXT    NOT NULL,
  type        TEXT    NOT NULL,
  task        INTEGER,
  body        TEXT    NOT NULL,
  state       TEXT    NOT NULL CHECK (state IN ('pending', 'delivered', 'dead')),
  attempts    INTEGER NOT NULL DEFAULT 0,
  -- `attempts` at the beginning of this round: a redelivery restarts the schedule, and `attempts` continues.
  round_start INTEGER NOT NULL DEFAULT 0,
  next_at     INTEGER,
  last_status INTEGER,
  last_error  TEXT,
  created_at  INTEGER NOT NULL,
  updated_at  INTEGER NOT NULL,
  CHECK ((next_at IS NOT NULL) = (state = 'pending'))
) STRICT;
CREATE INDEX webhook_delivery_due ON webhook_delivery (tenant, webhook, next_at) WHERE state = 'pending';
CREATE INDEX webhook_delivery_list ON webhook_delivery (tenant, webhook, state);
CREATE INDEX webhook_delivery_task ON webhook_delivery (task) WHERE task IS NOT NULL;
CREATE INDEX webhook_delivery_age ON webhook_delivery (created_at);
