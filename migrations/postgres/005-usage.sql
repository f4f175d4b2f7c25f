-- compatible-from: 1
-- What the tasks of a tenant used, by the hour in which they ended (hours since the epoch, UTC). The rows remain when retention deletes the tasks. They
-- begin with this migration. An `agent_id` or `model` of `*` stands for all beyond the limit of an hour, and an empty `model` for an unknown one.
-- Each node adds to its own rows, because a row that all nodes add to would make their commits wait for each other.
CREATE TABLE usage_hour (
  hour               bigint  NOT NULL,
  tenant             text    COLLATE "C" NOT NULL,
  node               text    COLLATE "C" NOT NULL,
  provider           text    COLLATE "C" NOT NULL,
  agent_id           text    COLLATE "C" NOT NULL,
  model              text    COLLATE "C" NOT NULL,
  completed          bigint  NOT NULL,
  failed             bigint  NOT NULL,
  cancelled          bigint  NOT NULL,
  duration_ms        bigint  NOT NULL,
  input_tokens       bigint  NOT NULL,
  output_tokens      bigint  NOT NULL,
  cache_read_tokens  bigint  NOT NULL,
  cache_write_tokens bigint  NOT NULL,
  -- Tasks whose tokens are unknown.
  usage_unknown      bigint  NOT NULL,
  -- Millionths of a US dollar.
  cost_micros        bigint  NOT NULL,
  -- Tasks whose cost is unknown.
  cost_unknown       bigint  NOT NULL,
  PRIMARY KEY (hour, tenant, node, provider, agent_id, model)
) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02);

-- The same by label: a task counts once for each of its labels.
CREATE TABLE usage_hour_label (
  hour               bigint  NOT NULL,
  tenant             text    COLLATE "C" NOT NULL,
  node               text    COLLATE "C" NOT NULL,
  name               text    COLLATE "C" NOT NULL,
  value              text    COLLATE "C" NOT NULL,
  completed          bigint  NOT NULL,
  failed             bigint  NOT NULL,
  cancelled          bigint  NOT NULL,
  duration_ms        bigint  NOT NULL,
  input_tokens       bigint  NOT NULL,
  output_tokens      bigint  NOT NULL,
  cache_read_tokens  bigint  NOT NULL,
  cache_write_tokens bigint  NOT NULL,
  usage_unknown      bigint  NOT NULL,
  cost_micros        bigint  NOT NULL,
  cost_unknown       bigint  NOT NULL,
  PRIMARY KEY (hour, tenant, node, name, value)
) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02);
