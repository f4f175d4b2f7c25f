-- compatible-from: 1
-- Which faults a person has acknowledged, who and when. The acknowledgement of a callback or a delivery holds for `acknowledged_attempts` attempts:
-- if a redelivery dies as well, it is a new fault.
ALTER TABLE task ADD COLUMN acknowledged_by text COLLATE "C";
ALTER TABLE task ADD COLUMN acknowledged_at bigint;
ALTER TABLE callback ADD COLUMN acknowledged_attempts integer;
ALTER TABLE callback ADD COLUMN acknowledged_by text COLLATE "C";
ALTER TABLE callback ADD COLUMN acknowledged_at bigint;
ALTER TABLE webhook_delivery ADD COLUMN acknowledged_attempts integer;
ALTER TABLE webhook_delivery ADD COLUMN acknowledged_by text COLLATE "C";
ALTER TABLE webhook_delivery ADD COLUMN acknowledged_at bigint;

-- Of adapters that are offline. The row is deleted when the adapter is no longer offline.
CREATE TABLE adapter_acknowledgement (
  tenant          text   COLLATE "C" NOT NULL,
  provider        text   COLLATE "C" NOT NULL,
  acknowledged_by text   COLLATE "C" NOT NULL,
  acknowledged_at bigint NOT NULL,
  PRIMARY KEY (tenant, provider)
);
