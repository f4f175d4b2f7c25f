import fc from "fast-check";
import { expect, test } from "vitest";
import { addStored, changeTally, correctTally, createTally } from "../../../src/dispatch/scheduler/queue-tally.ts";

/** A stored queue, writes of this process that are under way, and a tally that follows them. */
function simulate() {
  const tally = createTally();
  const underWay: { commit(): void; answer(): void; isCommitted: boolean }[] = [];
  let stored = 0;
  let claiming = 0;
  let reading = 0;
  let snapshot: number | null = null;
  const write = (commit: () => void, answer: () => void) => void underWay.push({ commit, answer, isCommitted: false });
  const actions = {
    arrive() {
      changeTally(tally, "arrive", reading);
      write(
        () => (stored += 1),
        () => changeTally(tally, "store", reading),
      );
    },
    arriveAndStart() {
      changeTally(tally, "arrive", reading);
      write(
        () => {},
        () => changeTally(tally, "retract", reading),
      );
    },
    claim() {
      if (tally.count <= claiming) return;
      claiming += 1;
      let isStarted = false;
      write(
        () => {
          isStarted = stored > 0;
          if (isStarted) stored -= 1;
        },
        () => {
          claiming -= 1;
          if (isStarted) changeTally(tally, "remove", reading);
        },
      );
    },
    /** The oldest write is committed, or its answer arrives. */
    advance() {
      const next = underWay.find(({ isCommitted }) => !isCommitted);
      if (next === undefined) return actions.answer();
      next.isCommitted = true;
      next.commit();
    },
    answer() {
      const [oldest] = underWay;
      if (oldest?.isCommitted !== true) return;
      underWay.shift();
      oldest.answer();
    },
    beginReading() {
      if (snapshot !== null) return;
      reading += 1;
      snapshot = -1;
    },
    takeSnapshot() {
      if (snapshot === -1) snapshot = stored;
    },
    endReading() {
      if (snapshot === null || snapshot === -1) return;
      correctTally(tally, { reading, read: snapshot, claiming });
      snapshot = null;
    },
    foreignArrival() {
      stored += 1;
    },
    foreignStart() {
      if (stored > 0) stored -= 1;
    },
  };
  function settle(): void {
    while (underWay.length > 0) actions.advance();
    actions.takeSnapshot();
    actions.endReading();
  }
  return { tally, actions, settle, stored: () => stored };
}

const own = ["arrive", "arriveAndStart", "claim", "advance", "advance", "answer", "beginReading", "takeSnapshot", "endReading"] as const;
const foreign = [...own, "foreignArrival", "foreignStart"] as const;

test("without other processes, the count is exact whenever no write is under way, however writes and readings overlap", () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...own), { maxLength: 100, size: "max" }), (steps) => {
      const { tally, actions, settle, stored } = simulate();
      for (const step of steps) actions[step]();
      settle();
      expect(tally.count).toBe(stored());
    }),
    { numRuns: 1000 },
  );
});

test("a reading during which nothing changes makes the count exact, whatever other processes have changed", () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...foreign), { maxLength: 100, size: "max" }), (steps) => {
      const { tally, actions, settle, stored } = simulate();
      for (const step of steps) actions[step]();
      settle();
      actions.beginReading();
      actions.takeSnapshot();
      actions.endReading();
      expect(tally.count).toBe(stored());
    }),
    { numRuns: 1000 },
  );
});

test("a count does not drift while tasks arrive and start without a pause", () => {
  const tally = createTally();
  addStored(tally, 5, 0);
  for (let reading = 1; reading <= 100; reading += 1) {
    changeTally(tally, "arrive", reading);
    // Another process starts each task before the reading.
    correctTally(tally, { reading, read: 0, claiming: 0 });
    changeTally(tally, "store", reading);
    expect(tally.count).toBeLessThanOrEqual(1);
  }
});
