import { adapterConformance } from "../../conformance/adapter.ts";
import { createScriptedAgent, doing, playing } from "./scripted-agent.ts";

const options = [
  { optionId: "yes", name: "Yes", kind: "allow_once" },
  { optionId: "no", name: "No", kind: "reject_once" },
];
const tool = { toolCallId: "1", title: "look", kind: "other", rawInput: { at: "it" } };

adapterConformance("any ACP agent", {
  createAdapter: () => createScriptedAgent(),
  hasProcesses: true,
  scenarios: {
    speak: (text) => doing({ say: text }),
    echo: () => ({}),
    hang: () => playing({ say: "working" }, { untilCancelled: true }, { end: { stopReason: "cancelled" } }),
    fail: {
      errorCode: "rate_limited",
      ask: () => playing({ error: { code: -32603, message: "Internal error", data: { errorKind: "rate_limit" } } }),
    },
    useTool: () =>
      doing(
        { say: "Let me see." },
        { update: { sessionUpdate: "tool_call", ...tool, status: "in_progress" } },
        { update: { sessionUpdate: "tool_call_update", ...tool, status: "completed", rawOutput: "seen" } },
        { say: "Done." },
      ),
    resume: {
      remember: (text) => doing({ remember: text }, { say: "noted" }),
      recall: () => doing({ recall: true }),
      usagePerTurn: null,
    },
    askFirst: () => doing({ ask: { toolCall: { ...tool, status: "pending" }, options } }, { completeIfAllowed: tool }, { say: "Done." }),
    cost: null,
  },
});
