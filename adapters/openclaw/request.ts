import type { ExecutionRequest } from "#contract";
import { formatPrompt } from "../shared/agent-program/prompt.ts";
import type { OpenClawSettings } from "./settings.ts";

/** Bridge enforces the time limit of a task. The gateway's limit is longer and ends runs that Bridge has lost. */
const EXTRA_SECONDS = 60;

/** The session and the id of a run. */
export interface RunTarget {
  key: string;
  runId: string;
  sessionId: string;
}

/** Creates the params of `sessions.create`, which also updates an existing session. */
export function createSessionParams(request: ExecutionRequest, key: string, { workspace }: Pick<OpenClawSettings, "workspace">) {
  return {
    agentId: request.agentId,
    key,
    permissionMode: selectPermissionMode(request),
    ...(workspace === "bridge" ? { cwd: request.directories.cwd } : {}),
  };
}

/** Creates the params of `sessions.patch` that enable MCP servers in one session. */
export const createEnableServersParams = (names: readonly string[]) => ({
  toolOverrides: { mcpServers: Object.fromEntries(names.map((name) => [name, true])) },
});

/** Creates the params of `agent`, which starts the run. */
export function createRunParams(request: ExecutionRequest, { key, runId, sessionId }: RunTarget) {
  const { agentId, model, systemPrompt, timeoutSeconds } = request;
  return {
    agentId,
    sessionKey: key,
    // The gateway rejects the run if the session was reset or replaced in the meantime.
    expectedExistingSessionId: sessionId,
    // The id of the run. It also prevents a second start.
    idempotencyKey: runId,
    message: formatPrompt(request),
    timeout: Math.ceil(timeoutSeconds) + EXTRA_SECONDS,
    // Do not post the answer to a chat channel.
    deliver: false,
    ...(model === undefined ? {} : { model }),
    ...(systemPrompt === undefined ? {} : { extraSystemPrompt: systemPrompt }),
  };
}

/** Returns why the gateway cannot run a request, and what to do; null if it can. */
export function unsupportedReason({ directories }: ExecutionRequest, { workspace }: Pick<OpenClawSettings, "workspace">): string | null {
  if (workspace === "agent" && directories.cwd !== directories.workspace)
    return "With BRIDGE_OPENCLAW_WORKSPACE=agent, tasks run in the workspace of OpenClaw's agent. Omit metadata.cwd.";
  return null;
}

/**
 * Maps the profile to a permission mode. `read-only` has no tools that write files or run commands, `guarded` stays in the workspace and
 * requests approval of each command, `full` requests no approval.
 */
function selectPermissionMode({ profile, approvals }: Pick<ExecutionRequest, "profile" | "approvals">) {
  if (profile === "inspect") return "read-only";
  return approvals === "allow" ? "full" : "guarded";
}
