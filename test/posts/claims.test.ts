import { setImmediate as nextTurn } from "node:timers/promises";
import fc from "fast-check";
import { expect, test } from "vitest";
import { createClaims } from "../../src/posts/claims.ts";
import type { DueCallback, PostQueue } from "../../src/store/posts/interface.ts";

test("a callback that becomes due between two reads of the store is posted immediately", async () => {
  const queue = { tenant: "default", receiver: "http://127.0.0.1:1" };
  const callback = { row: 1, tenant: "default", receiver: queue.receiver, heldLength: 0 } as unknown as DueCallback;
  let now = 0;
  let isDelivered = false;
  const isDue = () => now >= 1 && !isDelivered;
  // Each read takes time.
  const read = <Result>(result: Result): Promise<Result> => {
    now += 1;
    return Promise.resolve(result);
  };
  const claims = createClaims<DueCallback>({
    outbox: {
      listDueQueues: () => read(isDue() ? [queue] : []),
      nextInMs: () => read(isDue() || isDelivered ? null : 1),
      listDue: async () => (isDue() ? [callback] : []),
    },
    deliver() {
      isDelivered = true;
      return { settled: Promise.resolve(true), ended: Promise.resolve(true) };
    },
    onFault(error) {
      throw error;
    },
  });
  claims.start();
  await expect.poll(() => isDelivered).toBe(true);
  claims.stop();
});

test("a shutdown waits for a new callback whose POST starts in a later turn of the event loop", async () => {
  const callback = { row: 1, tenant: "default", receiver: "http://127.0.0.1:1", heldLength: 0 } as unknown as DueCallback;
  const delivered = Promise.withResolvers<true>();
  let posts = 0;
  const claims = createClaims<DueCallback>({
    outbox: { listDueQueues: async () => [], nextInMs: async () => null, listDue: async () => [] },
    deliver() {
      posts += 1;
      return { settled: delivered.promise, ended: delivered.promise };
    },
    onFault(error) {
      throw error;
    },
  });
  claims.start();
  await nextTurn();
  claims.handOver(callback);
  expect(posts).toBe(0);
  claims.stop();
  let isIdle = false;
  const idle = claims.waitUntilIdle(60_000).then(() => {
    isIdle = true;
  });
  await nextTurn();
  expect([posts, isIdle]).toEqual([1, false]);
  delivered.resolve(true);
  await idle;
});

/** One step of the life of a worker. */
type Step =
  | { do: "commit"; tenant: string; receiver: string }
  /** A POST in progress ends. */
  | { do: "end"; index: number; responded: boolean }
  | { do: "turn" }
  /** Promise reactions run, within one turn. */
  | { do: "react" };

const tenant = fc.constantFrom("a", "b", "c");
const receiver = fc.constantFrom("http://x", "http://y");
const step = fc.oneof<fc.WeightedArbitrary<Step>[]>(
  { weight: 6, arbitrary: fc.record({ do: fc.constant("commit" as const), tenant, receiver }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant("end" as const), index: fc.nat(), responded: fc.boolean() }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constantFrom("turn" as const, "react" as const) }) },
);

/** A callback as the model sees it: `waiting` in the outbox: store, `posting`, or `over`. */
interface Row {
  callback: DueCallback;
  state: "waiting" | "posting" | "over";
  end(responded: boolean): void;
}

/** A callback is stored after the turn of its queue has been noted, and before the claim. */
const beforeClaim: Step[] = [
  ...Array.from({ length: 8 }, (): Step => ({ do: "commit", tenant: "a", receiver: "http://x" })),
  { do: "react" },
  { do: "commit", tenant: "a", receiver: "http://x" },
];

test("a callback never overtakes an older one of its queue, is posted once, and no receiver gets more than its posts", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.record({ tenant, receiver }), { maxLength: 30 }),
      fc.array(step, { maxLength: 150 }),
      async (backlog, steps) => {
        const rows: Row[] = [];
        const faults: string[] = [];
        const unresponsive = new Set<string>();
        const ofQueue = (queue: PostQueue) =>
          rows.filter(({ callback }) => callback.tenant === queue.tenant && callback.receiver === queue.receiver);
        const claims = createClaims<DueCallback>({
          outbox: {
            listDueQueues: async () =>
              rows
                .filter(({ state }) => state === "waiting")
                .map(({ callback }) => ({ tenant: callback.tenant, receiver: callback.receiver })),
            nextInMs: async () => null,
            // A callback that is being posted is still due in the store.
            listDue: async (queue, limit, inProgress = new Set()) =>
              ofQueue(queue)
                .filter(({ state, callback }) => state !== "over" && !inProgress.has(callback.row))
                .slice(0, limit)
                .map(({ callback }) => callback),
          },
          deliver(callback) {
            const row = rows[callback.row] as Row;
            const seq = callback.row;
            if (row.state !== "waiting") faults.push(`${seq} is posted again`);
            row.state = "posting";
            const older = ofQueue({ tenant: callback.tenant, receiver: callback.receiver }).find(({ state }) => state === "waiting");
            if (older !== undefined && older.callback.row < seq) faults.push(`${seq} overtakes ${older.callback.row}`);
            const posts = rows.filter(({ state, callback: { receiver } }) => state === "posting" && receiver === callback.receiver).length;
            if (posts > (unresponsive.has(callback.receiver) ? 1 : 8)) faults.push(`${posts} posts to ${callback.receiver}`);
            const over = Promise.withResolvers<boolean>();
            row.end = over.resolve;
            return { settled: over.promise.then(() => true), ended: over.promise };
          },
          onFault(error) {
            throw error;
          },
        });
        const commit = (queue: PostQueue): DueCallback => {
          const callback = {
            row: rows.length,
            tenant: queue.tenant,
            receiver: queue.receiver,
            heldLength: 1,
          } as unknown as DueCallback;
          rows.push({ callback, state: "waiting", end() {} });
          return callback;
        };
        const end = (row: Row, responded: boolean): void => {
          row.state = "over";
          if (responded) unresponsive.delete(row.callback.receiver);
          else unresponsive.add(row.callback.receiver);
          row.end(responded);
        };
        const posting = () => rows.filter(({ state }) => state === "posting");

        for (const queue of backlog) commit(queue);
        claims.start();
        for (const one of steps) {
          // A receiver that stops responding keeps the posts that were started before.
          if (one.do === "turn" || one.do === "end") await nextTurn();
          if (one.do === "commit") claims.handOver(commit(one));
          if (one.do === "end" && posting().length > 0) end(posting()[one.index % posting().length] as Row, one.responded);
          if (one.do === "end" || one.do === "react") for (let reactions = 0; reactions < 20; reactions += 1) await null;
        }
        // Everything is posted in the end.
        for (let turns = 0; turns < 1000 && rows.some(({ state }) => state !== "over"); turns += 1) {
          for (const row of posting()) end(row, true);
          await nextTurn();
        }
        claims.stop();
        expect(faults).toEqual([]);
        expect(rows.filter(({ state }) => state !== "over")).toEqual([]);
      },
    ),
    { numRuns: 300, examples: [[[], beforeClaim]] },
  );
});
