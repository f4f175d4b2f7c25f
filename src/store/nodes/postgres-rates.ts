import type { Reader } from "../engines/postgres/reader-pool.ts";
import { toStatement } from "../engines/postgres/statements.ts";
import type { RateStore } from "./interface.ts";

const MINUTE_MS = 60_000;

/**
 * Creates the counts of requests. Each addition is a separate transaction and not part of a batch, because all nodes change the same rows,
 * and a batch would keep them locked until its end.
 */
export function createRateCounts(reader: Reader): RateStore {
  let lastMinute = 0;
  return {
    async addRateCounts(counts) {
      const rows = await reader.all(addCounts, [...counts.keys()], [...counts.values()]);
      const [{ minute, at } = { minute: 0, at: 0 }] = rows;
      if (Number(minute) > lastMinute) await reader.all(deleteOldCounts, Number(minute));
      lastMinute = Number(minute);
      return {
        sums: new Map(rows.map(({ name, count }) => [String(name), Number(count)])),
        endsInMs: (Number(minute) + 1) * MINUTE_MS - Number(at),
      };
    },
  };
}

/** Sorted, because two nodes that add to the same rows in a different order would deadlock. */
const addCounts = toStatement(
  `WITH clock AS MATERIALIZED (SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint AS at),
   added AS (
     INSERT INTO rate (name, minute, count)
     SELECT given.name, clock.at / ${MINUTE_MS}, given.count
     FROM clock, unnest($1::text[], $2::integer[]) AS given (name, count) ORDER BY given.name
     ON CONFLICT (name, minute) DO UPDATE SET count = rate.count + excluded.count RETURNING name, minute, count)
   SELECT added.name, added.count, added.minute, clock.at FROM added, clock`,
);

/** Other nodes delete the same rows. */
const deleteOldCounts = toStatement(
  `WITH old AS MATERIALIZED (SELECT name, minute FROM rate WHERE minute < $1 FOR UPDATE SKIP LOCKED)
   DELETE FROM rate USING old WHERE rate.name = old.name AND rate.minute = old.minute`,
);
