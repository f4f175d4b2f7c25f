import { mkdirSync } from "node:fs";
import path from "node:path";
import { expect, onTestFinished, test } from "vitest";
import type { ExecutionResult } from "#contract";
import { createPanelAdapter } from "../../../adapters/council/index.ts";
import { programCapabilities } from "../../../adapters/shared/agent-program/capabilities.ts";
import { createAdapterConfig } from "../../conformance/adapter-config.ts";
import { createExecutionRequest } from "../../conformance/execution-request.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";

const known = { usage: { inputTokens: 100, outputTokens: 10 }, costUsd: 0.1 };

test.each([
  [
    "the sum if every role reports them",
    [known, known, known],
    { usage: { inputTokens: 300, outputTokens: 30 }, costUsd: 0.1 + 0.1 + 0.1 },
  ],
  ["absent if one role reports none", [known, {}, known], {}],
  ["independent of each other", [known, { usage: known.usage }, known], { usage: { inputTokens: 300, outputTokens: 30 } }],
])("usage and cost of a council are %s", async (_, reported, expected) => {
  const root = await temporaryDirectory();
  const workspace = path.join(root, "workspace");
  mkdirSync(workspace);
  const answers = [...reported];
  const adapter = createPanelAdapter("claude");
  await adapter.initialize(
    createAdapterConfig(root, {
      describeProvider: () => ({
        health: "healthy",
        connection: "cli",
        path: null,
        detail: null,
        capabilities: programCapabilities,
        timeoutMultiplier: 1,
      }),
      runChild: async (): Promise<ExecutionResult> => ({
        ...{ status: "ok", output: '{"outputs": []}', durationMs: 1, connection: "cli" },
        ...answers.shift(),
      }),
    }),
  );
  onTestFinished(() => adapter.shutdown());
  const result = await adapter.execute(
    createExecutionRequest(workspace, {
      message: "",
      profile: "inspect",
      approvals: "deny",
      bridgeInput: { scope: "login.ts", task_description: "Review.", task_type: "review", domains: ["security"], intensity: "quick" },
    }),
  );
  expect(result).toMatchObject({ status: "ok" });
  expect({ usage: result.usage, costUsd: result.costUsd }).toEqual({ usage: undefined, costUsd: undefined, ...expected });
  expect(answers).toEqual([]);
});
