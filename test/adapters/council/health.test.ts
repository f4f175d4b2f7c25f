import { expect, onTestFinished, test } from "vitest";
import type { ProviderDescription } from "#contract";
import { createDeepCouncilAdapter, createPanelAdapter } from "../../../adapters/council/index.ts";
import { programCapabilities } from "../../../adapters/shared/agent-program/capabilities.ts";
import { createAdapterConfig } from "../../conformance/adapter-config.ts";

test("the health of a council reports each runtime, with the estimated time for one answer", async () => {
  const described: Record<string, ProviderDescription> = {
    claude: {
      health: "healthy",
      connection: "cli",
      path: "/usr/bin/x",
      detail: null,
      capabilities: programCapabilities,
      timeoutMultiplier: 1,
    },
    codex: {
      health: "offline",
      connection: null,
      path: null,
      detail: "It is not installed.",
      capabilities: programCapabilities,
      timeoutMultiplier: 1,
    },
    opencode: {
      health: "degraded",
      connection: "cli",
      path: "/usr/bin/x",
      detail: "No key.",
      capabilities: programCapabilities,
      timeoutMultiplier: 1.5,
    },
  };
  const adapter = createDeepCouncilAdapter();
  onTestFinished(() => adapter.shutdown());
  await adapter.initialize(createAdapterConfig("/nowhere", { describeProvider: (provider) => described[provider] ?? null }));
  const { status, preflight } = await adapter.checkHealth();
  expect(status).toBe("healthy");
  const estimateOf = (seconds: number) => `Estimated time for one answer: ${seconds} s for a scope of 10 files at intensity standard.`;
  expect(preflight.toSorted((left, right) => left.step.localeCompare(right.step))).toEqual([
    { step: "claude", ok: true, detail: `claude is healthy. ${estimateOf(180)}` },
    { step: "codex", ok: false, detail: "codex is offline: It is not installed." },
    { step: "gemini", ok: false, detail: "gemini is not loaded: add it to BRIDGE_ADAPTERS." },
    { step: "opencode", ok: true, detail: `opencode is degraded: No key. ${estimateOf(270)}` },
  ]);
});

test.each([
  ["offline", "It is not installed."],
  ["degraded", "The first check is under way."],
] as const)("a council is degraded while every runtime is %s, with the remedies", async (health, detail) => {
  const adapter = createPanelAdapter("codex");
  onTestFinished(() => adapter.shutdown());
  const described = { health, connection: null, path: null, detail, capabilities: programCapabilities, timeoutMultiplier: 1 };
  await adapter.initialize(createAdapterConfig("/nowhere", { describeProvider: () => described }));
  expect(await adapter.checkHealth()).toMatchObject({
    status: "degraded",
    detail: expect.stringContaining(`codex is ${health}: ${detail}`),
  });
});
