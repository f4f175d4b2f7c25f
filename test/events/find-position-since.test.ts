import fc from "fast-check";
import { expect, test } from "vitest";
import { findPositionSince } from "../../src/events/find-position-since.ts";

/** A log of events in the order of their numbers. */
function createLog(events: readonly { number: number; at: number }[], last: number) {
  let reads = 0;
  return {
    store: {
      epoch: "epoch",
      catchUp: async () => last,
      async firstEventFrom(number: number) {
        reads += 1;
        return events.find((event) => event.number >= number) ?? null;
      },
    },
    reads: () => reads,
  };
}

/** Events whose numbers and times grow, with gaps where events were deleted. */
const logs = fc.array(fc.record({ step: fc.integer({ min: 1, max: 50 }), elapsed: fc.nat(5) }), { maxLength: 40 }).map((steps) => {
  const events: { number: number; at: number }[] = [];
  let [number, at] = [0, 1000];
  for (const { step, elapsed } of steps) {
    number += step;
    at += elapsed;
    events.push({ number, at });
  }
  return events;
});

test("the position is before the first event at the time or later, and after all earlier ones", async () => {
  await fc.assert(
    fc.asyncProperty(logs, fc.integer({ min: 990, max: 1210 }), fc.nat(20), async (events, since, deletedAtEnd) => {
      const last = (events.at(-1)?.number ?? 0) + deletedAtEnd;
      const position = await findPositionSince(createLog(events, last).store, since);
      expect(position?.epoch).toBe("epoch");
      const after = position?.number ?? -1;
      expect(after).toBeLessThanOrEqual(last);
      expect(events.filter(({ number }) => number > after)).toEqual(events.filter(({ at }) => at >= since));
    }),
  );
});

test("a search in a long log reads few events", async () => {
  const events = Array.from({ length: 100_000 }, (_, index) => ({ number: index + 1, at: index }));
  const log = createLog(events, events.length);
  expect(await findPositionSince(log.store, 54_321)).toEqual({ epoch: "epoch", number: 54_321 });
  expect(log.reads()).toBeLessThanOrEqual(17);
});
