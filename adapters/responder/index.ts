import { makeDirectoryInside, NotADirectory } from "@hak2i/nofollow-fs";
import { createArtifactStore, createMaterialsLoader, createResponderBridge, ResponderError } from "@hak2i/responder-bridge";
import { OpenAiError } from "@hak2i/responder-bridge-openai";
import type {
  AdapterCapabilities,
  AdapterConfig,
  ExecutionAdapter,
  ExecutionRequest,
  ExecutionResult,
  InputChecker,
  TaskErrorCode,
} from "#contract";
import { createChildSpending } from "../shared/agent-program/child-spending.ts";
import { createRunningTasks } from "../shared/agent-program/running-tasks.ts";
import { createNotStartedResult, type Failure, failure } from "../shared/process/failure.ts";
import { ChildFailure, createAdapterProvider, createOperatorProvider, OPENAI } from "./create-provider.ts";
import { createTool, readTopic } from "./create-tool.ts";
import { readInput } from "./input.ts";
import { responderSettingsSchema } from "./settings.ts";

/** Directory for the drafts, prompts and logs of tasks, relative to the workspace. */
const OUTPUTS = ".outputs/responder";

const capabilities: AdapterCapabilities = {
  streaming: false,
  sessionResume: false,
  fileIo: true,
  mcpServers: false,
  tools: false,
  sandboxing: false,
  costTracking: true,
  management: false,
  approvals: false,
  cancellation: true,
  outputStrategies: ["stream"],
  inputs: ["responderInput"],
};

/** Creates the adapter that generates a document and revises it until a tool reports it as valid. */
export function createResponderAdapter(): Required<ExecutionAdapter> & InputChecker {
  const running = createRunningTasks();
  let config: AdapterConfig | null = null;
  let tools: readonly string[] = [];

  return {
    provider: "responder",
    async initialize(adapterConfig) {
      tools = Object.keys(responderSettingsSchema.parse(adapterConfig.settings).tools);
      config = adapterConfig;
    },
    async shutdown() {
      config = null;
      await running.stopAll();
    },
    async checkHealth() {
      const base = { connection: null, version: null, preflight: [] };
      if (config === null) return { ...base, status: "offline", detail: "The responder is not running." };
      const detail = tools.length === 0 ? "No tool is configured. Set BRIDGE_RESPONDER_TOOLS." : null;
      return {
        status: detail === null ? "healthy" : "degraded",
        connection: "native-dispatch",
        version: null,
        detail,
        preflight: [{ step: "tools", ok: detail === null, detail: detail ?? tools.join(", ") }],
      };
    },
    capabilities: () => capabilities,
    async execute(request) {
      const current = config;
      if (current === null) return createNotStartedResult("native-dispatch", "adapter_offline", "The responder adapter is not running.");
      const { taskId } = request;
      const onProgress = (data: Record<string, unknown>): void => running.emit({ type: "execution.progress", taskId, data });
      return running.run(taskId, ({ signal }) => runTask(request, current, signal, onProgress));
    },
    cancel: running.cancel,
    onEvent: running.onEvent,
    offEvent: running.offEvent,
    checkInput({ responderInput }) {
      const parsed = readInput(responderInput, tools);
      return "faults" in parsed ? parsed.faults : [];
    },
  };
}

export { createResponderAdapter as createAdapter };

async function runTask(
  request: ExecutionRequest,
  config: AdapterConfig,
  signal: AbortSignal,
  onProgress: (data: Record<string, unknown>) => void,
): Promise<ExecutionResult> {
  const startedAt = performance.now();
  const settings = responderSettingsSchema.parse(config.settings);
  const spending = createChildSpending();
  const children: Promise<unknown>[] = [];
  const createResult = (outcome: Omit<ExecutionResult, "durationMs" | "connection">): ExecutionResult => ({
    ...outcome,
    ...spending.total,
    durationMs: performance.now() - startedAt,
    connection: "native-dispatch",
  });
  const parsed = readInput(request.responderInput, Object.keys(settings.tools));
  if ("faults" in parsed) {
    const faults = parsed.faults.map(({ path, message }) => `${path} ${message}`).join("; ");
    return createResult(failure("adapter_error", faults));
  }
  const { input } = parsed;
  const taskTool = await createTool(input.tool, settings.tools[input.tool] ?? [], { config, request });
  if ("missing" in taskTool) return createResult(failure("adapter_error", taskTool.missing));
  const { workspace } = request.directories;
  const outputsError = await makeOutputDirectory(workspace);
  if (outputsError !== null) return createResult(failure("adapter_error", outputsError));
  const directory = `${OUTPUTS}/${createDirectoryName(request.taskId)}`;
  const artifacts = createArtifactStore(directory, { root: workspace });
  const listArtifacts = () => artifacts.list().map((name) => `${directory}/${name}`);
  try {
    const name = input.provider ?? OPENAI;
    const provider =
      name === OPENAI ? createOperatorProvider(config, spending) : createAdapterProvider(name, { config, request, spending, children });
    const bridge = createResponderBridge({
      provider,
      tool: taskTool.tool,
      artifacts,
      materials: createMaterialsLoader({ cwd: workspace, root: workspace }),
    });
    const { ok, document, logText, iterations } = await bridge.run(
      {
        model: input.model ?? request.model ?? (name === OPENAI ? settings.model : undefined),
        describe: readTopic(input.describe),
        ...(input.params === undefined ? {} : { params: readTopic(input.params) }),
        materials: input.materials,
        maxIterations: input.maxIterations,
      },
      { signal, onIteration: (iteration) => onProgress({ phase: "iteration", ...iteration }) },
    );
    const outputs = { ok, iterations, artifacts: listArtifacts() };
    if (ok) return createResult({ status: "ok", output: document, outputs });
    const error = `The document is not valid after ${iterations} iterations. Last report of the tool: ${logText.trim().slice(-2_000)}`;
    return createResult({
      ...failure("output_invalid", error),
      output: document,
      outputs: { ...outputs, validationLog: logText.slice(-20_000) },
    });
  } catch (error) {
    if (signal.aborted) return createResult({ ...failure("cancelled", "The task was stopped."), outputs: { artifacts: listArtifacts() } });
    return createResult({ ...explain(error, workspace), outputs: { artifacts: listArtifacts() } });
  } finally {
    // A stopped run does not wait for its child task.
    await Promise.allSettled(children);
    await taskTool.sweep();
  }
}

/**
 * Creates the directory for outputs without following links that a task left. Returns the reason if it cannot be created; null on success.
 */
async function makeOutputDirectory(workspace: string): Promise<string | null> {
  try {
    using _ = await makeDirectoryInside(workspace, OUTPUTS.split("/"), { mode: 0o777 });
    return null;
  } catch (error) {
    if (error instanceof NotADirectory) return `Cannot write to ${OUTPUTS}: ${error.entry} is not a directory.`;
    return `Cannot write to ${OUTPUTS}: ${(error as NodeJS.ErrnoException).code}.`;
  }
}

/** Maps expected errors to the error of a task; any other error is a bug and is rethrown. */
function explain(error: unknown, workspace: string): Failure {
  if (error instanceof ChildFailure) return failure(error.errorCode, error.message);
  // The caller must not learn the path of the workspace.
  if (error instanceof ResponderError) {
    // The caller, and not the operator, can fix a material that is missing or not text.
    const errorCode = error.code === "material_unreadable" ? "user_action_required" : "adapter_error";
    return failure(errorCode, error.message.replaceAll(`${workspace}/`, ""));
  }
  if (error instanceof OpenAiError) return failure(codeOf(error.status), error.message);
  // An unusable key or address is reported before a request is sent.
  if (error instanceof TypeError) return failure("user_action_required", error.message);
  throw error;
}

const codeOf = (status: number | null): TaskErrorCode =>
  status === 401 || status === 403 ? "authentication_required" : status === 429 ? "rate_limited" : "model_error";

/** Returns a directory name that is unique in the workspace: the task id without its tenant and without colons. */
const createDirectoryName = (taskId: string): string => taskId.slice(taskId.lastIndexOf("/") + 1).replaceAll(":", "=");
