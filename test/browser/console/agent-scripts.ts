import { setTimeout as delay } from "node:timers/promises";
import type { ExecutionResult } from "#contract";
import type { Emit, Run } from "../../adapters/in-memory-adapter.ts";

/** Runs the script of the message, or plays the role of a council. */
export const runScript: Run = async (request, emit, signal, requestApproval) => {
  const { message, metadata } = request;
  const role = (metadata as { council?: CouncilRole } | undefined)?.council;
  if (role !== undefined) return playRole(role);
  if (/^(List|Migrate|Draft)/.test(message)) return keepWorking(emit, signal);
  if (message.includes("Remove unused files")) return removeFiles(emit, (call) => requestApproval({ taskId: request.taskId, ...call }));
  if (message.includes("Upgrade the types"))
    return { ...usage(0.06, 8200, 410), status: "error", errorCode: "model_error", error: "The model is overloaded. Try again later." };
  if (message.includes("failed tests")) return summarizeTests(emit);
  if (message.includes("links")) return checkLinks(emit);
  return writeNotes(emit);
};

const usage = (costUsd: number, inputTokens: number, outputTokens: number): Partial<ExecutionResult> => ({
  ...{ costUsd, model: "large" },
  usage: { inputTokens, outputTokens, thinkingTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 },
});

async function callTool(emit: Emit, toolName: string, input: unknown, output: unknown, isError = false): Promise<void> {
  const toolCallId = `${toolName}-${JSON.stringify(input)}`;
  emit("tool.invoked", { toolCallId, toolName, input });
  // So that the duration of the call is not zero.
  await delay(JSON.stringify(output).length);
  emit("tool.completed", { toolCallId, toolName, output, isError });
}

function answer(emit: Emit, output: string, used: Partial<ExecutionResult>): Partial<ExecutionResult> {
  emit("assistant.text", { content: output });
  return { ...used, output };
}

async function summarizeTests(emit: Emit): Promise<Partial<ExecutionResult>> {
  emit("assistant.text", { content: "I will look at the report of the nightly build first." });
  await callTool(emit, "read_file", { path: "reports/nightly.json" }, { passed: 1841, failed: 3 });
  await callTool(emit, "shell", { command: "npm test -- session" }, "3 failed, 42 passed", true);
  emit("assistant.text", { content: "All failures are in one file. I will read it." });
  await callTool(emit, "read_file", { path: "src/session.ts" }, "export function openSession() { … }");
  const output = [
    "**Three of 1844 tests failed**, all in `session.ts`:",
    "- a session that has expired is renewed",
    "- a closed session answers\n- the time limit of a session is ignored",
    "The change of Monday causes it: `openSession()` no longer compares the times.",
  ].join("\n\n");
  return answer(emit, output, usage(0.31, 48_200, 2150));
}

async function checkLinks(emit: Emit): Promise<Partial<ExecutionResult>> {
  await callTool(emit, "search", { pattern: "\\]\\(", path: "docs/" }, "214 links in 31 files");
  return answer(emit, "212 of 214 links work. Two links in docs/setup.md are broken.", usage(0.12, 21_400, 640));
}

async function writeNotes(emit: Emit): Promise<Partial<ExecutionResult>> {
  await callTool(emit, "shell", { command: "git log --oneline v1.3..HEAD" }, "58 commits");
  return answer(emit, "Version 1.4 adds webhooks, starts twice as fast, and fixes 11 faults.", usage(0.18, 30_100, 1200));
}

async function keepWorking(emit: Emit, signal: AbortSignal): Promise<never> {
  emit("assistant.text", { content: "I will begin with a list." });
  emit("tool.invoked", { toolCallId: "call-1", toolName: "shell", input: { command: "git ls-files" } });
  return new Promise((_, reject) => signal.addEventListener("abort", () => reject(new Error("cancelled"))));
}

async function removeFiles(
  emit: Emit,
  ask: (call: { toolCallId: string; toolName: string; input: unknown }) => Promise<{ decision: string }>,
): Promise<Partial<ExecutionResult>> {
  emit("assistant.text", { content: "Nothing imports these four files. I will remove them." });
  const input = {
    command: "git rm src/old-form.ts src/old-list.ts src/polyfill.ts src/theme-2019.css",
    description: "Remove unused files",
  };
  const { decision } = await ask({ toolCallId: "call-1", toolName: "shell", input });
  return answer(emit, decision === "approve" ? "The files are removed." : "The files stay.", usage(0.09, 9800, 300));
}

interface CouncilRole {
  role: string;
  domain?: string;
  round: number;
}

/** Every expert raises one finding about its domain. */
function playRole({ role, domain = "integration", round }: CouncilRole): Partial<ExecutionResult> {
  const finding = {
    ...{ type: "finding", severity: domain === "security" ? "HIGH" : "LOW", evidence: `${domain === "api" ? "login" : "session"}.ts:42` },
    title: domain === "security" ? "A session stays valid after the password has changed" : `The ${domain} layer returns no error code`,
    description: "Clients cannot tell the two cases apart.",
    action: "End all sessions of the user.",
  };
  const outputs = round === 1 && !/challenger|checker/i.test(role) ? [finding] : [];
  return { ...usage(0.02, 4100, 220), output: JSON.stringify({ outputs }) };
}
