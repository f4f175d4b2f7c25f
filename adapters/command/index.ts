import type {
  AdapterConfig,
  AdapterEvent,
  AdapterHealthStatus,
  ExecutionAdapter,
  ExecutionEventListener,
  ExecutionRequest,
  ExecutionResult,
  GatewayCapabilities,
} from "#contract";
import { notStartedResult } from "../shared/agent-program/not-started-result.ts";
import { createRunningTasks } from "../shared/agent-program/running-tasks.ts";
import { encodedSize } from "../shared/process/encoded-size.ts";
import { findProgram } from "../shared/process/find-program.ts";
import { exitFailure, stopFailure } from "../shared/process/process-failure.ts";
import { type ProcessEnd, runProcess } from "../shared/process/run-process.ts";
import { sandboxStep } from "../shared/process/sandbox-step.ts";
import { createTextLimit, textLimitFailure } from "../shared/process/text-limit.ts";
import { type CommandResult, readLine } from "./events.ts";
import { type CommandCall, commandCall, programInput } from "./request.ts";

export interface CommandAdapterOptions {
  /** How long a program that has reported its result may take to exit; then it is stopped, and its result stands. */
  exitAfterResultMs?: number;
}

interface Ready {
  call: CommandCall;
  config: AdapterConfig;
  exitAfterResultMs: number;
}

/** Runs any program as an agent: the request by stdin, its events and its result as lines on stdout. */
export function createCommandAdapter({ exitAfterResultMs = 10_000 }: CommandAdapterOptions = {}): Required<ExecutionAdapter> {
  const running = createRunningTasks();
  let ready: Ready | null = null;

  return {
    provider: "command",

    async initialize(config) {
      ready = { call: commandCall(config.settings, config.env), config, exitAfterResultMs };
    },

    async shutdown() {
      ready = null;
      await running.stopAll();
    },

    checkHealth: async () => healthOf(ready),

    capabilities: () => capabilities,

    async execute(request) {
      const given = ready;
      if (given === null) return notStartedResult("cli", "adapter_offline", "The command adapter is not running.");
      return running.run(request.taskId, (controller) => runProgram(request, given, running.emit, controller));
    },

    cancel: running.cancel,
    onEvent: running.onEvent,
    offEvent: running.offEvent,
  };
}

export { createCommandAdapter as createAdapter };

async function runProgram(
  request: ExecutionRequest,
  { call, config, exitAfterResultMs }: Ready,
  emit: ExecutionEventListener,
  controller: AbortController,
): Promise<ExecutionResult> {
  const { taskId, directories } = request;
  const startedAt = performance.now();
  let exitTimer: NodeJS.Timeout | undefined;
  let said = "";
  /** Length of the text before the last tool event: a discard withdraws only what follows. */
  let kept = 0;
  /** Plain lines that are not emitted yet. Lines of one chunk become one event. */
  let unsaid = "";
  const isWithinLimit = createTextLimit();
  let isTooLong = false;
  let reported: CommandResult | null = null;
  let dropped = 0;
  let malformed = 0;

  const count = (bytes: number): void => {
    if (isWithinLimit(bytes)) return;
    isTooLong = true;
    controller.abort();
  };
  const say = (content: string): void => {
    count(encodedSize(content));
    if (isTooLong) return;
    said += content;
    emit({ type: "assistant.text", taskId, data: { content } });
  };
  const sayLines = (): void => {
    const lines = unsaid;
    unsaid = "";
    if (lines !== "") say(lines);
  };
  const follow = (type: AdapterEvent["type"]): void => {
    if (type === "tool.invoked" || type === "tool.completed") kept = said.length;
    else if (type === "assistant.text_discarded") said = said.slice(0, kept);
  };
  const report = (result: CommandResult): void => {
    reported = result;
    exitTimer = setTimeout(() => controller.abort(), exitAfterResultMs);
  };
  const onLine = (line: string, ended: boolean): void => {
    if (isTooLong) return;
    const meaning = readLine(line);
    if (meaning.kind === "text") {
      unsaid += ended ? `${line}\n` : line;
      return;
    }
    sayLines();
    if (meaning.kind === "event" && meaning.event.type === "assistant.text") say(meaning.event.data.content);
    else {
      if (meaning.kind === "event") follow(meaning.event.type);
      // An event is stored with about the size of its line; invalid bytes take more space.
      count(Buffer.byteLength(line));
      if (meaning.kind === "event") emit({ ...meaning.event, taskId } as AdapterEvent);
      else if (meaning.kind === "malformed") {
        malformed += 1;
        const warning = `The program printed a malformed event, which was ignored: ${meaning.fault}`;
        emit({ type: "execution.progress", taskId, data: { warning } });
      }
      // The first result decides, unless the task was cancelled before.
      else if (meaning.kind === "result" && reported === null && !controller.signal.aborted) report(meaning.result);
      else dropped += 1;
    }
  };

  const end = await runProcess({
    ...call,
    taskId,
    cwd: directories.cwd,
    tmp: directories.tmp,
    home: directories.home,
    workspace: directories.workspace,
    sandbox: config.sandbox,
    input: programInput(request),
    onLine,
    onChunkEnd: sayLines,
    signal: controller.signal,
  }).finally(() => clearTimeout(exitTimer));

  if (dropped > 0)
    config.logger.warn({ taskId, dropped }, "dropped lines of the program: Bridge's own events, or a result that came too late");
  if (malformed > 0) config.logger.warn({ taskId, malformed }, "malformed events of the program ignored");
  if (end.orphansLeft > 0) config.logger.warn({ taskId, processes: end.orphansLeft }, "processes of the task could not be killed");
  if (end.orphansKilled > 0) config.onOrphansKilled(end.orphansKilled);
  const result = isTooLong ? (stopFailure(end) ?? textLimitFailure) : resultOf(end, reported);
  return { output: said, ...result, durationMs: performance.now() - startedAt, connection: "cli" };
}

/** What decides, in this order: that it never ran, that it went too far, what it reported, how it ended. */
function resultOf(end: ProcessEnd, reported: CommandResult | null): CommandResult {
  const decided = stopFailure(end) ?? reported;
  if (decided !== null) return decided;
  return !end.aborted && end.exitCode === 0 ? { status: "ok" } : exitFailure(end);
}

function healthOf(ready: Ready | null): AdapterHealthStatus {
  if (ready === null) return { status: "offline", connection: null, version: null, detail: "The adapter is not running.", preflight: [] };
  const { call, config } = ready;
  const [program = ""] = call.argv;
  const found = findProgram(program, call.env["PATH"] ?? "");
  const ok = found !== null;
  const detail = ok
    ? found
    : `${program} cannot be run. Set BRIDGE_COMMAND to a program that exists and is executable, for example ["/usr/bin/python3","/opt/agent.py"].`;
  return {
    status: ok ? "healthy" : "offline",
    connection: ok ? "cli" : null,
    version: null,
    detail: ok ? null : detail,
    preflight: [{ step: "primary connection", ok, detail }, ...sandboxStep(config.sandbox)],
  };
}

const capabilities: GatewayCapabilities = {
  streaming: true,
  sessionResume: true,
  fileIo: true,
  mcpServers: true,
  tools: true,
  // The program is told the profile; nothing holds it to it.
  sandboxing: false,
  costTracking: true,
  management: false,
  approvals: false,
  cancellation: true,
  outputStrategies: ["stream", "file", "structured"],
};
