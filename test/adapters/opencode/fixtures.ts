import { lookup } from "node:dns";
import path from "node:path";
import type { ExecutionRequest } from "#contract";
import type { Permissions, Rule } from "../../../adapters/opencode/permissions.ts";
import type { ProgramContext } from "../../../adapters/shared/agent-program/agent-program.ts";
import { programSettingsSchema } from "../../../adapters/shared/agent-program/settings.ts";

/** Creates the context of an adapter with these settings and this environment. */
export function contextOf(settings: object = {}, env: ProgramContext["env"] = { ANTHROPIC_API_KEY: "k" }): ProgramContext {
  const silent = () => {};
  return {
    settings: programSettingsSchema.parse(settings),
    env,
    dataDir: "/data",
    logger: { debug: silent, info: silent, warn: silent, error: silent },
    sandbox: null,
    retentionDays: 7,
    fetch,
    lookup,
    onOrphansKilled: silent,
    requestApproval: async () => ({ decision: "reject", reason: null }),
  };
}

/** Creates a request whose workspace is `root`. */
export function requestIn(root: string, changes: Partial<ExecutionRequest> = {}): ExecutionRequest {
  return {
    taskId: "t",
    agentId: "a",
    message: "m",
    timeoutSeconds: 60,
    outputStrategy: { type: "stream" },
    profile: "modify",
    approvals: "allow",
    directories: { workspace: root, cwd: root, home: path.join(root, "home"), tmp: path.join(root, "tmp") },
    ...changes,
  };
}

/** Converts permissions to rules as OpenCode lists them. */
export const rulesOf = (permissions: Permissions): Rule[] =>
  Object.entries(permissions).flatMap(([permission, rule]) =>
    Object.entries(typeof rule === "string" ? { "*": rule } : rule).map(([pattern, action]) => ({ permission, pattern, action })),
  );
