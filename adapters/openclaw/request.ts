import type { ExecutionRequest } from "#contract";
import { promptOf } from "../shared/agent-program/prompt.ts";
import type { OpenClawSettings } from "./settings.ts";

/** Bridge ends a task at its time limit by itself; the gateway's own comes after it, for a run that Bridge has lost. */
const EXTRA_SECONDS = 60;

/** Where a task's run belongs. */
export interface RunTarget {
  key: string;
  runId: string;
  sessionId: string;
}

/** Params of `sessions.create`, which also changes a session that is there. */
export function sessionParams(request: ExecutionRequest, key: string, { workspace }: Pick<OpenClawSettings, "workspace">) {
  return {
    agentId: request.agentId,
    key,
    permissionMode: permissionModeOf(request),
    ...(workspace === "bridge" ? { cwd: request.directories.cwd } : {}),
  };
}

/** Params of `sessions.patch`, by which a session uses servers that are disabled for all others. */
export const enableServersParams = (names: readonly string[]) => ({
  toolOverrides: { mcpServers: Object.fromEntries(names.map((name) => [name, true])) },
});

/** Params of `agent`, which starts the run. */
export function runParams(request: ExecutionRequest, { key, runId, sessionId }: RunTarget) {
  const { agentId, model, systemPrompt, timeoutSeconds } = request;
  return {
    agentId,
    sessionKey: key,
    // A session that was reset or replaced meanwhile is another one.
    expectedExistingSessionId: sessionId,
    // The id of the run, and what keeps it from being started twice.
    idempotencyKey: runId,
    message: promptOf(request),
    timeout: Math.ceil(timeoutSeconds) + EXTRA_SECONDS,
    // Into no chat channel.
    deliver: false,
    ...(model === undefined ? {} : { model }),
    ...(systemPrompt === undefined ? {} : { extraSystemPrompt: systemPrompt }),
  };
}

/** Why the gateway cannot carry a request, and what to do about it; null when it can. */
export function unsupportedReason({ directories }: ExecutionRequest, { workspace }: Pick<OpenClawSettings, "workspace">): string | null {
  if (workspace === "agent" && directories.cwd !== directories.workspace)
    return "With BRIDGE_OPENCLAW_WORKSPACE=agent tasks work in the workspace of OpenClaw's agent: dispatch without metadata.cwd.";
  return null;
}

/** `read-only` has neither tools that write nor commands, `guarded` stays inside and asks before a command, `full` asks nobody. */
function permissionModeOf({ profile, approvals }: Pick<ExecutionRequest, "profile" | "approvals">) {
  if (profile === "inspect") return "read-only";
  return approvals === "allow" ? "full" : "guarded";
}
