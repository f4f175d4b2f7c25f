import { pino } from "pino";
import { expect, test } from "vitest";
import { logTaskEnd } from "../../../src/dispatch/end/record-task-end.ts";
import { createMetrics } from "../../../src/metrics.ts";
import { storedTask } from "../../support/stored-task.ts";

test("durations are not negative when the system clock is set back while a task runs", async () => {
  const metrics = createMetrics("test");
  const lines: string[] = [];
  const logger = pino({}, { write: (line: string) => void lines.push(line) });
  const task = storedTask({
    state: "completed",
    createdAt: 90_000,
    startedAt: 80_000,
    finishedAt: 10_000,
    result: { status: "ok", durationMs: 5, connection: "cli" },
  });
  logTaskEnd(task, { logger, metrics, runTraceparent: ({ traceparent }) => traceparent });
  expect(JSON.parse(lines[0] ?? "")).toMatchObject({ queuedMs: 0, runMs: 0 });
  const { values } = await metrics.executionDuration.get();
  expect(values.find(({ metricName }) => metricName?.endsWith("_sum"))?.value).toBe(0);
});
