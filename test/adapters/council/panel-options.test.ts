import { createSpending, readSettings } from "bridge-council";
import { expect, test } from "vitest";
import type { ProviderDescription } from "#contract";
import type { CouncilTask } from "../../../adapters/council/council-kind.ts";
import { buildPanelOptions } from "../../../adapters/council/panel-council.ts";
import { createAdapterConfig } from "../../conformance/adapter-config.ts";
import { createInMemoryAdapter } from "../in-memory-adapter.ts";

const described: ProviderDescription = {
  health: "healthy",
  connection: "acp",
  path: "/usr/bin/claude",
  detail: null,
  capabilities: createInMemoryAdapter().capabilities(),
  timeoutMultiplier: 2.5,
};

const member = (description: ProviderDescription | null) => {
  const task: Partial<CouncilTask> = {
    request: { directories: { workspace: "/nowhere" } } as CouncilTask["request"],
    config: createAdapterConfig("/nowhere", { describeProvider: () => description }),
    settings: readSettings(null),
    spending: createSpending(1),
  };
  return buildPanelOptions("any", task as CouncilTask);
};

test.each([
  ["describes itself", described, 2.5, { found: true, path: "/usr/bin/claude", connection: "acp", detail: "healthy" }],
  [
    "is offline",
    { ...described, health: "offline", connection: null, path: null, detail: "Install it." } as const,
    2.5,
    { found: false, path: null, connection: null, detail: "Install it." },
  ],
  ["is not loaded", null, 1, { found: false, path: null, connection: null, detail: "not loaded" }],
])(
  "the options of a runtime that %s contain its timeout factor and its availability",
  (_, description, timeoutMultiplier, availability) => {
    expect(member(description)).toMatchObject({ timeoutMultiplier, availability });
  },
);
