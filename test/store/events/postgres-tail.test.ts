import { setImmediate as nextTurn } from "node:timers/promises";
import fc from "fast-check";
import { expect, test } from "vitest";
import type { StoredEvent } from "../../../src/store/events/interface.ts";
import { createEventTail, type LogPage, type LogRange } from "../../../src/store/events/postgres-tail.ts";

const toEvent = (number: number): StoredEvent => ({
  number,
  task: { seq: 1, tenant: "default", taskId: "task", parentTaskId: null, agentId: "agent", provider: "command" },
  type: number % 3 === 0 ? "execution.completed" : "execution.progress",
  at: 0,
  data: "{}",
});

/** A log in memory, whose reads return when the test releases them, and the tail of a node on it. */
function openLog({ pageSize = 500 } = {}) {
  let committed: number[] = [];
  let last = 0;
  const published: number[] = [];
  /** Lengths of the published arrays. */
  const parts: number[] = [];
  const lags: number[] = [];
  const reads: { ranges: readonly LogRange[]; release(error?: Error): void }[] = [];
  const node = { needsAll: true };
  const tail = createEventTail({
    start: 0,
    read(ranges, needsAll) {
      const isInRange = (number: number) => ranges.some(({ after, through }) => number > after && number <= through);
      const inRange = committed.filter((number) => isInRange(number) && (needsAll || number % 3 === 0));
      const page: LogPage = { events: inRange.slice(0, pageSize).map(toEvent), isCut: inRange.length >= pageSize, last };
      return new Promise((resolve, reject) => {
        reads.push({ ranges, release: (error) => (error === undefined ? resolve(page) : reject(error)) });
      });
    },
    needsAll: () => node.needsAll,
    publish(events) {
      parts.push(events.length);
      published.push(...events.map(({ number }) => number));
    },
    onLag: (events) => lags.push(events),
    onMissing: () => void tail.catchUp().catch(() => {}),
  });
  return {
    tail,
    published,
    parts,
    lags,
    reads,
    node,
    /** Another node, or this one, commits events; returns them. */
    commit(count: number): StoredEvent[] {
      const numbers = Array.from({ length: count }, (_, index) => last + index + 1);
      committed.push(...numbers);
      last += count;
      return numbers.map(toEvent);
    },
    delete(numbers: readonly number[]): void {
      committed = committed.filter((number) => !numbers.includes(number));
    },
    /** The log loses the events after this number, as in a failover to a replica that lacks them. */
    lose(after: number): void {
      committed = committed.filter((number) => number <= after);
      last = after;
    },
    /** Lets all reads return, and those that follow. */
    async settle(): Promise<void> {
      for (;;) {
        await nextTurn();
        const read = reads.shift();
        if (read === undefined) return;
        read.release();
      }
    },
  };
}

test("own events that join on are published at once, without a read", () => {
  const { tail, published, reads, commit } = openLog();
  tail.addOwn(commit(2));
  tail.addOwn([]);
  tail.addOwn(commit(1));
  expect([published, tail.lastEventNumber(), reads.length]).toEqual([[1, 2, 3], 3, 0]);
});

test("after a rewind, a read that was under way publishes nothing, and later events are read from there", async () => {
  const { tail, published, reads, commit, settle, lose } = openLog();
  tail.addOwn(commit(3));
  commit(2);
  const caughtUp = tail.catchUp();
  expect(reads).toHaveLength(1);
  lose(2);
  tail.rewind(2);
  expect(tail.lastEventNumber()).toBe(2);
  commit(1);
  await settle();
  expect([published, await caughtUp]).toEqual([[1, 2, 3, 3], 3]);
});

test("own events wait for earlier events of another node, and are not read", async () => {
  const { tail, published, reads, commit, settle } = openLog();
  void tail.catchUp();
  commit(2);
  tail.addOwn(commit(1));
  commit(1);
  tail.addOwn(commit(2));
  expect(published).toEqual([]);
  reads.shift()?.release();
  await nextTurn();
  const [{ ranges } = { ranges: [] }] = reads;
  expect(ranges).toEqual([
    { after: 0, through: 2 },
    { after: 3, through: 4 },
    { after: 6, through: Number.MAX_SAFE_INTEGER },
  ]);
  await settle();
  expect(published).toEqual([1, 2, 3, 4, 5, 6]);
});

test("without readers, only essential events of other nodes are published, and all of this node", async () => {
  const { tail, published, node, commit, settle } = openLog();
  node.needsAll = false;
  commit(4);
  tail.addOwn(commit(1));
  await settle();
  expect([published, tail.lastEventNumber()]).toEqual([[3, 5], 5]);
  commit(3);
  const caughtUp = tail.catchUp();
  await settle();
  expect([published, await caughtUp]).toEqual([[3, 5, 6], 8]);
});

test("a reader that begins during a read of essential events gets all events after its position", async () => {
  const { tail, published, node, commit, settle } = openLog();
  node.needsAll = false;
  commit(2);
  const caughtUp = tail.catchUp();
  node.needsAll = true;
  await settle();
  expect([published, await caughtUp]).toEqual([[1, 2], 2]);
});

test("events of other nodes are published by a catch-up, which resolves with the last number", async () => {
  const { tail, published, commit, settle } = openLog({ pageSize: 2 });
  commit(5);
  const caughtUp = tail.catchUp();
  await settle();
  expect([await caughtUp, published]).toEqual([5, [1, 2, 3, 4, 5]]);
});

test("each read reports by how many events the node was behind", async () => {
  const { tail, lags, commit, settle } = openLog();
  tail.addOwn(commit(2));
  commit(3);
  void tail.catchUp();
  await settle();
  void tail.catchUp();
  await settle();
  expect(lags).toEqual([3, 0]);
});

test("a catch-up sees commits that end after an earlier read has begun", async () => {
  const { tail, published, commit, settle } = openLog();
  const first = tail.catchUp();
  commit(1);
  const second = tail.catchUp();
  await settle();
  expect([await first, await second, published]).toEqual([0, 1, [1]]);
});

test("own events that a read returns before their commit is answered are published once", async () => {
  const { tail, published, commit, settle } = openLog();
  const events = commit(2);
  const caughtUp = tail.catchUp();
  tail.addOwn(events);
  await settle();
  tail.addOwn(commit(1));
  expect([await caughtUp, published]).toEqual([2, [1, 2, 3]]);
});

test("own events with unknown numbers are read", async () => {
  const { tail, published, commit, settle } = openLog();
  commit(2);
  tail.addOwn(null);
  await settle();
  expect(published).toEqual([1, 2]);
});

test("a read and the own commits that waited for it are published as one array, so that no client gets several at once", async () => {
  const { tail, parts, commit, settle } = openLog();
  commit(1);
  for (let count = 0; count < 5; count += 1) tail.addOwn(commit(300));
  await settle();
  expect(parts).toEqual([1501]);
});

test("deleted events leave a gap that the tail passes", async () => {
  const log = openLog();
  log.commit(3);
  log.delete([2, 3]);
  log.tail.addOwn(log.commit(1));
  await log.settle();
  log.commit(2);
  log.delete([5, 6]);
  const last = log.tail.catchUp();
  await log.settle();
  expect([log.published, await last]).toEqual([[1, 4], 6]);
});

test("a read that fails is repeated by the next catch-up, and nothing is published twice", async () => {
  const { tail, published, reads, commit, settle } = openLog();
  commit(1);
  tail.addOwn(commit(1));
  reads.shift()?.release(new Error("away"));
  await nextTurn();
  expect(published).toEqual([]);
  const caughtUp = tail.catchUp();
  await settle();
  expect([await caughtUp, published]).toEqual([2, [1, 2]]);
});

test("if many own events wait for a read, they are read from the log instead of held", async () => {
  const { tail, published, reads, commit, settle } = openLog();
  commit(1);
  tail.addOwn(commit(10_001));
  await settle();
  expect(reads).toEqual([]);
  expect(published).toEqual(Array.from({ length: 10_002 }, (_, index) => index + 1));
});

test("for any order of commits, deletions and reads, every event is published once and in order", async () => {
  const step = fc.oneof(
    fc.record({ kind: fc.constantFrom("own", "late", "unknown", "foreign"), count: fc.integer({ min: 1, max: 4 }) }),
    fc.constantFrom({ kind: "hint" as const }, { kind: "read" as const }, { kind: "fail" as const }),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
      const { tail, published, reads, commit, settle } = openLog({ pageSize: 3 });
      let count = 0;
      let late: StoredEvent[] = [];
      const answer = (): void => {
        tail.addOwn(late);
        late = [];
      };
      for (const one of steps) {
        if ("count" in one) {
          const events = commit(one.count);
          count += one.count;
          // A commit of this node is answered before its next one.
          if (one.kind !== "foreign") answer();
          if (one.kind === "late") late = events;
          if (one.kind === "own") tail.addOwn(events);
          if (one.kind === "unknown") tail.addOwn(null);
        } else if (one.kind === "hint") tail.catchUp().catch(() => {});
        else {
          reads.shift()?.release(one.kind === "fail" ? new Error("away") : undefined);
          await nextTurn();
        }
      }
      const caughtUp = tail.catchUp();
      caughtUp.catch(() => {});
      answer();
      await settle();
      expect([await caughtUp, published]).toEqual([count, Array.from({ length: count }, (_, index) => index + 1)]);
    }),
    { numRuns: 300 },
  );
});
