import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { expect, test } from "vitest";
import { createDeepCouncilAdapter, createPanelAdapter } from "../../../adapters/council/index.ts";
import { createInMemoryAdapter } from "../../adapters/in-memory-adapter.ts";
import { startBridge } from "../../support/start-bridge.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";

test("a check of a dispatch to a council lists its roles, and the runtimes with their models and faults", async () => {
  const workspaces = await temporaryDirectory();
  const bridge = await startBridge(
    { BRIDGE_WORKSPACES_DIR: workspaces },
    {
      adapters: [
        ...["claude", "codex"].map((provider) => ({ provider, adapter: createInMemoryAdapter({ provider }) })),
        { provider: "gemini", adapter: null, reason: "The program gemini is not installed." },
        { provider: "bridge-claude", adapter: createPanelAdapter("claude") },
        { provider: "deep-council", adapter: createDeepCouncilAdapter() },
      ],
    },
  );
  const plan = async (provider: string, changes: object = {}, more: object = {}) => {
    const bridgeInput = { scope: "login.ts", task_description: "Review.", task_type: "review", ...changes };
    const { body } = await bridge.call("POST", "/api/v2/dispatch/check", { body: { agentId: "a", provider, bridgeInput, ...more } });
    return body.task?.council;
  };
  const others = [
    { title: "Challenger", domain: "cross-domain" },
    { title: "Integration Checker", domain: "cross-domain" },
  ];
  expect(await plan("bridge-claude", { domains: ["security", "api"] }, { model: "large" })).toEqual({
    roles: [{ title: "Application Security Engineer", domain: "security" }, { title: "API Designer", domain: "api" }, ...others],
    runtimes: [{ provider: "claude", models: ["large"], fault: null }],
  });

  await mkdir(path.join(workspaces, "alpha/a"), { recursive: true });
  const settings = {
    bridges: { claude: { models: ["m1", "m2"] }, codex: { enabled: false } },
    custom_domains: [{ name: "tax", expert: "Tax Adviser", focus: ["ZUGFeRD"], signals: ["zugferd"] }],
  };
  await writeFile(path.join(workspaces, "alpha/a/.bridge-settings.json"), JSON.stringify(settings));
  expect(await plan("deep-council", { scope: "drafts", task_description: "Check ZUGFeRD." })).toEqual({
    roles: [{ title: "Tax Adviser", domain: "tax" }, ...others],
    runtimes: [
      { provider: "claude", models: ["m1", "m2"], fault: null },
      { provider: "gemini", models: [], fault: "adapter_offline: The program gemini is not installed." },
      { provider: "codex", models: [], fault: "disabled by the settings of the workspace" },
      { provider: "opencode", models: [], fault: "adapter_offline: not loaded; add it to BRIDGE_ADAPTERS" },
    ],
  });
  expect(await plan("claude", {}, { bridgeInput: undefined, message: "m" })).toBeNull();
  await bridge.close();
});
