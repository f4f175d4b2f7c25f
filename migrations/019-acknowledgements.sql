-- Which faults a person has acknowledged, who and when. The acknowledgement of a callback or a delivery holds for `acknowledged_attempts` attempts:
-- if a redelivery dies as well, it is a new fault. The columns of a failed task are in its summary.
ALTER TABLE task_summary ADD COLUMN acknowledged_by TEXT;
ALTER TABLE task_summary ADD COLUMN acknowledged_at INTEGER;
ALTER TABLE callback ADD COLUMN acknowledged_attempts INTEGER;
ALTER TABLE callback ADD COLUMN acknowledged_by TEXT;
ALTER TABLE callback ADD COLUMN acknowledged_at INTEGER;
ALTER TABLE webhook_delivery ADD COLUMN acknowledged_attempts INTEGER;
ALTER TABLE webhook_delivery ADD COLUMN acknowledged_by TEXT;
ALTER TABLE webhook_delivery ADD COLUMN acknowledged_at INTEGER;

-- Of adapters that are offline. The row is deleted when the adapter is no longer offline.
CREATE TABLE adapter_acknowledgement (
  tenant          TEXT    NOT NULL,
  provider        TEXT    NOT NULL,
  acknowledged_by TEXT    NOT NULL,
  acknowledged_at INTEGER NOT NULL,
  PRIMARY KEY (tenant, provider)
) STRICT, WITHOUT ROWID;

CREATE INDEX task_failed ON task (tenant, finished_at) WHERE state = 'failed' AND parent_seq IS NULL;
CREATE INDEX callback_dead ON callback (tenant, (CASE WHEN acknowledged_attempts = attempts THEN 1 ELSE 0 END), task, origin) WHERE state = 'dead';
CREATE INDEX webhook_delivery_dead
  ON webhook_delivery (tenant, (CASE WHEN acknowledged_attempts = attempts THEN 1 ELSE 0 END), seq, webhook) WHERE state = 'dead';
