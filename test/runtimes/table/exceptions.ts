import type { Connection } from "#contract";
import type { Runtime } from "./runtimes.ts";

/** A scenario that a runtime does not support, and the reason. It is listed and not played. */
export interface Exception {
  runtime: Runtime;
  connection: Connection;
  scenario: string;
  reason: string;
  /** With the model proxy, the runtime supports the scenario. */
  needsProxy?: true;
}

export const exceptions: readonly Exception[] = [
  ...["resume", "usage over a resumed session"].map((scenario) => ({
    runtime: "gemini" as const,
    connection: "acp" as const,
    scenario,
    reason: "Gemini CLI destroys a session when it loads it over ACP. `cli`, which Bridge tries first, resumes sessions.",
  })),
  ...["MCP server", "MCP server that does not start"].map((scenario) => ({
    runtime: "gemini" as const,
    connection: "acp" as const,
    scenario,
    reason: "Gemini CLI starts MCP servers only in trusted folders, whose settings would apply over ACP. `cli` supports them.",
  })),
  {
    runtime: "codex",
    connection: "acp",
    scenario: "MCP server that does not start",
    reason: "codex-acp does not report which configured MCP servers failed. The task runs without them. `cli` names them.",
  },
  {
    runtime: "gemini",
    connection: "acp",
    scenario: "call of an unknown tool",
    reason: "Over ACP, Gemini CLI reports neither the call nor the end of a message. The answer contains the text before the call.",
  },
  {
    runtime: "gemini",
    connection: "acp",
    scenario: "declared tools",
    reason: "Over ACP, Gemini CLI supports neither MCP servers nor resuming a session. `cli` supports both.",
  },
  {
    runtime: "opencode",
    connection: "cli",
    scenario: "usage limit",
    reason: "OpenCode waits as long as the vendor names. `cli` reports nothing then; with the model proxy, Bridge ends the wait.",
    needsProxy: true,
  },
  ...(["acp", "cli"] as const).map((connection) => ({
    runtime: "codex" as const,
    connection,
    scenario: "approvals",
    reason: "Bridge never lets Codex leave its sandbox, so Codex requests no approval.",
  })),
  ...(["claude", "gemini", "opencode"] as const).map((runtime) => ({
    runtime,
    connection: "cli" as const,
    scenario: "approvals",
    reason: "Over `cli` the program cannot ask while it runs. The other connection supports approvals.",
  })),
];
