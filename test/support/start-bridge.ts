import { createHash } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { pino } from "pino";
import { expect } from "vitest";
import type { ExecutionResult } from "#contract";
import { createApp } from "../../src/app/create-app.ts";
import { loadConfig } from "../../src/app/load-config.ts";
import type { ErrorCode } from "../../src/errors.ts";
import { PROBLEM_TYPE, problemSchema } from "../../src/http/wire/problem.ts";
import type { Lookup } from "../../src/network/dns-resolver.ts";
import type { LoadedAdapter } from "../../src/registry/adapter-registry.ts";
import { createInMemoryAdapter, type Run } from "../adapters/in-memory-adapter.ts";
import { createResponseCheck } from "../http/response-check.ts";
import { databaseOf } from "./database-subject.ts";

/** Tokens: two tenants with all scopes, and one token for each scope. */
export const tokens = {
  alpha: { tenant: "alpha", scopes: ["dispatch", "read", "approve", "manage", "metrics"] },
  beta: { tenant: "beta", scopes: ["dispatch", "read", "approve", "manage", "metrics"] },
  reader: { tenant: "alpha", scopes: ["read"] },
  dispatcher: { tenant: "alpha", scopes: ["dispatch"] },
  scraper: { tenant: "alpha", scopes: ["metrics"] },
  manager: { tenant: "alpha", scopes: ["manage"] },
  passing: { tenant: "alpha", scopes: ["read"], expiresAt: "2126-01-01T00:00:00Z" },
  expired: { tenant: "alpha", scopes: ["read"], expiresAt: "2020-01-01T00:00:00Z" },
} as const;
export type TokenName = keyof typeof tokens;

/** One response; its body is parsed if it is JSON. */
export interface Answer {
  status: number;
  headers: Headers;
  text: string;
  // biome-ignore lint/suspicious/noExplicitAny: each test asserts the parts of the body that it expects.
  body: any;
}

export interface Call {
  /** Default: alpha; null sends none. */
  token?: TokenName | null;
  headers?: Record<string, string>;
  /** Sent as JSON; a string is sent unchanged. */
  body?: unknown;
}

/** A Bridge on a free port, with adapters whose runtimes are functions. */
export interface Bridge {
  url: string;
  port: number;
  /** All log lines. */
  log: string[];
  /** Sends a request. Every response must fit the API description; an error must be a problem with the id of its request. */
  call(method: string, target: string, options?: Call): Promise<Answer>;
  dispatch(body: Record<string, unknown>, options?: Omit<Call, "body">): Promise<Answer>;
  close(): Promise<void>;
}

/**
 * Runs until it is canceled for the message `wait`, fails for `fail`, reports a usage limit for `limit`, uses a tool and returns every
 * field of a result for `look`, a tool that never ends for `work`, one that waits for an approval for `ask`, spends 60 cents and returns
 * whether it may call its model again for `spend`, and returns any other message.
 */
const obey: Run = async (request, emit, signal, requestApproval, mayCallModel) => {
  if (request.message === "fail") return { status: "error", errorCode: "model_error", error: "It failed." };
  if (request.message === "limit")
    return { status: "error", errorCode: "rate_limited", error: "You hit your limit. Try again in 2 hours." };
  if (request.message === "work") emit("tool.invoked", { toolCallId: "call-1", toolName: "build", input: {} });
  if (request.message === "wait" || request.message === "work")
    await new Promise((_, reject) => signal.addEventListener("abort", () => reject(new Error("cancelled"))));
  if (request.message === "look") return look(emit);
  if (request.message === "spend") {
    emit("usage.reported", { usage: { inputTokens: 600, outputTokens: 0 }, costUsd: 0.6 });
    const { allowed } = await mayCallModel(request.taskId);
    return { output: allowed ? "allowed" : "refused" };
  }
  if (request.message === "ask") {
    const call = { toolCallId: "call-1", toolName: "delete", input: { path: "a.md" } };
    emit("tool.invoked", call);
    const { decision, reason } = await requestApproval({ taskId: request.taskId, ...call });
    emit("tool.completed", { toolCallId: "call-1", toolName: "delete", output: reason, isError: decision === "reject" });
    return { output: decision };
  }
  emit("assistant.text", { content: request.message });
  return { output: request.message };
};

function look(emit: Parameters<Run>[1]): Partial<ExecutionResult> {
  emit("execution.progress", { step: "looking" });
  emit("tool.invoked", { toolCallId: "call-1", toolName: "list", input: { path: "." } });
  emit("tool.completed", { toolCallId: "call-1", toolName: "list", output: ["a.md"], isError: false });
  emit("assistant.text", { content: "One file." });
  const usage = { inputTokens: 5, outputTokens: 3, thinkingTokens: 1, cacheReadTokens: 2, cacheWriteTokens: 0 };
  return { output: "One file.", outputs: { count: 1 }, usage, costUsd: 0.25, model: "small", resumeToken: "session-1" };
}

/** All Bridges have the same API, and to write its description and to compile its schemas takes as long as the start of a Bridge. */
let responseCheck: ReturnType<typeof createResponseCheck> | undefined;

export async function startBridge(
  environment: Record<string, string> = {},
  more: { adapters?: readonly LoadedAdapter[]; resolve?: Lookup } = {},
): Promise<Bridge> {
  const dataDir = await mkdtemp(path.join(tmpdir(), "bridge-http-"));
  const atEnd: (() => void | Promise<void>)[] = [() => rm(dataDir, { recursive: true, force: true })];
  const tokensFile = path.join(dataDir, "tokens.json");
  const entries = Object.entries(tokens).map(([name, entry]) => ({
    name,
    sha256: createHash("sha256").update(`secret-${name}`).digest("hex"),
    ...entry,
  }));
  await writeFile(tokensFile, JSON.stringify(entries));
  const { config } = loadConfig({
    BRIDGE_PORT: "0",
    BRIDGE_DATA_DIR: dataDir,
    BRIDGE_TOKENS_FILE: tokensFile,
    BRIDGE_CALLBACK_ALLOW: "127.0.0.1",
    BRIDGE_CALLBACK_RETRIES: "0",
    BRIDGE_DRAIN_SECONDS: "0",
    BRIDGE_MAX_CONCURRENT: "4,narrow=1",
    ...(await databaseOf(dataDir, (act) => void atEnd.unshift(act))).settings,
    ...environment,
  });
  const log: string[] = [];
  const logger = pino({ level: "trace" }, { write: (line: string) => void log.push(line) });
  const adapters = [
    createInMemoryAdapter({ run: obey, capabilities: { holdsModelCalls: true } }),
    createInMemoryAdapter({
      run: obey,
      provider: "narrow",
      capabilities: { tools: false, sessionResume: false, mcpServers: false, approvals: false, outputStrategies: ["stream"] },
    }),
  ];
  const loaded = adapters.map((adapter) => ({ provider: adapter.provider, adapter }));
  const app = await createApp(config, logger, {
    adapters: [...loaded, ...(more.adapters ?? []), { provider: "absent", adapter: null, reason: "It is not installed." }],
    ...(more.resolve !== undefined && { resolve: more.resolve }),
    // Other load of the machine must not change what a test observes.
    maxEventLoopDelayMs: 0,
  });
  const url = await app.start();
  responseCheck ??= createResponseCheck(JSON.parse(JSON.stringify(app.server.swagger())));
  const checkResponse = responseCheck;

  const call: Bridge["call"] = async (method, target, { token = "alpha", headers = {}, body } = {}) => {
    const sent = body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) };
    const response = await fetch(url + target, {
      method,
      redirect: "manual",
      ...sent,
      headers: {
        ...(token === null ? {} : { authorization: `Bearer secret-${token}` }),
        ...(body === undefined ? {} : { "content-type": "application/json" }),
        ...headers,
      },
    });
    const text = await response.text();
    const isJson = response.headers.get("content-type")?.includes("json") === true && text !== "";
    const answer = { status: response.status, headers: response.headers, text, body: isJson ? (JSON.parse(text) as unknown) : undefined };
    if (answer.status >= 400 && method !== "HEAD") expectProblem(answer);
    checkResponse(method, target, answer);
    return answer;
  };

  return {
    url,
    port: Number(new URL(url).port),
    log,
    call,
    dispatch: (body, options = {}) =>
      call("POST", "/api/v2/dispatch", { ...options, body: { provider: "memory", agentId: "writer", message: "Hello.", ...body } }),
    async close() {
      await app.close();
      for (const act of atEnd) await act();
    },
  };
}

/** Expects a problem document with the fields and headers that every error response has. */
export function expectProblem(answer: Pick<Answer, "status" | "headers" | "body">, code?: ErrorCode): void {
  expect(answer.headers.get("content-type")).toMatch(new RegExp(`^${PROBLEM_TYPE.replace("+", "\\+")}(;|$)`));
  const problem = problemSchema.parse(answer.body);
  expect(problem.status).toBe(answer.status);
  expect(problem.type).toBe(`urn:bridge:error:${problem.code}`);
  expect(problem.requestId).toBe(answer.headers.get("x-request-id"));
  expect(answer.headers.get("cache-control")).toBe("no-store");
  expect(answer.headers.has("retry-after")).toBe(answer.status === 503 || answer.status === 429);
  expect(answer.headers.get("www-authenticate")).toBe(answer.status === 401 ? "Bearer" : null);
  if (code !== undefined) expect(problem.code).toBe(code);
}
