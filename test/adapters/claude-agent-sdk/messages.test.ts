import { readFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { createClaudeReader } from "../../../adapters/shared/claude-code/events.ts";

/** Reads recorded messages of the SDK 0.3.328. Except for control messages they equal the JSON lines of Claude Code. */
function replay(name: string) {
  const recorded = readFileSync(path.join(import.meta.dirname, "recorded", `${name}.jsonl`), "utf8");
  const read = createClaudeReader({ homeSetting: "BRIDGE_CLAUDE_AGENT_SDK_HOME" });
  const steps = recorded
    .split("\n")
    .filter(Boolean)
    .flatMap((line) => read(JSON.parse(line)));
  return {
    text: steps.map((step) => (step.kind === "text" ? step.text : "")).join(""),
    tools: steps.filter(({ kind }) => kind.startsWith("tool.")),
    facts: Object.assign({}, ...steps.map((step) => (step.kind === "facts" ? step.facts : {}))) as Record<string, unknown>,
    ended: steps.flatMap((step) => (step.kind === "ended" ? [step.outcome] : [])),
  };
}

const oneCall = { inputTokens: 150, outputTokens: 30, thinkingTokens: 5, cacheReadTokens: 20, cacheWriteTokens: 10 };

test("a rejected call completes as an error with the reason, and the answer is emitted once", () => {
  const { text, tools, ended } = replay("rejected");
  expect(text).toBe("May I?I have tried.");
  expect(tools).toMatchObject([
    { kind: "tool.invoked", toolName: "Bash" },
    { kind: "tool.completed", isError: true, output: expect.stringContaining('approvals are "deny"') },
  ]);
  expect(ended).toEqual([{ status: "ok" }]);
});

test("an interrupted turn reports its session, usage and cost", () => {
  const { text, tools, facts, ended } = replay("interrupted");
  expect(text).toBe("I wait.");
  expect(tools).toMatchObject([{ kind: "tool.invoked" }, { kind: "tool.completed", isError: true }]);
  expect(facts).toMatchObject({ resumeToken: expect.stringMatching(/^[\da-f-]{36}$/), usage: oneCall, costUsd: 0.001134 });
  expect(ended).toMatchObject([{ status: "error" }]);
});
