import { expect, onTestFinished, test } from "vitest";
import { PROMPT_OPENING } from "../../adapters/shared/agent-program/prompt.ts";
import { createModelServer } from "./model-server/server.ts";
import { openCellBench } from "./table/cell-bench.ts";
import { runtimes } from "./table/runtimes.ts";

test("a task whose vendor rejects Claude Code continues on Codex, with the cost of both attempts", async () => {
  const model = await createModelServer({ messagePrefix: PROMPT_OPENING });
  const bench = await openCellBench(
    "claude",
    "cli",
    {
      ...runtimes.codex.environment(model.url),
      ...{ BRIDGE_ADAPTERS: "claude,codex", BRIDGE_CODEX_CONNECTION: "cli", BRIDGE_MODEL_PROXY: "required" },
    },
    model,
  );
  onTestFinished(() => bench.close());
  const listConnections = async (): Promise<(string | null)[]> => {
    const response = await bench.bridge.call("GET", "/api/v2/adapters");
    const { data } = (await response.json()) as { data: { health: { connection: string | null } }[] };
    return data.map(({ health }) => health.connection);
  };
  await expect.poll(listConnections).toEqual(["cli", "cli"]);

  // Each program calls the shell first. The second call of Claude Code is rejected.
  const marker = model.scenario([
    { tools: [{ kind: "shell", command: "echo seen" }] },
    { error: 429, headers: { "retry-after": "7200" }, times: 1 },
    { text: "Done by the other program." },
  ]);
  const startedAt = Date.now();
  const taskId = await bench.dispatch({
    provider: "claude",
    message: `Review it. ${marker}`,
    profile: "inspect",
    fallbacks: [{ provider: "codex", model: runtimes.codex.model }],
    timeoutSeconds: 120,
  });
  const { state, result } = await bench.ended(taskId);
  expect({ state, error: result?.error, output: result?.output }).toEqual({ state: "completed", output: "Done by the other program." });

  const attempts = result?.attempts ?? [];
  expect(attempts).toMatchObject([
    { number: 1, provider: "claude", errorCode: "rate_limited" },
    { number: 2, provider: "codex", model: runtimes.codex.model },
  ]);
  const costs = attempts.map(({ costUsd }) => costUsd ?? 0);
  for (const cost of costs) expect(cost).toBeGreaterThan(0);
  expect(result?.costUsd).toBeCloseTo((costs[0] as number) + (costs[1] as number), 9);
  const events = await bench.events(taskId);
  expect(events.filter(({ type }) => type === "execution.started")).toHaveLength(1);
  expect(events.find(({ type }) => type === "execution.attempt")?.data).toMatchObject({ provider: "claude", errorCode: "rate_limited" });
  // The rejected adapter cools down for two hours from the rejected call.
  expect(Date.parse((await bench.adapter()).cooldownUntil ?? "")).toBeGreaterThanOrEqual(startedAt + 7_200_000);
});
