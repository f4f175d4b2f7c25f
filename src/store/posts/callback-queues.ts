/**
 * Every pair of origin and tenant that has a pending callback, as the rows of `queue`; rows with a NULL end each list and match nothing.
 * Jumps from queue to queue along the index, so the cost depends on the number of queues and not of callbacks.
 */
export const pendingQueues = `WITH RECURSIVE waiting (origin) AS (
    SELECT min(origin) FROM callback WHERE state = 'pending'
    UNION ALL
    SELECT (SELECT min(origin) FROM callback WHERE state = 'pending' AND origin > waiting.origin) FROM waiting WHERE waiting.origin IS NOT NULL),
  queue (origin, tenant) AS (
    SELECT origin, (SELECT min(tenant) FROM callback c WHERE c.state = 'pending' AND c.origin = waiting.origin) FROM waiting
    UNION ALL
    SELECT origin, (SELECT min(tenant) FROM callback c WHERE c.state = 'pending' AND c.origin = queue.origin AND c.tenant > queue.tenant)
      FROM queue WHERE queue.tenant IS NOT NULL)`;

/**
 * The earliest end among the first task of each tenant with a pending callback. Jumps from tenant to tenant along the index, so the cost
 * does not depend on the number of callbacks. The comparison of rows makes PostgreSQL use
 * this index. It would read the callbacks in the order of their tasks for `min(task)`.
 */
export const oldestPending = `WITH RECURSIVE owner (tenant) AS (
    SELECT min(tenant) FROM callback
    UNION ALL
    SELECT (SELECT min(tenant) FROM callback WHERE tenant > owner.tenant) FROM owner WHERE owner.tenant IS NOT NULL)
  SELECT min((SELECT finished_at FROM task WHERE seq = (
    SELECT CASE WHEN c.tenant = owner.tenant AND c.state = 'pending' THEN c.task END FROM callback c
    WHERE (c.tenant, c.state, c.task) > (owner.tenant, 'pending', 0) ORDER BY c.tenant, c.state, c.task LIMIT 1))) AS at
  FROM owner WHERE owner.tenant IS NOT NULL`;

/** The pending callbacks of one row of `queue`. */
export const pendingOfQueue = "FROM callback c WHERE c.state = 'pending' AND c.origin = queue.origin AND c.tenant = queue.tenant";
