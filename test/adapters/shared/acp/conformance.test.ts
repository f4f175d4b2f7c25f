import { adapterConformance } from "../../../conformance/adapter.ts";
import { createScriptedAdapter, doing, scripted, scriptedProfile } from "./scripted-acp.ts";

const usage = { inputTokens: 12, outputTokens: 3 };
const options = [
  { optionId: "yes", name: "Yes", kind: "allow_once" },
  { optionId: "no", name: "No", kind: "reject_once" },
];
const tool = { toolCallId: "1", name: "look", rawInput: { at: "it" } };

adapterConformance("acp", {
  createAdapter: () => createScriptedAdapter({ costScope: "session", capabilities: { ...scriptedProfile.capabilities, approvals: true } }),
  hasProcesses: true,
  scenarios: {
    speak: (text) => doing({ say: text }),
    echo: () => doing({ echo: true }),
    hang: () => scripted({ steps: [{ say: "working" }, { untilCancelled: true }, { end: { stopReason: "cancelled" } }] }),
    fail: {
      errorCode: "rate_limited",
      ask: () =>
        scripted({ steps: [{ say: "429" }, { error: { code: -32603, message: "Internal error", data: { errorKind: "rate_limit" } } }] }),
    },
    useTool: () =>
      doing(
        { say: "Let me see." },
        { update: { sessionUpdate: "tool_call", ...tool, status: "in_progress" } },
        { update: { sessionUpdate: "tool_call_update", ...tool, status: "completed", rawOutput: "seen" } },
        { say: "Done." },
      ),
    resume: {
      remember: (text) => scripted({ steps: [{ remember: text }, { say: "noted" }, { end: { usage } }] }),
      recall: () => scripted({ steps: [{ recall: true }, { end: { usage } }] }),
      usagePerTurn: usage,
    },
    askFirst: () => doing({ ask: { toolCall: { ...tool, status: "pending" }, options } }, { completeIfAllowed: tool }, { say: "Done." }),
    cost: { costUsd: 0.25, ask: () => doing({ say: "worth it" }, { cost: 0.25 }) },
  },
});
