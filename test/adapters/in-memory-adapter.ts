import { randomUUID } from "node:crypto";
import type {
  AdapterCapabilities,
  AdapterConfig,
  AdapterEvent,
  AdapterEventType,
  ExecutionAdapter,
  ExecutionEventListener,
  ExecutionRequest,
  ExecutionResult,
} from "#contract";

type EventData = { [E in AdapterEvent as E["type"]]: E["data"] };

/** Emits one event of the running task. It is not validated, so that a test can also emit invalid events. */
export type Emit = <T extends AdapterEventType>(type: T, data: EventData[T]) => void;

/** The behavior of the runtime for a task. Returns the fields that differ from a plain success. */
export type Run = (
  request: ExecutionRequest,
  emit: Emit,
  signal: AbortSignal,
  requestApproval: AdapterConfig["requestApproval"],
  mayCallModel: AdapterConfig["mayCallModel"],
) => Promise<Partial<ExecutionResult>>;

export interface InMemoryAdapterOptions {
  /** Default: returns the message in several deltas. */
  run?: Run;
  capabilities?: Partial<AdapterCapabilities>;
  provider?: string;
}

/** An adapter whose runtime is a function: scriptable, in-process, streaming. It rethrows errors of `run`, unless the task was canceled. */
export function createInMemoryAdapter(options: InMemoryAdapterOptions = {}): Required<ExecutionAdapter> {
  const { run = echoMessage, provider = "memory" } = options;
  const listeners = new Set<ExecutionEventListener>();
  const running = new Map<string, { controller: AbortController; done: Promise<unknown> }>();
  let config: AdapterConfig | undefined;

  const execute = async (request: ExecutionRequest): Promise<ExecutionResult> => {
    if (config === undefined) return failure("adapter_offline", "The adapter is not initialized.");
    const startedAt = performance.now();
    const controller = new AbortController();
    const emit: Emit = (type, data) => {
      const event = { type, taskId: request.taskId, data } as AdapterEvent;
      for (const listener of listeners) listener(event);
    };
    const { requestApproval, mayCallModel } = config;
    const outcome = runUntilCancelled(run, request, { emit, signal: controller.signal, requestApproval, mayCallModel });
    running.set(request.taskId, { controller, done: outcome.catch(() => {}) });
    try {
      return { status: "ok", connection: "in-process", ...(await outcome), durationMs: performance.now() - startedAt };
    } finally {
      running.delete(request.taskId);
    }
  };

  return {
    provider,
    async initialize(given) {
      config = given;
    },
    async shutdown() {
      config = undefined;
      for (const { controller } of running.values()) controller.abort();
      await Promise.all([...running.values()].map(({ done }) => done));
    },
    async checkHealth() {
      const isUp = config !== undefined;
      const detail = isUp ? null : "The adapter is not initialized.";
      return {
        status: isUp ? "healthy" : "offline",
        connection: isUp ? "in-process" : null,
        version: null,
        detail,
        preflight: [],
      };
    },
    capabilities: () => ({ ...allAbilities, ...options.capabilities }),
    execute,
    async cancel(taskHandle) {
      const task = running.get(taskHandle);
      task?.controller.abort();
      return task !== undefined;
    },
    onEvent: (listener) => void listeners.add(listener),
    offEvent: (listener) => void listeners.delete(listener),
  };
}

/** The default runtime: returns the message in deltas of a few characters, and a resume token. */
const echoMessage: Run = async (request, emit, signal) => {
  for (const content of deltasOf(request.message)) {
    signal.throwIfAborted();
    emit("assistant.text", { content });
    await new Promise(setImmediate);
  }
  return { output: request.message, resumeToken: request.resumeToken ?? randomUUID() };
};

/** Cuts a text into at most ten deltas without breaking a character. */
export function deltasOf(text: string): string[] {
  const characters = [...text];
  const size = Math.max(8, Math.ceil(characters.length / 10));
  const deltas: string[] = [];
  for (let start = 0; start < characters.length; start += size) deltas.push(characters.slice(start, start + size).join(""));
  return deltas;
}

/** The arguments of a run in addition to its request. */
interface Means {
  emit: Emit;
  signal: AbortSignal;
  requestApproval: AdapterConfig["requestApproval"];
  mayCallModel: AdapterConfig["mayCallModel"];
}

async function runUntilCancelled(
  run: Run,
  request: ExecutionRequest,
  { emit, signal, requestApproval, mayCallModel }: Means,
): Promise<Partial<ExecutionResult>> {
  let text = "";
  const emitAndRemember: Emit = (type, data) => {
    if (type === "assistant.text") text += (data as { content: string }).content;
    emit(type, data);
  };
  try {
    const result = await run(request, emitAndRemember, signal, requestApproval, mayCallModel);
    return signal.aborted ? { ...result, ...failure("cancelled", "The task was canceled.") } : result;
  } catch (error) {
    if (!signal.aborted) throw error;
    return { ...failure("cancelled", "The task was canceled."), output: text };
  }
}

const failure = (errorCode: "adapter_offline" | "cancelled", error: string): ExecutionResult => ({
  status: "error",
  errorCode,
  error,
  durationMs: 0,
  connection: "in-process",
});

const allAbilities: AdapterCapabilities = {
  streaming: true,
  sessionResume: true,
  fileIo: true,
  mcpServers: true,
  tools: true,
  sandboxing: false,
  costTracking: true,
  management: false,
  approvals: true,
  cancellation: true,
  reportsTools: true,
  outputStrategies: ["stream", "file", "structured"],
};
