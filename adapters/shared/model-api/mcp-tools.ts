import { createMCPClient, type ListToolsResult, type MCPClient } from "@ai-sdk/mcp";
import { withTimeout } from "@hak2i/async-kit";
import type { JSONValue, Tool, ToolSet } from "ai";
import type { McpServerSpec } from "#contract";
import packageJson from "../../../package.json" with { type: "json" };
import type { ProgramTask } from "../agent-program/agent-program.ts";
import { decideApproval } from "../agent-program/decide-approval.ts";
import { nameMcpServers } from "../agent-program/mcp-server-names.ts";
import { createToolNamer } from "../agent-program/tool-names.ts";
import { PROCESS_LIMITS } from "../process/run-process.ts";
import { answerMemory, type TaskAnswers } from "./answer-memory.ts";
import { failUnansweredRequests } from "./fail-unanswered-requests.ts";
import { createStartBudget, limitFetch, type StartBudget } from "./limit-fetch.ts";
import { ModelFailure, networkErrorCode, redact } from "./model-failure.ts";
import { createModelOutput } from "./model-output.ts";
import { createStdioServer } from "./stdio-transport.ts";
import { sendWellFormed } from "./well-formed-body.ts";

/** How long a server may take to start, and to close. */
const START_LIMIT_MS = 30_000;
const CLOSE_LIMIT_MS = 1_000;
/** Maximum number of pages of a list of tools. */
const MAX_PAGES = 100;

/** The tools of all MCP servers of one task. */
export interface McpTools {
  tools: ToolSet;
  /** Resolves when all servers have ended. */
  close(): Promise<void>;
}

interface McpServer {
  definitions: ListToolsResult;
  client: MCPClient;
  close(): Promise<void>;
}

/**
 * Connects to the MCP servers of a task. Rejects with a `ModelFailure` that names the server if one fails. `reserved`
 * are the names of other tools. `acceptsImages` is whether the endpoint accepts images in the results of tools.
 */
export async function openMcpTools(task: ProgramTask, reserved: Iterable<string>, acceptsImages: boolean): Promise<McpTools> {
  const specs = task.request.mcpServers ?? [];
  const start = createStartBudget();
  const answers = answerMemory.openTask();
  const results = await Promise.allSettled(
    specs.map((spec, index) => openServer(spec, { idSuffix: `mcp-${index + 1}`, task, start, answers })),
  );
  start.end();
  const servers = results.flatMap((result) => (result.status === "fulfilled" ? [result.value] : []));
  const close = async (): Promise<void> => {
    try {
      await Promise.all(servers.map((server) => server.close()));
    } finally {
      answers.release();
    }
  };
  const failed = results.find((result) => result.status === "rejected");
  if (failed !== undefined) {
    await close();
    throw failed.reason;
  }

  const createName = createToolNamer(reserved);
  const serverNames = nameMcpServers(specs);
  const tools = servers.flatMap(({ client, definitions }, index) =>
    Object.entries(client.toolsFromDefinitions(definitions)).map(([serverToolName, tool]) => {
      const name = createName(`mcp__${serverNames[index] ?? "server"}__${serverToolName}`);
      return [name, guardTool(name, tool, task, acceptsImages)] as const;
    }),
  );
  return { tools: Object.fromEntries(tools), close };
}

async function openServer(
  spec: McpServerSpec,
  { idSuffix, task, start, answers }: { idSuffix: string; task: ProgramTask; start: StartBudget; answers: TaskAnswers },
): Promise<McpServer> {
  const closing = new AbortController();
  const child = spec.transport === "stdio" ? createStdioServer(spec, { idSuffix, task, answers }) : null;
  let client: MCPClient | null = null;
  const close = async (): Promise<void> => {
    if (child === null) await withTimeout(Promise.allSettled([client?.close()]), CLOSE_LIMIT_MS, () => {});
    await child?.close();
    closing.abort();
  };
  try {
    const limits = { timeout: START_LIMIT_MS, signal: task.signal };
    client = await createMCPClient({
      transport: child?.transport ?? createRemoteTransport(spec as RemoteSpec, task, { start, answers, signal: closing.signal }),
      clientName: packageJson.name,
      version: packageJson.version,
      initializationOptions: limits,
      // Unexpected messages of a server do not fail the task.
      onUncaughtError: () => {},
    });
    return { client, definitions: await listTools(client, limits), close };
  } catch (error) {
    const reason = child?.failure ?? explain(error, spec);
    await close();
    throw new ModelFailure("adapter_error", `The MCP server ${JSON.stringify(spec.name)} cannot be used: ${reason}`);
  }
}

type RemoteSpec = Exclude<McpServerSpec, { transport: "stdio" }>;

/**
 * Creates the transport of a remote server. Bridge opens the connection itself, so its fetch rejects destinations that are not permitted.
 */
function createRemoteTransport(
  spec: RemoteSpec,
  { context }: ProgramTask,
  limits: { start: StartBudget; answers: TaskAnswers; signal: AbortSignal },
) {
  const { transport: type, url, headers } = spec;
  const limited = limitFetch(sendWellFormed(context.fetch), { ...limits, limitBytes: PROCESS_LIMITS.stdoutBytes });
  const fetch = failUnansweredRequests(limited, spec);
  return { type, url, ...(headers !== undefined && { headers }), redirect: "error" as const, fetch };
}

async function listTools(client: MCPClient, options: { timeout: number; signal: AbortSignal }): Promise<ListToolsResult> {
  const tools: ListToolsResult["tools"] = [];
  let cursor: string | undefined;
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const listed = await client.listTools({ options, ...(cursor !== undefined && { params: { cursor } }) });
    tools.push(...listed.tools);
    cursor = listed.nextCursor;
    if (cursor === undefined) return { ...listed, tools };
  }
  throw new Error(`its list of tools has more than ${MAX_PAGES} pages.`);
}

/** Wraps a tool: emits the start of each call and waits for its approval before the call is sent. */
function guardTool(toolName: string, tool: ToolSet[string], task: ProgramTask, acceptsImages: boolean): ToolSet[string] {
  const { execute } = tool;
  if (execute === undefined) return tool;
  const executeIfAllowed: typeof execute = async (input, options) => {
    const { toolCallId } = options;
    task.timeline.startTool(toolCallId, toolName, input);
    const decision = await decideApproval(task, { toolCallId, toolName, input });
    options.abortSignal?.throwIfAborted();
    if (!decision.allow) throw new Error(decision.reason);
    return await execute(input, options);
  };
  const toModelOutput: ToModelOutput = ({ output }) => createModelOutput(output, acceptsImages);
  return { ...tool, execute: executeIfAllowed, toModelOutput } as ToolSet[string];
}

type ToModelOutput = NonNullable<Tool<unknown, JSONValue>["toModelOutput"]>;

/** Returns why a server failed, without the secrets of its headers and variables. */
function explain(error: unknown, spec: McpServerSpec): string {
  const code = networkErrorCode(error);
  if (code === "destination_not_allowed") return "its address is not permitted. Ask the operator to allow it.";
  const secrets = Object.values((spec.transport === "stdio" ? spec.env : spec.headers) ?? {});
  return code ?? redact(error instanceof Error ? error.message : String(error), secrets);
}
