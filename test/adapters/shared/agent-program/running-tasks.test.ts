import { expect, test } from "vitest";
import type { ExecutionResult } from "#contract";
import { createRunningTasks } from "../../../../adapters/shared/agent-program/running-tasks.ts";

test("a task that runs again can be canceled, also after its first run has ended late", async () => {
  const { run, cancel } = createRunningTasks();
  const ends: PromiseWithResolvers<ExecutionResult>[] = [];
  const signals: AbortSignal[] = [];
  const runOnce = () =>
    run("task", ({ signal }) => {
      signals.push(signal);
      const end = Promise.withResolvers<ExecutionResult>();
      ends.push(end);
      return end.promise;
    });
  const [first, second] = [runOnce(), runOnce()];
  const result: ExecutionResult = { status: "ok", durationMs: 0, connection: "cli" };
  ends[0]?.resolve(result);
  await first;
  expect(await cancel("task")).toBe(true);
  expect(signals.map(({ aborted }) => aborted)).toEqual([false, true]);
  ends[1]?.resolve(result);
  await second;
  expect(await cancel("task")).toBe(false);
});
