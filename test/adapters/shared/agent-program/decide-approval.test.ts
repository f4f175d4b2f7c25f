import { expect, test } from "vitest";
import type { ApprovalAnswer, ApprovalQuestion, ExecutionRequest } from "#contract";
import { decideApproval, needsApproval } from "../../../../adapters/shared/agent-program/decide-approval.ts";
import { programContext } from "./scripted-program.ts";

const call = { toolCallId: "1", toolName: "shell", input: { command: "ls" } };

async function decide(rights: Pick<ExecutionRequest, "profile" | "approvals">, answer: ApprovalAnswer) {
  const questions: ApprovalQuestion[] = [];
  const context = programContext("/nowhere", {
    requestApproval: async (question) => {
      questions.push(question);
      return answer;
    },
  });
  const decision = await decideApproval({ request: { taskId: "t", ...rights } as ExecutionRequest, context }, call);
  return { decision, questions };
}

const yes = { decision: "approve", reason: null } as const;
const no = { decision: "reject", reason: "not today" } as const;

test.each([
  ["inspect", "allow", /profile is inspect/],
  ["inspect", "ask", /profile is inspect/],
  ["inspect", "deny", /profile is inspect/],
  ["modify", "deny", /approvals are "deny"/],
  ["modify", "allow", null],
] as const)("a task with profile %s and approvals %s asks for no approval", async (profile, approvals, reason) => {
  const { decision, questions } = await decide({ profile, approvals }, yes);
  expect(decision).toEqual(reason === null ? { allow: true } : { allow: false, reason: expect.stringMatching(reason) });
  expect(questions).toEqual([]);
  expect(needsApproval({ profile, approvals })).toBe(false);
});

test.each([
  [yes, { allow: true }],
  [{ ...yes, reason: "fine" }, { allow: true }],
  [no, { allow: false, reason: "not today" }],
  [
    { ...no, reason: null },
    { allow: false, reason: expect.stringMatching(/\w/) },
  ],
  [
    { ...no, reason: "" },
    { allow: false, reason: expect.stringMatching(/\w/) },
  ],
] as const)("a task that asks for approvals gets the answer: %j", async (answer, expected) => {
  const { decision, questions } = await decide({ profile: "modify", approvals: "ask" }, answer);
  expect(decision).toEqual(expected);
  expect(questions).toEqual([{ taskId: "t", ...call }]);
  expect(needsApproval({ profile: "modify", approvals: "ask" })).toBe(true);
});
