-- compatible-from: 1
-- The position of each webhook in the event log: every matching event up to `cursor` has its delivery.
CREATE TABLE webhook (
  name   text   COLLATE "C" PRIMARY KEY,
  cursor bigint NOT NULL
);

-- What Bridge posts to the webhooks. `id` is the `webhook-id` of every attempt. The URL is not stored, because it can contain a secret; each attempt
-- reads it from the file of webhooks. `task` is NULL for events that belong to no task, and has no foreign key, because nodes of the previous release
-- delete tasks without their deliveries. A node that posts a delivery moves `next_at` first, so that no other node posts it meanwhile.
CREATE TABLE webhook_delivery (
  seq         bigint  GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  id          text    COLLATE "C" NOT NULL UNIQUE,
  tenant      text    COLLATE "C" NOT NULL,
  webhook     text    COLLATE "C" NOT NULL,
  type        text    COLLATE "C" NOT NULL,
  task        bigint,
  body        text    COLLATE "C" NOT NULL,
  state       text    COLLATE "C" NOT NULL CHECK (state IN ('pending', 'delivered', 'dead')),
  attempts    integer NOT NULL DEFAULT 0,
  -- `attempts` at the beginning of this round: a redelivery restarts the schedule, and `attempts` continues.
  round_start integer NOT NULL DEFAULT 0,
  next_at     bigint,
  last_status integer,
  last_error  text    COLLATE "C",
  created_at  bigint  NOT NULL,
  updated_at  bigint  NOT NULL,
  CHECK ((next_at IS NOT NULL) = (state = 'pending'))
) WITH (fillfactor = 85, autovacuum_vacuum_scale_factor = 0.02);
CREATE INDEX webhook_delivery_due ON webhook_delivery (tenant, webhook, next_at, seq) WHERE state = 'pending';
CREATE INDEX webhook_delivery_list ON webhook_delivery (tenant, webhook, state, seq);
CREATE INDEX webhook_delivery_task ON webhook_delivery (task) WHERE task IS NOT NULL;
CREATE INDEX webhook_delivery_age ON webhook_delivery (created_at);
