import { describe, expect, test } from "vitest";
import type { ExecutionResult } from "#contract";
import { GatewayError } from "../../../adapters/openclaw/gateway-error.ts";
import { explainError, parseFinalResponse, parseTaskRow, parseWaitResponse } from "../../../adapters/openclaw/run-result.ts";
import recording from "./recorded-runs.json" with { type: "json" };

type RunName = keyof typeof recording.runs;
const recorded = (name: RunName) =>
  recording.runs[name] as {
    payload?: unknown;
    refusal?: ConstructorParameters<typeof GatewayError>[0];
    wait: unknown;
    row: { runId?: string; status: string; error?: string } | null;
  };
const codeOf = (ending: Pick<ExecutionResult, "status" | "errorCode"> | null) =>
  ending === null ? null : (ending.errorCode ?? ending.status);

// The gateway describes one outcome differently in the final response, in agent.wait and in tasks.list.
test.each<[name: RunName, final: string, wait: string | null, row: string | null]>([
  ["speak", "ok", "ok", "ok"],
  ["tool", "ok", "ok", "ok"],
  ["failedTool", "ok", "ok", "ok"],
  ["cancelled", "cancelled", "cancelled", "cancelled"],
  ["cancelledModel", "cancelled", "cancelled", "cancelled"],
  ["timedOut", "timeout", "timeout", "timeout"],
  ["cutShort", "model_error", "model_error", "ok"],
  ["broken", "ok", "ok", "ok"],
  // OpenClaw returns a provider's rejection as the answer.
  ["refused", "ok", "ok", "ok"],
  ["badRequest", "model_error", "model_error", "model_error"],
  ["unknownModel", "model_error", "model_error", "model_error"],
  ["refusedKey", "authentication_required", "authentication_required", "authentication_required"],
  ["cooledDown", "authentication_required", "authentication_required", "authentication_required"],
])("%s, as recorded: %s, %s by agent.wait, %s in the list", (name, final, wait, row) => {
  const run = recorded(name);
  const ending = run.refusal === undefined ? parseFinalResponse(run.payload) : explainError(new GatewayError(run.refusal), null);
  expect([codeOf(ending), codeOf(parseWaitResponse(run.wait)), run.row === null ? null : codeOf(parseTaskRow(run.row))]).toEqual([
    final,
    wait,
    row,
  ]);
});

describe("the final response", () => {
  test("the final response contains the text, the model and the usage, with cached tokens counted as input", () => {
    expect(parseFinalResponse(recorded("tool").payload)).toEqual({
      status: "ok",
      output: "I have seen it.",
      model: "custom/scripted",
      usage: { inputTokens: 260, outputTokens: 60, thinkingTokens: 10, cacheReadTokens: 40, cacheWriteTokens: 0 },
      costUsd: 0.00036,
    });
  });

  test.each<[string, unknown, string]>([
    ["aborted, without a reason", { status: "timeout", summary: "aborted", result: { payloads: [], meta: {} } }, "cancelled"],
    ["timed out before the model", { status: "timeout", summary: "aborted", timeoutPhase: "queue" }, "timeout"],
    ["an incomplete turn", { status: "timeout", summary: "aborted", result: { meta: { error: { kind: "incomplete_turn" } } } }, "timeout"],
    [
      "ok with an error in it",
      { status: "ok", result: { payloads: [], meta: { error: { kind: "context_overflow", message: "Too long." } } } },
      "model_error",
    ],
    ["ok with an error as its text", { status: "ok", result: { payloads: [{ text: "Failed.", isError: true }], meta: {} } }, "model_error"],
    ["an error", { status: "error", error: "It broke." }, "model_error"],
    ["something else", "done", "adapter_error"],
  ])("%s results in the expected error code", (_, payload, code) => {
    expect(codeOf(parseFinalResponse(payload))).toBe(code);
  });

  test("the final response contains no cost for a model without prices", () => {
    const agentMeta = { provider: "p", model: "m", costUsd: 0, usage: { input: 1, output: 2 } };
    expect(parseFinalResponse({ status: "ok", result: { payloads: [], meta: { agentMeta } } })).not.toHaveProperty("costUsd");
  });
});

test.each([{ runId: "r", status: "timeout" }, { runId: "r", status: "pending" }, recording.unknownWait, null])(
  "%j is no end",
  (payload) => {
    expect(parseWaitResponse(payload)).toBeNull();
  },
);

describe("an error of the gateway", () => {
  const explain = (message: string, code = "UNAVAILABLE", reason: string | null = null) =>
    explainError(new GatewayError({ code, message }), reason);

  test("an error of the gateway for an unknown agent states how to create one", () => {
    const { refusal } = recorded("unknownAgent");
    expect(explainError(new GatewayError(refusal as never), null)).toMatchObject({
      errorCode: "adapter_error",
      error: expect.stringMatching(/no agent "nobody".*POST \/api\/v2\/gateway\/openclaw\/agents/),
    });
  });

  test("an error of the gateway for a busy gateway or a configuration change is not a model error", () => {
    const message = "agent unavailable during gateway restart";
    const busy = explainError(new GatewayError({ code: "UNAVAILABLE", message, retryable: true, retryAfterMs: 1_000 }), null);
    expect(busy).toMatchObject({ errorCode: "adapter_offline", error: expect.stringContaining(message) });
    const unwritten = "config.patch persisted but was not applied to the active Gateway (failed); run config.get";
    expect(explain(unwritten, "UNAVAILABLE")).toMatchObject({ errorCode: "adapter_error", error: expect.stringContaining("MCP servers") });
  });

  test("an error of the gateway contains no path of the gateway's host", () => {
    const { error } = explain(
      "prepared model runtime plugin generation was superseded for /srv/openclaw/state/agents/main/agent",
      "UNAVAILABLE",
    );
    expect(error).toContain("superseded for <path>");
  });

  test.each([
    ["billing", "user_action_required"],
    ["rate_limit", "rate_limited"],
    ["overloaded", "rate_limited"],
    ["auth", "authentication_required"],
    ["server_error", "model_error"],
  ])("an error of the gateway for the provider's reason %s is %s", (reason, code) => {
    expect(codeOf(explain("It failed.", "UNAVAILABLE", reason))).toBe(code);
  });

  test.each([
    ["sandbox image not found", "UNAVAILABLE", "adapter_error"],
    ["missing scope", "FORBIDDEN", "adapter_error"],
    ["closed", "DISCONNECTED", "runtime_crashed"],
    ["at root: unexpected property 'x'", "INVALID_REQUEST", "adapter_error"],
  ])("%s (%s) is %s", (message, code, errorCode) => {
    expect(codeOf(explain(message, code))).toBe(errorCode);
  });

  test("an error of the gateway for an inaccessible task directory names the setting and no path", () => {
    const { error } = explain(
      "sessions.create cwd is unavailable: ENOENT: no such file or directory, lstat '/secret/place'",
      "INVALID_REQUEST",
    );
    expect(error).toContain("BRIDGE_OPENCLAW_WORKSPACE");
    expect(error).not.toContain("/secret/place");
  });

  test("an error of the gateway contains no key and no stack trace", () => {
    const { error = "" } = explain(
      `GET https://api.example/v1?key=abcdef123456 with sk-abcdefghijklmnop failed\n\n\n    at Object.<anonymous> (/opt/x.js:1)`,
    );
    expect(error).not.toMatch(/abcdef123456|sk-abcdefghijklmnop|\/opt\/x\.js/);
  });

  test("an error of the gateway does not include bugs, which are rethrown", () => {
    expect(() => explainError(new TypeError("x"), null)).toThrow(TypeError);
  });
});
