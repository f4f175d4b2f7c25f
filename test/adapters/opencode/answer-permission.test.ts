import { expect, test } from "vitest";
import type { ApprovalAnswer } from "#contract";
import { createPermissionHandler, type PermissionRequest } from "../../../adapters/opencode/answer-permission.ts";
import type { ProgramTask } from "../../../adapters/shared/agent-program/agent-program.ts";
import { createExecutionRequest } from "../../conformance/execution-request.ts";
import { contextOf } from "./fixtures.ts";

/** Creates a handler whose approvals the test decides with `say`; `log` records replies to OpenCode in order. */
function open() {
  const log: string[] = [];
  const pending = new Map<string, (answer: ApprovalAnswer) => void>();
  const requestApproval: ProgramTask["context"]["requestApproval"] = ({ toolCallId }) =>
    new Promise((resolve) => pending.set(toolCallId, resolve));
  const timeline = {
    finishTool: (id: string, output: unknown, isError: boolean) => log.push(`ended ${id} ${output} ${isError}`),
  } as unknown as ProgramTask["timeline"];
  const answer = createPermissionHandler(
    { request: createExecutionRequest("/agents/one", { approvals: "ask" }), context: { ...contextOf(), requestApproval }, timeline },
    async (permissionId, reply) => void log.push(`${permissionId} ${reply.reply}${reply.reply === "reject" ? ` ${reply.message}` : ""}`),
  );
  const ask = (id: string, sessionId = "ses_1", changes: Partial<PermissionRequest> = {}) =>
    answer({
      ...{ kind: "asked", sessionId, permissionId: id, permission: "bash", isReported: true },
      ...{ call: { toolCallId: id, toolName: "bash", input: {} }, ...changes },
    });
  const say = (id: string, decision: ApprovalAnswer["decision"]) => pending.get(id)?.({ decision, reason: `${decision} ${id}` });
  return { log, ask, say };
}

test("an approval is sent immediately and for this call only", async () => {
  const { log, ask, say } = open();
  const [first] = [ask("a"), ask("b")];
  say("a", "approve");
  await first;
  expect(log).toEqual(["a once"]);
});

test("a rejection waits for the other requests of its session, which OpenCode would reject with it", async () => {
  const { log, ask, say } = open();
  const asked = [ask("a"), ask("b"), ask("c", "ses_child")];
  say("a", "reject");
  say("c", "reject");
  await Promise.all([asked[0], asked[2]]);
  expect(log).toEqual(["c reject reject c"]);
  say("b", "approve");
  await asked[1];
  expect(log.slice(1)).toEqual(["b once", "a reject reject a"]);
});

test("each rejection has its own reason", async () => {
  const { log, ask, say } = open();
  const asked = [ask("a"), ask("b")];
  say("b", "reject");
  say("a", "reject");
  await Promise.all(asked);
  expect(log.toSorted()).toEqual(["a reject reject a", "b reject reject b"]);
  const later = ask("d");
  say("d", "approve");
  await later;
  expect(log).toHaveLength(3);
});

test.each([
  ["approve", "ended a null false"],
  ["reject", "ended a reject a true"],
] as const)("a request without a tool call completes with its decision: %s", async (decision, ended) => {
  const { log, ask, say } = open();
  const asked = ask("a", "ses_1", { isReported: false });
  say("a", decision);
  await asked;
  expect(log[0]).toBe(ended);
});

test.each([
  ["bash", "a once"],
  ["read", "a reject Rejected by Bridge: file tools stay inside the workspace."],
  ["external_directory", "a reject Rejected by Bridge: file tools stay inside the workspace."],
])("a path outside the workspace is decided by its tool %s without an approval request", async (toolName, reply) => {
  const { log, ask } = open();
  await ask("a", "ses_1", { permission: "external_directory", call: { toolCallId: "a", toolName, input: {} } });
  expect(log).toEqual([reply]);
});
