import type { BatchWriter } from "../engines/postgres/batch-writer.ts";
import type { Reader } from "../engines/postgres/reader-pool.ts";
import { toStatement } from "../engines/postgres/to-statement.ts";
import { oldestPending, pendingOfQueue, pendingQueues } from "./callback-queues.ts";
import {
  callbackColumns,
  callbackDetailColumns,
  dueCallbackColumns,
  type ReadGapped,
  toCallback,
  toCallbackDetails,
  toDueCallback,
} from "./callback-rows.ts";
import type { CallbackStore } from "./interface.ts";
import { type CallbackQueue, callbackStates } from "./interface.ts";
import { isForeign, releaseIdleOriginsOperation, takeOriginsOperation } from "./postgres-origins.ts";

/** A node releases origins without pending callbacks after this time, as long as it remembers which origins did not respond. */
const IDLE_ORIGIN_MS = 600_000;
const RELEASE_INTERVAL_MS = 60_000;

/** The other parts of the store that callback reads use. */
interface Dependencies {
  readGapped: ReadGapped;
  /** Reads the clock of the server. If it was set back, first restarts the delays of pending callbacks. */
  correctSchedule(): Promise<number>;
  /** The id of this node. */
  node: string;
  /** Whether this node posts callbacks. */
  delivers: boolean;
  writer: Pick<BatchWriter, "write">;
}

/** Reads the callback outbox. Due callbacks are those to the origins that this node has or can take. */
export function createCallbackReads(reader: Reader, { readGapped, correctSchedule, node, delivers, writer }: Dependencies) {
  let releasedAt = performance.now();

  async function releaseIdleOrigins(): Promise<void> {
    if (performance.now() - releasedAt < RELEASE_INTERVAL_MS) return;
    releasedAt = performance.now();
    await writer.write(releaseIdleOriginsOperation, { node, idleForMs: IDLE_ORIGIN_MS });
  }

  /** Returns the queues to the origins that this node has, after it has taken those that no live node has. */
  async function takeQueues(queues: readonly (CallbackQueue & { isOwn: boolean })[]): Promise<CallbackQueue[]> {
    const origins = queues.filter(({ isOwn }) => !isOwn).map(({ origin }) => origin);
    const taken = origins.length === 0 ? new Set() : await writer.write(takeOriginsOperation, { origins, deliverer: node });
    return queues.filter(({ isOwn, origin }) => isOwn || taken.has(origin)).map(({ tenant, origin }) => ({ tenant, origin }));
  }

  return {
    async findCallback(taskSeq) {
      const row = await reader.get(selectCallback, taskSeq);
      return row === undefined ? null : toCallback(row);
    },
    async findCallbackDetails(taskSeq) {
      const row = await reader.get(selectDetails, taskSeq);
      return row === undefined ? null : toCallbackDetails(row);
    },
    async listCallbacks(tenant, state, { before, limit }) {
      // One index serves lists with and without a state: the newest callbacks are among the newest ones of each state.
      const states = state === undefined ? callbackStates : [state];
      const pages = states.map((one) => reader.all(selectCallbacks, tenant, one, before ?? Number.MAX_SAFE_INTEGER, limit));
      const rows = (await Promise.all(pages)).flat();
      return rows
        .toSorted((a, b) => Number(b["seq"]) - Number(a["seq"]))
        .slice(0, limit)
        .map(toCallback);
    },
    async listDueCallbackQueues() {
      if (!delivers) return [];
      await releaseIdleOrigins();
      const rows = await reader.all(selectDueQueues, await correctSchedule(), node);
      return takeQueues(rows.map((row) => ({ tenant: String(row["tenant"]), origin: String(row["origin"]), isOwn: row["own"] === true })));
    },
    async listDueCallbacks({ tenant, origin }, limit, inProgress = new Set()) {
      const rows = await reader.all(selectDue, origin, tenant, await correctSchedule(), [...inProgress], limit, node);
      return rows.map((row) => toDueCallback(row, readGapped));
    },
    async nextCallbackInMs() {
      if (!delivers) return null;
      const now = await correctSchedule();
      const next = (await reader.get(selectNext, now, node))?.["at"];
      return typeof next === "number" ? next - now : null;
    },
    async oldestCallbackMs() {
      const endedAt = (await reader.get(selectOldest))?.["at"];
      return typeof endedAt === "number" ? Math.max(0, (await correctSchedule()) - endedAt) : null;
    },
  } satisfies Partial<CallbackStore>;
}

const fromCallbacks = "FROM callback c JOIN task t ON t.seq = c.task";
const selectCallback = toStatement(`SELECT ${callbackColumns} ${fromCallbacks} WHERE c.task = $1`);

const selectDetails = toStatement(`SELECT ${callbackDetailColumns} ${fromCallbacks} WHERE c.task = $1`);

const selectCallbacks = toStatement(
  `SELECT ${callbackColumns} FROM (
     SELECT * FROM callback WHERE tenant = $1 AND state = $2 AND task < $3 ORDER BY task DESC LIMIT $4) AS c
   JOIN task t ON t.seq = c.task ORDER BY c.task DESC`,
);

const selectOldest = toStatement(oldestPending);

const isAvailable = `NOT ${isForeign({ origin: "queue.origin", node: "$2" })}`;
const selectDueQueues = toStatement(
  `${pendingQueues} SELECT origin, tenant, EXISTS (SELECT 1 FROM callback_origin o WHERE o.origin = queue.origin AND o.node = $2) AS own
   FROM queue WHERE (SELECT min(next_at) ${pendingOfQueue}) <= $1 AND ${isAvailable}`,
);
const selectNext = toStatement(
  `${pendingQueues} SELECT min((SELECT min(next_at) ${pendingOfQueue} AND c.next_at > $1)) AS at FROM queue WHERE ${isAvailable}`,
);

/** Loads only the bodies that are returned, because a body can be long. Finds nothing after another node has taken the origin. */
const selectDue = toStatement(
  `SELECT ${dueCallbackColumns} FROM (
     SELECT task FROM callback c WHERE state = 'pending' AND origin = $1 AND tenant = $2 AND next_at <= $3 AND task <> ALL ($4::bigint[])
       AND EXISTS (SELECT 1 FROM callback_origin o WHERE o.origin = $1 AND o.node = $6)
       AND NOT EXISTS (SELECT 1 FROM callback_dedup d WHERE d.task = c.task) ORDER BY next_at, task LIMIT $5) AS due
   JOIN callback c ON c.task = due.task JOIN task t ON t.seq = c.task ORDER BY c.next_at, c.task`,
);
