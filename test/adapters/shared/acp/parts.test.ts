import { type ClientContext, RequestError } from "@agentclientprotocol/sdk";
import { expect, test } from "vitest";
import type { ExecutionRequest, TaskErrorCode } from "#contract";
import { explainError } from "../../../../adapters/shared/acp/acp-failure.ts";
import { answerPermission } from "../../../../adapters/shared/acp/answer-permission.ts";
import { convertMcpServers } from "../../../../adapters/shared/acp/mcp-servers.ts";
import { initialize } from "../../../../adapters/shared/acp/open-session.ts";
import { calculateTaskCost } from "../../../../adapters/shared/acp/task-cost.ts";
import type { SessionTotal, SessionTotals } from "../../../../adapters/shared/agent-program/session-totals.ts";

const once = { optionId: "allow", name: "Allow", kind: "allow_once" } as const;
const always = { optionId: "always", name: "Always", kind: "allow_always" } as const;
const reject = { optionId: "reject", name: "Reject", kind: "reject_once" } as const;
const rejectAlways = { optionId: "never", name: "Never", kind: "reject_always" } as const;

const no = { allow: false, reason: "not today" } as const;
const impossible = { allow: false, reason: expect.stringContaining("no option to allow only this call") } as const;

test.each([
  [{ allow: true }, [always, once, reject], "allow", { allow: true }],
  [{ allow: true }, [always, reject], "reject", impossible],
  [{ allow: true }, [always], "cancelled", impossible],
  [no, [always, once, reject], "reject", no],
  [no, [once, rejectAlways], "cancelled", no],
] as const)("the decision %j for a permission request with the options %j is answered with %s", (given, options, expected, decided) => {
  const { outcome, decision } = answerPermission(given, options);
  expect(outcome.outcome === "selected" ? outcome.optionId : outcome.outcome).toBe(expected);
  expect(decision).toEqual(decided);
});

const http = { name: "web", transport: "http", url: "http://127.0.0.1:1/mcp", headers: { Authorization: "Bearer x" } } as const;
const sse = { ...http, transport: "sse" } as const;

test("MCP servers are converted to the protocol's format", () => {
  expect(
    convertMcpServers(
      [
        { name: "files", transport: "stdio", command: "/bin/files", args: ["-r"], env: { KEY: "x" } },
        { name: "bare", transport: "stdio", command: "/bin/bare" },
        http,
        sse,
      ],
      { http: true, sse: true },
    ),
  ).toEqual([
    { name: "files", command: "/bin/files", args: ["-r"], env: [{ name: "KEY", value: "x" }] },
    { name: "bare", command: "/bin/bare", args: [], env: [] },
    { type: "http", name: "web", url: "http://127.0.0.1:1/mcp", headers: [{ name: "Authorization", value: "Bearer x" }] },
    { type: "sse", name: "web", url: "http://127.0.0.1:1/mcp", headers: [{ name: "Authorization", value: "Bearer x" }] },
  ]);
});

test("an unsupported MCP transport is named in the error", () => {
  expect(() => convertMcpServers([sse], { http: true })).toThrow(/"web".* "sse" /);
  expect(() => convertMcpServers([http], undefined)).toThrow(/"web".* "http" /);
});

test.each<[code: number, message: string, data: unknown, start: TaskErrorCode, prompt: TaskErrorCode]>([
  [-32000, "Authentication required", undefined, "authentication_required", "authentication_required"],
  [-32603, "Internal error: API Error: 500", { errorKind: "server_error" }, "adapter_error", "model_error"],
  [-32603, "Internal error", { errorKind: "rate_limit" }, "rate_limited", "rate_limited"],
  [-32603, "Internal error", { details: "exceeded retry limit, last status: 429 Too Many Requests" }, "rate_limited", "rate_limited"],
  [500, '{"error":{"code":403,"status":"PERMISSION_DENIED"}}', undefined, "authentication_required", "authentication_required"],
  [-32603, "Internal error: There's an issue with the selected model", { errorKind: "model_not_found" }, "adapter_error", "model_error"],
  [-32602, "Invalid params", { cwd: "not a directory" }, "adapter_error", "model_error"],
])("error %i %s %j means %s before the prompt and %s after it", (code, message, data, start, prompt) => {
  const error = new RequestError(code, message, data);
  expect(explainError(error, "start", {})).toMatchObject({ status: "error", errorCode: start });
  expect(explainError(error, "prompt", {}).errorCode).toBe(prompt);
});

test("an error message contains no JSON", () => {
  const error = new RequestError(-32603, "Internal error", { details: "401 scripted 401" });
  expect(explainError(error, "prompt", {})).toEqual({
    status: "error",
    errorCode: "authentication_required",
    error: "The agent reports: Internal error: 401 scripted 401\nCheck the credentials of the runtime.",
  });
});

test("the profile explains errors first, and an error of Bridge is rethrown", () => {
  const own = { status: "error", errorCode: "budget_exceeded", error: "Too dear." } as const;
  expect(explainError(new RequestError(-32603, "429"), "prompt", { explainError: () => own })).toBe(own);
  expect(() => explainError(new TypeError("a bug"), "prompt", {})).toThrow("a bug");
});

const answering = (answer: Promise<unknown>) => ({ request: () => answer }) as unknown as ClientContext;

test("initialize fails if the agent does not answer in time", async () => {
  await expect(initialize(answering(new Promise(() => {})), 10)).rejects.toThrow('The agent did not answer "initialize" within 0.01 s.');
});

test("initialize fails if the agent uses another protocol version", async () => {
  await expect(initialize(answering(Promise.resolve({ protocolVersion: 2 })), 1_000)).rejects.toThrow(
    /uses version 2 .* Bridge requires version 1/,
  );
});

test("the cost of a task is the increase of its session's cost, or unknown if the earlier cost is unknown", async () => {
  const kept = new Map<string, SessionTotal>();
  const totals: SessionTotals = {
    read: async (home, session) => kept.get(`${home} ${session}`) ?? null,
    write: async (home, session, total) => void kept.set(`${home} ${session}`, total),
  };
  const cost = (reportedUsd: number | undefined, resumeToken?: string) => {
    const request = { directories: { home: "/home" }, ...(resumeToken !== undefined && { resumeToken }) } as ExecutionRequest;
    return calculateTaskCost({ request, totals }, "s", reportedUsd);
  };
  expect(await cost(1)).toBe(1);
  expect(await cost(1.5, "s")).toBe(0.5);
  expect(await cost(undefined, "s")).toBeUndefined();
  // The total before the task is unknown, so its cost is unknown.
  expect(await cost(2, "s")).toBeUndefined();
  expect(await cost(2.5, "s")).toBe(0.5);
  // A total that is lower than before belongs to another session.
  expect(await cost(1.25, "s")).toBeUndefined();
  kept.set("/home s", { usage: { inputTokens: 1, outputTokens: 1 } });
  expect(await cost(3, "s")).toBeUndefined();
  expect(kept.get("/home s")).toEqual({ usage: { inputTokens: 1, outputTokens: 1 }, costUsd: 3 });
});
