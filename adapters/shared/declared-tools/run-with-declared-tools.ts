import path from "node:path";
import type { AdapterLogger, ExecutionRequest, McpServerSpec, NormalizedTool } from "#contract";
import type { ConnectionResult } from "../agent-program/agent-program.ts";
import { nameMcpServers } from "../agent-program/mcp-server-names.ts";
import type { TaskTimeline } from "../agent-program/task-timeline.ts";
import { createToolNamer } from "../agent-program/tool-names.ts";
import { failure } from "../process/failure.ts";
import { createCallGate } from "./call-gate.ts";
import type { CallStore } from "./call-store.ts";
import { createDeclaredToolMatcher } from "./declared-tool-names.ts";
import type { OfferedTools } from "./offered-tools.ts";
import { matchResults, type OpenCall } from "./open-calls.ts";
import { formatResultsMessage } from "./results-message.ts";
import { markToolServer, RELAY_VARIABLES } from "./tool-server-spec.ts";

/** The parts of a task that its declared tools change. */
export interface ToolTask {
  request: ExecutionRequest;
  timeline: TaskTimeline;
  /** Aborted to stop the task. */
  signal: AbortSignal;
  /** Absent: the task declares no tools. */
  offeredTools?: OfferedTools;
}

/** Runs the program with the task, after its declared tools were added. */
type RunTask = (task: ToolTask) => Promise<ConnectionResult>;

/** The parts that the tasks of an adapter share. */
export interface ToolHost {
  store: CallStore;
  logger: AdapterLogger;
  /** Tool names that the program reserves. Absent: none. */
  reservedNames?: readonly string[];
}

/** Maximum length of a tool name: programs prefix it with the server's name, and vendors accept 64 characters. */
const MAX_NAME_LENGTH = 40;
const SERVER_NAME = "bridge";
const RELAY = path.join(import.meta.dirname, `stdio-relay${path.extname(import.meta.filename)}`);

/**
 * Runs a task with declared tools on a program that supports MCP servers. Bridge serves the tools over MCP. A call ends
 * the turn and the task, and the message of the next task of the session contains the results.
 */
export async function runWithDeclaredTools(task: ToolTask, host: ToolHost, run: RunTask): Promise<ConnectionResult> {
  const { store, logger, reservedNames = [] } = host;
  const { request } = task;
  const { resumeToken, tools = [], directories } = request;
  const { home } = directories;
  const open = resumeToken === undefined ? [] : ((await store.read(home, resumeToken)) ?? []);
  const matched = open.length === 0 ? null : matchResults(open, request.message);
  if (matched !== null && "fault" in matched)
    return { ...failure("adapter_error", matched.fault), ...(resumeToken !== undefined && { resumeToken }) };

  const resumedRequest = matched === null ? request : { ...request, message: formatResultsMessage(matched) };
  const { result, calls } =
    tools.length === 0
      ? { result: await run({ ...task, request: resumedRequest }), calls: [] }
      : await offerTools({ ...task, request: resumedRequest }, { tools, reservedNames }, run);
  // A turn that failed leaves the calls open.
  if (result.status === "error") return result;
  try {
    if (calls.length > 0 && result.resumeToken !== undefined) await store.write(home, result.resumeToken, [...calls]);
    if (open.length > 0 && resumeToken !== undefined && (calls.length === 0 || result.resumeToken !== resumeToken))
      await store.remove(home, resumeToken);
    return result;
  } catch (error) {
    logger.error({ taskId: request.taskId, err: error }, "failed to store the open tool calls of the task");
    // Without its open calls, the session must not be resumed, so the result has no resume token.
    const { resumeToken: _, ...rest } = result;
    return rest;
  }
}

async function offerTools(
  { request, timeline, signal }: ToolTask,
  { tools, reservedNames }: { tools: readonly NormalizedTool[]; reservedNames: readonly string[] },
  run: RunTask,
): Promise<{ result: ConnectionResult; calls: readonly OpenCall[] }> {
  const createName = createToolNamer(reservedNames, MAX_NAME_LENGTH);
  const toolsByName = new Map(tools.map((tool) => [createName(tool.name), tool]));
  const servers = request.mcpServers ?? [];
  const serverName = nameMcpServers([...servers, { name: SERVER_NAME }]).at(-1) ?? SERVER_NAME;
  const includes = createDeclaredToolMatcher(serverName, toolsByName.keys());
  const gate = createCallGate(timeline, includes);
  // Loaded with the first task that needs it.
  const { openToolServer } = await import("./tool-server.ts");
  const server = await openToolServer({ tools: toolsByName, call: gate.call });
  try {
    const http = markToolServer({
      name: serverName,
      transport: "http",
      url: server.url,
      headers: { Authorization: `Bearer ${server.secret}` },
    });
    const env = { [RELAY_VARIABLES.url]: server.url, [RELAY_VARIABLES.secret]: server.secret };
    const stdio: McpServerSpec = { name: serverName, transport: "stdio", command: process.execPath, args: [RELAY], env };
    const result = await run({
      request: { ...request, mcpServers: [...servers, http] },
      timeline: gate.timeline,
      signal: AbortSignal.any([signal, gate.turnOver]),
      offeredTools: { http, stdio, includes, noteOutput: gate.noteOutput },
    });
    const { calls } = gate;
    if (result.status === "ok" && calls.length === 0 && !server.isListed) return { result: { ...result, ...TOOLS_NOT_READ }, calls: [] };
    // A turn that Bridge ended has the status of a canceled task.
    const hasStopped = result.status === "ok" || (gate.turnOver.aborted && result.errorCode === "cancelled");
    if (calls.length === 0 || signal.aborted || !hasStopped) return { result, calls: [] };
    for (const { toolCallId } of calls) timeline.leaveToolOpen(toolCallId);
    return { result: createOpenCallsResult(result, calls), calls };
  } finally {
    gate.close();
    await server.close();
  }
}

/** The result if the program answered without reading its tools. */
const TOOLS_NOT_READ = failure(
  "adapter_error",
  "The program did not read the declared tools from Bridge's MCP server, so its model answered without them. Dispatch again, or check that the program can connect to 127.0.0.1.",
);

/** Creates the result of a task that ended with open calls, which the caller executes. */
function createOpenCallsResult({ usage, costUsd, model, resumeToken }: ConnectionResult, calls: readonly OpenCall[]): ConnectionResult {
  if (resumeToken === undefined)
    return failure(
      "adapter_error",
      "The program called a declared tool, but its session cannot be resumed: the program reported no session id. Dispatch without tools.",
    );
  return {
    status: "ok",
    outputs: { toolCalls: [...calls] },
    resumeToken,
    ...(usage !== undefined && { usage }),
    ...(costUsd !== undefined && { costUsd }),
    ...(model !== undefined && { model }),
  };
}
