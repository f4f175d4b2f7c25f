import { expect, test } from "vitest";
import { messageFor, startFakeGateway } from "./fake-gateway.ts";
import { callsOf, runOf, startAdapter } from "./task-fixture.ts";

/** Starts a task whose gateway reports that it will call the model again after a delay. */
async function startWaiting(delayMs: number) {
  const fake = await startFakeGateway();
  const { start } = await startAdapter(fake);
  const task = start(messageFor({ hang: true }));
  const { runId, run } = await runOf(fake, task);
  const data = { phase: "retrying", message: "Retrying… 2/10", retryAttempt: 1, maxRetries: 9, delayMs, reason: "rate_limit" };
  fake.emit("agent", { runId, sessionKey: run.sessionKey, stream: "run_status", data });
  return { fake, run, task };
}

test("a run that would wait two hours for the end of a limit is stopped, and its task is rate_limited with the time", async () => {
  const startedAt = Date.now();
  const { fake, run, task } = await startWaiting(7_200_000);
  const { result } = await task.done;
  expect(result).toMatchObject({ status: "error", errorCode: "rate_limited", resumeToken: run.sessionKey });
  const [time = ""] = /\d{4}-\S+Z/.exec(result.error ?? "") ?? [];
  expect(Date.parse(time)).toBeGreaterThanOrEqual(startedAt + 7_200_000);
  expect(callsOf(fake, "sessions.abort")).toMatchObject([{ params: { key: run.sessionKey } }]);
});

test("a run that waits a second for the end of a limit continues", async () => {
  const { fake, run, task } = await startWaiting(1_000);
  await expect.poll(() => task.events.map(({ type }) => type)).toContain("execution.progress");
  run.settle("speak");
  expect((await task.done).result).toMatchObject({ status: "ok" });
  expect(callsOf(fake, "sessions.abort")).toEqual([]);
});
