import { pino } from "pino";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { createScheduler } from "../../../src/dispatch/scheduler/scheduler.ts";
import { createQueueCounts } from "../../../src/dispatch/sharing/queue-counts.ts";
import { unlimitedQuota } from "../engine.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test("a node counts the queue again soon after the network has delayed a reading", async () => {
  const durations = [30_000, 10];
  let readings = 0;
  const counts = createQueueCounts({
    store: {
      async countQueuedTasks() {
        readings += 1;
        await new Promise((resolve) => setTimeout(resolve, durations.shift() ?? 10));
        return [];
      },
    },
    eventLog: { subscribe: () => () => {} },
    scheduler: createScheduler({ maxConcurrent: () => 1, queueLimit: 10, quotaOf: () => unlimitedQuota, ownNode: "n1" }),
    fillSlots() {},
    logger: pino({ level: "silent" }),
  });
  counts.start();
  await vi.advanceTimersByTimeAsync(45_000);
  counts.close();
  expect(readings).toBeGreaterThan(1);
});
