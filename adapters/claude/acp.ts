import { z } from "zod";
import type { ExecutionRequest } from "#contract";
import { createAcpConnection } from "../acp/create-acp-connection.ts";
import { claudeEnvironment } from "../claude-code/environment.ts";
import { sdkOptions } from "../claude-code/sdk-options.ts";
import { writeFiles } from "../claude-code/task-files.ts";
import { unauthorised } from "../claude-code/verdict.ts";
import { findProgram } from "../process/find-program.ts";
import type { Finding, ProgramContext } from "../program/agent-program.ts";
import { readTurnUsage } from "./acp-usage.ts";
import { capabilities } from "./capabilities.ts";
import { homeSetting } from "./home-setting.ts";

/** Where its tools have their names. */
const nameSchema = z.object({ claudeCode: z.object({ toolName: z.string() }) });

/** A code of the protocol. */
const AUTHENTICATION_REQUIRED = -32000;

/** `claude-agent-acp`, which runs the Claude Code that it brings along. */
export const acpConnection = createAcpConnection({
  capabilities,
  find,
  async launch(argv, { request, context }) {
    await writeFiles(request);
    const model = request.model === undefined ? {} : { ANTHROPIC_MODEL: request.model };
    return { argv, env: claudeEnvironment(context, { ...model, CLAUDE_CODE_TMPDIR: request.directories.tmp }) };
  },
  launchProbe: (argv, context) => ({ argv, env: claudeEnvironment(context) }),
  sessionFields,
  readsMcpServers: true,
  // A resumed session would go on in the mode of its last task.
  mode: ({ profile }) => (profile === "inspect" ? "default" : "acceptEdits"),
  toolName: ({ _meta }) => nameSchema.safeParse(_meta).data?.claudeCode.toolName,
  usageOf: (response) => readTurnUsage(response).usage,
  modelOf: (response) => readTurnUsage(response).model,
  costCounts: "session",
  explainError: ({ code, message }) => (code === AUTHENTICATION_REQUIRED ? unauthorised(message, homeSetting) : undefined),
});

function find({ settings, env }: ProgramContext): Finding {
  const name = settings.acpCommand ?? "claude-agent-acp";
  const program = findProgram(name, env["PATH"] ?? "");
  if (program !== null) return { argv: [program] };
  return { missing: `${name} is not on the PATH: npm install -g @agentclientprotocol/claude-agent-acp, or set BRIDGE_CLAUDE_ACP_COMMAND.` };
}

/** The same rights as over `cli`, as options of the SDK on which the agent is built. */
function sessionFields(request: ExecutionRequest): Record<string, unknown> {
  const { systemPrompt } = request;
  return {
    _meta: { claudeCode: { options: sdkOptions(request) } },
    ...(systemPrompt === undefined ? {} : { systemPrompt: { mode: "append", content: [{ type: "text", text: systemPrompt }] } }),
  };
}
