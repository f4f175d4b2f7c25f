import { expect, onTestFinished, test } from "vitest";
import type { ExecutionResult, TaskErrorCode } from "#contract";
import { createDeepCouncilAdapter, createPanelAdapter } from "../../../adapters/council/index.ts";
import { programCapabilities } from "../../../adapters/shared/agent-program/capabilities.ts";
import { createAdapterConfig } from "../../conformance/adapter-config.ts";
import { createExecutionRequest } from "../../conformance/execution-request.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";

type Answer = Partial<ExecutionResult>;
const fails = (errorCode: TaskErrorCode, error = "It failed."): Answer => ({ status: "error", errorCode, error });
const prose: Answer = { status: "ok", output: "Well, let me think about that." };

async function hold(createAdapter: () => ReturnType<typeof createPanelAdapter>, providers: string[], answers: Record<string, Answer>) {
  const workspace = await temporaryDirectory();
  const adapter = createAdapter();
  const runtime = { health: "healthy", connection: "cli", path: null, detail: null } as const;
  await adapter.initialize(
    createAdapterConfig(workspace, {
      describeProvider: (provider) =>
        provider in answers ? { ...runtime, capabilities: programCapabilities, timeoutMultiplier: 1 } : null,
      runChild: async ({ provider }) => ({ status: "ok", durationMs: 1, connection: "cli", ...answers[provider] }),
    }),
  );
  onTestFinished(() => adapter.shutdown());
  return adapter.execute(
    createExecutionRequest(workspace, {
      message: "",
      profile: "inspect",
      approvals: "deny",
      bridgeInput: {
        ...{ scope: "login.ts", task_description: "Review.", task_type: "review", domains: ["security"], intensity: "quick" },
        providers,
      },
    }),
  );
}

const createClaudePanel = () => createPanelAdapter("claude");

const cases: [string, Answer, TaskErrorCode, "SKIPPED" | "HALTED", string][] = [
  ["answers prose twice", prose, "output_invalid", "SKIPPED", "output_invalid: unreadable answer, twice."],
  ["is offline", fails("adapter_offline", "Install it."), "adapter_offline", "SKIPPED", "adapter_offline: Install it."],
  ["needs a login", fails("authentication_required", "Log in."), "authentication_required", "HALTED", "authentication_required: Log in."],
  ["needs a person", fails("user_action_required", "Accept."), "user_action_required", "HALTED", "user_action_required: Accept."],
  ["is limited", fails("rate_limited"), "rate_limited", "SKIPPED", "rate_limited: It failed."],
  ["does not answer in time", fails("timeout"), "timeout", "SKIPPED", "timeout_after_30s."],
];

test.each(cases)("a council on one runtime that %s fails and keeps its report", async (_, answer, errorCode, status, reason) => {
  const { output, outputs, ...result } = await hold(createClaudePanel, ["claude"], { claude: answer });
  expect(result).toMatchObject({ status: "error", errorCode, error: `No role of the council answered. claude: ${reason}` });
  expect(outputs).toMatchObject({ status, verdict: null });
  expect(output).toContain(`# claude: ${status}`);
});

test.each(cases)(
  "a council on several runtimes whose only loaded one %s fails with the same code",
  async (_, answer, errorCode, __, reason) => {
    const { output, outputs, ...result } = await hold(createDeepCouncilAdapter, ["codex", "claude"], { claude: answer });
    expect(result).toMatchObject({ status: "error", errorCode });
    expect(result.error).toMatch(/^No runtime completed its part of the council\. codex: adapter_offline: not loaded;/);
    expect(result.error).toContain(`claude: ${reason}`);
    expect(outputs).toMatchObject({ status: "ABORTED", verdict: null });
    expect(output).toContain("## Runtimes that did not take part");
  },
);

test("a council reports that a runtime's answers were invalid or that it needs a person before other causes", async () => {
  const all = { claude: fails("rate_limited"), codex: fails("user_action_required"), gemini: prose };
  const codes = [
    await hold(createDeepCouncilAdapter, ["claude", "codex", "gemini"], all),
    await hold(createDeepCouncilAdapter, ["claude", "codex"], all),
    await hold(createDeepCouncilAdapter, ["claude"], all),
  ].map(({ errorCode }) => errorCode);
  expect(codes).toEqual(["output_invalid", "user_action_required", "rate_limited"]);
});
