import type { ExecutionRequest, McpServerSpec } from "#contract";
import type { ProgramContext } from "../../../adapters/shared/agent-program/agent-program.ts";
import { programSettingsSchema } from "../../../adapters/shared/agent-program/settings.ts";
import { createExecutionRequest } from "../../conformance/execution-request.ts";
import { programContext } from "../shared/agent-program/scripted-program.ts";

/** An MCP server with a value that Gemini would expand. */
export const server: McpServerSpec = {
  name: "words",
  transport: "stdio",
  command: "/bin/words",
  args: ["--key=$KEY"],
  env: { PASS: "a$b" },
};

/** The context of a task with these settings and this environment. */
export const contextOf = (settings: object = {}, env: ProgramContext["env"] = { GEMINI_API_KEY: "k" }): ProgramContext =>
  programContext("/data", { settings: programSettingsSchema.parse(settings), env });

/** A read-only request whose workspace is `root`. */
export const requestIn = (root: string, changes: Partial<ExecutionRequest> = {}): ExecutionRequest =>
  createExecutionRequest(root, { profile: "inspect", approvals: "deny", ...changes });
