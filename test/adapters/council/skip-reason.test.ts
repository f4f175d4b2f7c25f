import { expect, onTestFinished, test } from "vitest";
import { createPanelAdapter } from "../../../adapters/council/index.ts";
import { programCapabilities } from "../../../adapters/shared/agent-program/capabilities.ts";
import { createAdapterConfig } from "../../conformance/adapter-config.ts";
import { createExecutionRequest } from "../../conformance/execution-request.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";

test("a panel on an offline runtime reports the reason of its health, with the remedy", async () => {
  const workspace = await temporaryDirectory();
  const detail = "claude is not on the PATH. Run npm install -g @anthropic-ai/claude-code.";
  const adapter = createPanelAdapter("claude");
  await adapter.initialize(
    createAdapterConfig(workspace, {
      describeProvider: () => ({
        ...{ health: "offline", connection: null, path: null, detail },
        ...{ capabilities: programCapabilities, timeoutMultiplier: 1 },
      }),
      runChild: async () => ({
        ...{ status: "error", errorCode: "adapter_offline", error: "GET /api/v2/adapters reports the reason." },
        ...{ durationMs: 0, connection: "cli" },
      }),
    }),
  );
  onTestFinished(() => adapter.shutdown());
  const result = await adapter.execute(
    createExecutionRequest(workspace, {
      message: "",
      bridgeInput: { scope: "login.ts", task_description: "Review.", task_type: "review", domains: ["security"], intensity: "quick" },
    }),
  );
  expect(result.outputs).toMatchObject({ status: "SKIPPED", skip_reason: `adapter_offline: ${detail}` });
});

test.each([
  ["could not be loaded", "Cannot find the package of claude. Run npm install.", "Cannot find the package of claude. Run npm install."],
  ["is not configured", null, "not loaded; add it to BRIDGE_ADAPTERS"],
])("a panel on a runtime that %s reports this reason", async (_, failure, reason) => {
  const workspace = await temporaryDirectory();
  const adapter = createPanelAdapter("claude");
  await adapter.initialize(createAdapterConfig(workspace, { findLoadFailure: () => failure }));
  onTestFinished(() => adapter.shutdown());
  const result = await adapter.execute(
    createExecutionRequest(workspace, {
      message: "",
      bridgeInput: { scope: "login.ts", task_description: "Review.", task_type: "review", domains: ["security"], intensity: "quick" },
    }),
  );
  expect(result.outputs).toMatchObject({ status: "SKIPPED", skip_reason: `adapter_offline: ${reason}` });
  const { preflight } = await adapter.checkHealth();
  expect(JSON.stringify(preflight)).toContain(failure ?? "add it to BRIDGE_ADAPTERS");
});
