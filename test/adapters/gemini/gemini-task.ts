import { lookup } from "node:dns";
import path from "node:path";
import type { ExecutionRequest, McpServerSpec } from "#contract";
import type { ProgramContext } from "../../../adapters/shared/agent-program/agent-program.ts";
import { programSettingsSchema } from "../../../adapters/shared/agent-program/settings.ts";

/** An MCP server with a value that Gemini would expand. */
export const server: McpServerSpec = {
  name: "words",
  transport: "stdio",
  command: "/bin/words",
  args: ["--key=$KEY"],
  env: { PASS: "a$b" },
};

/** The context of a task with these settings and this environment. */
export function contextOf(settings: object = {}, env: ProgramContext["env"] = { GEMINI_API_KEY: "k" }): ProgramContext {
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

/** A request whose directories are below a root. */
export function requestIn(root: string, changes: Partial<ExecutionRequest> = {}): ExecutionRequest {
  return {
    taskId: "t",
    agentId: "a",
    message: "m",
    timeoutSeconds: 60,
    outputStrategy: { type: "stream" },
    profile: "inspect",
    approvals: "deny",
    directories: { workspace: root, cwd: root, home: path.join(root, "home"), tmp: path.join(root, "tmp") },
    ...changes,
  };
}
