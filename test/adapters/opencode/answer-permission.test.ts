import { expect, test } from "vitest";
import type { ApprovalAnswer } from "#contract";
import { createAnswering, type Question } from "../../../adapters/opencode/answer-permission.ts";
import type { ProgramTask } from "../../../adapters/shared/agent-program/agent-program.ts";
import { contextOf, requestIn } from "./fixtures.ts";

/** Sessions that ask, and somebody who answers when the test says so; `log` holds what OpenCode is told, in its order. */
function open() {
  const log: string[] = [];
  const people = new Map<string, (answer: ApprovalAnswer) => void>();
  const requestApproval: ProgramTask["context"]["requestApproval"] = ({ toolCallId }) =>
    new Promise((resolve) => people.set(toolCallId, resolve));
  const story = {
    completeTool: (id: string, output: unknown, isError: boolean) => log.push(`ended ${id} ${output} ${isError}`),
  } as unknown as ProgramTask["story"];
  const answer = createAnswering(
    { request: requestIn("/agents/one", { approvals: "ask" }), context: { ...contextOf(), requestApproval }, story },
    async (permissionId, reply) => void log.push(`${permissionId} ${reply.reply}${reply.reply === "reject" ? ` ${reply.message}` : ""}`),
  );
  const ask = (id: string, sessionId = "ses_1", changes: Partial<Question> = {}) =>
    answer({
      ...{ kind: "asked", sessionId, permissionId: id, permission: "bash", isTold: true },
      ...{ call: { toolCallId: id, toolName: "bash", input: {} }, ...changes },
    });
  const say = (id: string, decision: ApprovalAnswer["decision"]) => people.get(id)?.({ decision, reason: `${decision} ${id}` });
  return { log, ask, say };
}

test("yes is told at once, for this one call", async () => {
  const { log, ask, say } = open();
  const [first] = [ask("a"), ask("b")];
  say("a", "approve");
  await first;
  expect(log).toEqual(["a once"]);
});

test("no waits for the other questions of its session, which OpenCode would reject with it", async () => {
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

test("each no has its reason", async () => {
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
] as const)("what is no call of a tool ends with its answer: %s", async (decision, ended) => {
  const { log, ask, say } = open();
  const asked = ask("a", "ses_1", { isTold: false });
  say("a", decision);
  await asked;
  expect(log[0]).toBe(ended);
});

test.each([
  ["bash", "a once"],
  ["read", "a reject Rejected by Bridge: file tools stay inside the workspace."],
  ["external_directory", "a reject Rejected by Bridge: file tools stay inside the workspace."],
])("a path outside of the workspace is answered by its tool, %s, and nobody is asked", async (toolName, told) => {
  const { log, ask } = open();
  await ask("a", "ses_1", { permission: "external_directory", call: { toolCallId: "a", toolName, input: {} } });
  expect(log).toEqual([told]);
});
