import { expect, test } from "vitest";
import type { ExecutionRequest } from "#contract";
import { createRunParams, createSessionParams, unsupportedReason } from "../../../adapters/openclaw/request.ts";
import { createExecutionRequest } from "../../conformance/execution-request.ts";

const directories = { workspace: "/w", cwd: "/w/sub", home: "/h", tmp: "/t" };
const requestWith = (changes: Partial<ExecutionRequest> = {}): ExecutionRequest =>
  createExecutionRequest("/w", { agentId: "dev", message: "/help", timeoutSeconds: 1.5, approvals: "ask", directories, ...changes });
const place = { key: "agent:dev:bridge-1", runId: "r", sessionId: "s" };

test.each([
  [{ profile: "inspect", approvals: "allow" }, "read-only"],
  [{ profile: "inspect", approvals: "ask" }, "read-only"],
  [{ profile: "modify", approvals: "ask" }, "guarded"],
  [{ profile: "modify", approvals: "deny" }, "guarded"],
  [{ profile: "modify", approvals: "allow" }, "full"],
] as const)("a task with %j runs in the permission mode %s", (rights, permissionMode) => {
  expect(createSessionParams(requestWith(rights), "k", { workspace: "bridge" })).toEqual({
    agentId: "dev",
    key: "k",
    permissionMode,
    cwd: "/w/sub",
  });
  expect(createSessionParams(requestWith(rights), "k", { workspace: "agent" })).toEqual({ agentId: "dev", key: "k", permissionMode });
});

test("a run has only params that every gateway knows", () => {
  expect(createRunParams(requestWith(), place)).toEqual({
    ...{ agentId: "dev", sessionKey: "agent:dev:bridge-1", expectedExistingSessionId: "s", idempotencyKey: "r" },
    ...{ message: "Your task:\n\n/help", timeout: 62, deliver: false },
  });
  expect(createRunParams(requestWith({ model: "p/m", systemPrompt: "Be brief." }), place)).toMatchObject({
    model: "p/m",
    extraSystemPrompt: "Be brief.",
  });
});

test("a task in the agent's workspace cannot select a directory", () => {
  expect(unsupportedReason(requestWith(), { workspace: "agent" })).toContain("metadata.cwd");
  expect(unsupportedReason(requestWith({ directories: { ...directories, cwd: "/w" } }), { workspace: "agent" })).toBeNull();
  expect(unsupportedReason(requestWith(), { workspace: "bridge" })).toBeNull();
});
