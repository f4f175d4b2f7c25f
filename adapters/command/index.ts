import type {
  AdapterCapabilities,
  AdapterConfig,
  AdapterEvent,
  AdapterHealthStatus,
  ExecutionAdapter,
  ExecutionEventListener,
  ExecutionRequest,
  ExecutionResult,
} from "#contract";
import { createRunningTasks } from "../shared/agent-program/running-tasks.ts";
import { parseCutLine } from "../shared/process/cut-line.ts";
import { createNotStartedResult } from "../shared/process/failure.ts";
import { findProgram } from "../shared/process/find-program.ts";
import { exitFailure, stopFailure } from "../shared/process/process-failure.ts";
import { type ProcessEnd, runProcess } from "../shared/process/run-process.ts";
import { createSandboxSteps } from "../shared/process/sandbox.ts";
import { textLimitFailure } from "../shared/process/text-limit.ts";
import { createDecisionChannel } from "./decision-channel.ts";
import { type CommandResult, readLine } from "./events.ts";
import { createProgramText } from "./program-text.ts";
import { type CommandCall, createCommandCall, formatProgramInput } from "./request.ts";

const INVALID_TEXT_WARNING =
  'The program printed bytes that are not UTF-8. U+FFFD replaces them in the text. Print UTF-8, or write the bytes to a file and dispatch with outputStrategy {"type": "file"}.';

/** Options of the adapter. */
export interface CommandAdapterOptions {
  /** Time in ms for the program to exit after it reported its result. Then Bridge stops it and keeps the result. */
  exitAfterResultMs?: number;
}

/** The state of the adapter between `initialize()` and `shutdown()`. */
interface AdapterState {
  call: CommandCall;
  config: AdapterConfig;
  exitAfterResultMs: number;
}

/** Creates the adapter for any program. The program reads the request from stdin and prints events and its result as lines on stdout. */
export function createCommandAdapter({ exitAfterResultMs = 10_000 }: CommandAdapterOptions = {}): Required<ExecutionAdapter> {
  const running = createRunningTasks();
  let state: AdapterState | null = null;

  return {
    provider: "command",

    async initialize(config) {
      state = { call: createCommandCall(config.settings, config.env), config, exitAfterResultMs };
    },

    async shutdown() {
      state = null;
      await running.stopAll();
    },

    checkHealth: async () => describeHealth(state),

    capabilities: () => ({ ...capabilities, approvals: state?.call.asks === true }),

    async execute(request) {
      const current = state;
      if (current === null) return createNotStartedResult("cli", "adapter_offline", "The command adapter is not running.");
      return running.run(request.taskId, (controller) => runProgram(request, current, running.emit, controller));
    },

    cancel: running.cancel,
    onEvent: running.onEvent,
    offEvent: running.offEvent,
  };
}

export { createCommandAdapter as createAdapter };

async function runProgram(
  request: ExecutionRequest,
  { call, config, exitAfterResultMs }: AdapterState,
  emit: ExecutionEventListener,
  controller: AbortController,
): Promise<ExecutionResult> {
  const { taskId, directories } = request;
  const startedAt = performance.now();
  let exitTimer: NodeJS.Timeout | undefined;
  let reported: CommandResult | null = null;
  let dropped = 0;
  let malformed = 0;

  const emitWarning = (warning: string): void => emit({ type: "execution.progress", taskId, data: { warning } });
  const text = createProgramText({
    onText: (content) => emit({ type: "assistant.text", taskId, data: { content } }),
    onTooLong: () => controller.abort(),
  });
  const channel = call.asks ? createDecisionChannel({ request, requestApproval: config.requestApproval, emitWarning }) : null;
  const report = (result: CommandResult): void => {
    reported = result;
    channel?.close();
    exitTimer = setTimeout(() => controller.abort(), exitAfterResultMs);
  };
  const onLine = (line: string, ended: boolean): void => {
    if (text.isTooLong()) return;
    const parsed = readLine(line);
    if (parsed.kind === "text" || (parsed.kind === "approval" && channel === null)) {
      text.appendLine(ended ? `${line}\n` : line);
      return;
    }
    text.flushLines();
    if (parsed.kind === "event" && parsed.event.type === "assistant.text") text.appendDelta(parsed.event.data.content);
    else {
      text.flushDelta();
      if (parsed.kind === "event") text.noteEvent(parsed.event.type);
      // A stored event is about as large as its line; invalid bytes take more space.
      text.countBytes(Buffer.byteLength(line));
      if (parsed.kind === "event") emit({ ...parsed.event, taskId } as AdapterEvent);
      else if (parsed.kind === "approval") void channel?.ask(parsed.fields);
      else if (parsed.kind === "malformed") {
        malformed += 1;
        emitWarning(`The program printed a malformed event, which was ignored: ${parsed.fault}`);
      }
      // Only the first result counts, and none after a cancel.
      else if (parsed.kind === "result" && reported === null && !controller.signal.aborted) report(parsed.result);
      else dropped += 1;
    }
  };
  /** The input and output of a tool call may be cut; a text or a result may not. */
  const onLongLine = (beginning: string): boolean => {
    const event = parseCutLine(beginning);
    const isCall = event?.["type"] === "tool.invoked" || event?.["type"] === "tool.completed";
    // The field that follows a cut output is lost.
    if (isCall) onLine(JSON.stringify({ isError: false, ...event }), true);
    return isCall;
  };

  const end = await runProcess({
    ...call,
    taskId,
    trace: request,
    cwd: directories.cwd,
    tmp: directories.tmp,
    home: directories.home,
    workspace: directories.workspace,
    sandbox: config.sandbox,
    input: channel?.open ?? formatProgramInput(request),
    onLine,
    onLongLine,
    onInvalidText: () => emitWarning(INVALID_TEXT_WARNING),
    onChunkEnd: text.flushLines,
    signal: controller.signal,
  }).finally(() => clearTimeout(exitTimer));
  text.flushDelta();

  if (dropped > 0) config.logger.warn({ taskId, dropped }, "reserved events or late results of the program dropped");
  if (malformed > 0) config.logger.warn({ taskId, malformed }, "malformed events of the program ignored");
  if (end.orphansLeft > 0) config.logger.warn({ taskId, processes: end.orphansLeft }, "failed to kill processes of the task");
  if (end.orphansKilled > 0) config.onOrphansKilled(end.orphansKilled);
  const result = text.isTooLong() ? (stopFailure(end) ?? textLimitFailure) : resultOf(end, reported);
  return { output: text.output(), ...result, durationMs: performance.now() - startedAt, connection: "cli" };
}

/** Chooses the result. Precedence: a start failure or exceeded limit, the result that the program reported, its exit. */
function resultOf(end: ProcessEnd, reported: CommandResult | null): CommandResult {
  const decided = stopFailure(end) ?? reported;
  if (decided !== null) return decided;
  return !end.aborted && end.exitCode === 0 ? { status: "ok" } : exitFailure(end);
}

function describeHealth(state: AdapterState | null): AdapterHealthStatus {
  if (state === null) return { status: "offline", connection: null, version: null, detail: "The adapter is not running.", preflight: [] };
  const { call, config } = state;
  const [program = ""] = call.argv;
  const found = findProgram(program, call.env["PATH"] ?? "");
  const ok = found !== null;
  const detail = ok
    ? found
    : `${program} is not an executable program. Set BRIDGE_COMMAND to one, for example ["/usr/bin/python3","/opt/agent.py"].`;
  return {
    status: ok ? "healthy" : "offline",
    connection: ok ? "cli" : null,
    path: found,
    version: null,
    detail: ok ? null : detail,
    preflight: [{ step: "primary connection", ok, detail }, ...createSandboxSteps(config)],
  };
}

const capabilities: AdapterCapabilities = {
  streaming: true,
  sessionResume: true,
  fileIo: true,
  mcpServers: true,
  tools: true,
  // Bridge passes the profile to the program but cannot enforce it.
  sandboxing: false,
  costTracking: true,
  management: false,
  // With BRIDGE_COMMAND_APPROVALS.
  approvals: false,
  cancellation: true,
  outputStrategies: ["stream", "file", "structured"],
};
