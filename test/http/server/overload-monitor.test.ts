import { pino } from "pino";
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { createApp } from "../../../src/app/create-app.ts";
import { loadConfig } from "../../../src/app/load-config.ts";
import { createOverloadMonitor } from "../../../src/http/server/overload-monitor.ts";
import { createInMemoryAdapter } from "../../adapters/in-memory-adapter.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";

const block = (ms: number): void => {
  for (const end = performance.now() + ms; performance.now() < end; );
};

describe("overload detection", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  /** Returns whether the monitor reports overload after each sample, for samples with these mean delays in ms. */
  function judge(meansMs: readonly number[]): boolean[] {
    const delays = { mean: Number.NaN, enable() {}, disable() {}, reset() {} };
    const overload = createOverloadMonitor({ maxDelayMs: 500, delays });
    overload.start();
    const overloaded = meansMs.map((meanMs) => {
      delays.mean = meanMs * 1e6;
      vi.advanceTimersByTime(1000);
      return overload.isOverloaded;
    });
    overload.close();
    return overloaded;
  }

  test.each<[string, number[], boolean[]]>([
    ["an idle loop is not overloaded", [10, 10, 11], [false, false, false]],
    ["one sample with a long block, as after SIGSTOP or one expensive request, is not overload", [10, 6000, 10], [false, false, false]],
    ["two blocked samples with a normal one between them are not overload", [6000, 10, 6000, 10], [false, false, false, false]],
    ["two consecutive slow samples are overload until the first normal one", [600, 600, 700, 20], [false, true, true, false]],
    ["a sample without a measurement does not count as slow", [Number.NaN, 600, 10], [false, false, false]],
    [
      "a sample without a measurement does not count as normal between two slow ones",
      [6000, Number.NaN, 6000, Number.NaN, 10],
      [false, false, true, true, false],
    ],
  ])("%s", (_, meansMs, overloaded) => {
    expect(judge(meansMs)).toEqual(overloaded);
  });

  test("nothing is measured before the start, or with a limit of 0", () => {
    const delays = { mean: 9e9, enable: vi.fn(), disable() {}, reset() {} };
    const waiting = createOverloadMonitor({ maxDelayMs: 500, delays });
    const never = createOverloadMonitor({ maxDelayMs: 0, delays });
    never.start();
    vi.advanceTimersByTime(5000);
    expect([waiting.isOverloaded, never.isOverloaded, delays.enable.mock.calls.length]).toEqual([false, false, 0]);
  });
});

test("a start that blocks the event loop for seconds does not cause the first dispatches to be rejected", async () => {
  const dataDir = await temporaryDirectory();
  const tokenHash = "2bb80d537b1da3e38bd30361aa855686bde0eacd7162fef6a25fe97bf527a25b";
  const { config } = loadConfig({ BRIDGE_PORT: "0", BRIDGE_DATA_DIR: dataDir, BRIDGE_GATEWAY_TOKEN_HASH: tokenHash });
  const adapter = createInMemoryAdapter({ run: async () => ({ output: "done" }) });
  const app = await createApp(config, pino({ level: "silent" }), { adapters: [{ provider: adapter.provider, adapter }] });
  onTestFinished(() => app.close());
  block(2500);
  const url = await app.start();
  const answer = await fetch(`${url}/api/v2/dispatch`, {
    method: "POST",
    headers: { authorization: "Bearer secret", "content-type": "application/json" },
    body: JSON.stringify({ provider: "memory", agentId: "a", message: "x" }),
  });
  expect(answer.status).toBe(202);
});
