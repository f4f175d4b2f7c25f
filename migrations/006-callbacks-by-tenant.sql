-- Callbacks are claimed by tenant and origin, so that a tenant whose receivers hang does not hold up another tenant.
DROP INDEX callback_due;
CREATE INDEX callback_due ON callback (origin, tenant, next_at) WHERE state = 'pending';
