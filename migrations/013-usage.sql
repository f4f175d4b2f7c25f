-- What the tasks of a tenant used, by the hour in which they ended (hours since the epoch, UTC). The rows remain when retention deletes the tasks. They
-- begin with this migration. An `agent_id` or `model` of `*` stands for all beyond the limit of an hour, and an empty `model` for an unknown one.
CREATE TABLE usage_hour (
  hour               INTEGER NOT NULL,
  tenant             TEXT    NOT NULL,
  provider           TEXT    NOT NULL,
  agent_id           TEXT    NOT NULL,
  model              TEXT    NOT NULL,
  completed          INTEGER NOT NULL,
  failed             INTEGER NOT NULL,
  cancelled          INTEGER NOT NULL,
  duration_ms        INTEGER NOT NULL,
  input_tokens       INTEGER NOT NULL,
  output_tokens      INTEGER NOT NULL,
  cache_read_tokens  INTEGER NOT NULL,
  cache_write_tokens INTEGER NOT NULL,
  -- Tasks whose tokens are unknown.
  usage_unknown      INTEGER NOT NULL,
  -- Millionths of a US dollar.
  cost_micros        INTEGER NOT NULL,
  -- Tasks whose cost is unknown.
  cost_unknown       INTEGER NOT NULL,
  PRIMARY KEY (hour, tenant, provider, agent_id, model)
) STRICT, WITHOUT ROWID;

-- The same by label: a task counts once for each of its labels.
CREATE TABLE usage_hour_label (
  hour               INTEGER NOT NULL,
  tenant             TEXT    NOT NULL,
  name               TEXT    NOT NULL,
  value              TEXT    NOT NULL,
  completed          INTEGER NOT NULL,
  failed             INTEGER NOT NULL,
  cancelled          INTEGER NOT NULL,
  duration_ms        INTEGER NOT NULL,
  input_tokens       INTEGER NOT NULL,
  output_tokens      INTEGER NOT NULL,
  cache_read_tokens  INTEGER NOT NULL,
  cache_write_tokens INTEGER NOT NULL,
  usage_unknown      INTEGER NOT NULL,
  cost_micros        INTEGER NOT NULL,
  cost_unknown       INTEGER NOT NULL,
  PRIMARY KEY (hour, tenant, name, value)
) STRICT, WITHOUT ROWID;
