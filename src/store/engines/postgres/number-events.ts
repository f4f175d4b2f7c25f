import type { Connection, Result } from "./connection.ts";
import type { TaskEvent } from "./operation-kind.ts";
import { advisoryLocks } from "./statements.ts";

/**
 * Numbers the events, stores them and commits. The last row of the result has the number of the first event.
 *
 * All other nodes wait for the lock on event numbers. So the data is sent first, and then the request for the lock together with the commit
 * in one message, which the server runs only when it has all of it. No network, however slow, and no frozen client can hold the lock.
 */
export async function commitWithEvents(connection: Connection, events: readonly TaskEvent[], now: number): Promise<Result> {
  const columns = [events.map(({ task }) => task.seq), events.map(({ type }) => type), events.map(({ data }) => data)];
  const [, committed] = await connection.together<[Result, Result]>(() => [
    connection.query(passEvents, columns),
    connection.query(`SELECT pg_advisory_xact_lock(${advisoryLocks.eventNumbers}); EXECUTE insert_events (${now}); COMMIT`),
  ]);
  return committed;
}

/** Settings of the transaction, because statements in one message have no parameters. Their values are the texts of arrays. */
const passEvents = {
  name: "pass_events",
  text: "SELECT set_config('bridge.tasks', $1, true) IS NULL, set_config('bridge.types', $2, true) IS NULL, set_config('bridge.data', $3, true) IS NULL",
};

/**
 * Prepares the session of a writer. The statement is separate from the lock, because it has to see the events that the previous holder of
 * the lock has committed. The subquery on `counter` matters after the newest events were deleted.
 */
export const prepareNumbering = `PREPARE insert_events (bigint) AS
  WITH last AS (
      SELECT greatest((SELECT max(number) FROM event), (SELECT value FROM counter WHERE name = 'event_floor')) AS number),
    inserted AS (
      INSERT INTO event (number, task, type, at, data)
      SELECT last.number + e.position, e.task, e.type, $1, e.data
      FROM last, unnest(
        current_setting('bridge.tasks')::bigint[], current_setting('bridge.types')::text[], current_setting('bridge.data')::text[]
      ) WITH ORDINALITY AS e (task, type, data, position))
  SELECT number + 1 AS first FROM last`;
