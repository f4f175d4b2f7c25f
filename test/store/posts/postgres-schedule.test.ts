import { expect, test } from "vitest";
import type { BatchWriter } from "../../../src/store/engines/postgres/batch-writer.ts";
import { createCallbackSchedule } from "../../../src/store/posts/postgres-schedule.ts";

/** A schedule whose first correction, which each start makes, has happened at the time 1000. */
async function open() {
  const server = { now: 1000, corrections: 0 };
  const write = async (): Promise<never> => {
    server.corrections += 1;
    return undefined as never;
  };
  const schedule = createCallbackSchedule({ write } satisfies Pick<BatchWriter, "write">, async () => server.now);
  await schedule.correct();
  server.corrections = 0;
  return { server, schedule };
}

test("the time of a write that arrives after a later one does not count as a clock that was set back", async () => {
  const { server, schedule } = await open();
  const askedAt = performance.now();
  server.now = 1030;
  await schedule.correct();
  schedule.track(1010, askedAt);
  await schedule.correct();
  expect(server.corrections).toBe(0);
});

test("a clock that was set back is corrected once, also if a write shows it", async () => {
  const { server, schedule } = await open();
  server.now = 900;
  await schedule.correct();
  await schedule.correct();
  expect(server.corrections).toBe(1);
  schedule.track(800, performance.now());
  server.now = 950;
  await schedule.correct();
  expect(server.corrections).toBe(2);
});
