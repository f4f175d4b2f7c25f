import { readInput } from "bridge-council";
import type {
  AdapterConfig,
  AdapterHealthStatus,
  ExecutionAdapter,
  ExecutionRequest,
  ExecutionResult,
  GatewayCapabilities,
  InputChecker,
} from "#contract";
import { notStarted } from "../shared/agent-program/not-started.ts";
import { createRunningTasks } from "../shared/agent-program/running-tasks.ts";
import type { CouncilKind } from "./council-kind.ts";
import { councilSettingsSchema } from "./council-settings.ts";
import { runCouncilTask } from "./run-council-task.ts";

/** Bridge stops a task when its time is up: the report has to be written before. */
const MARGIN_SECONDS = 5;

/** Makes the adapter of a council; everything it asks for is a child task. */
export function createCouncilAdapter(kind: CouncilKind): Required<ExecutionAdapter> & InputChecker {
  const running = createRunningTasks();
  let config: AdapterConfig | null = null;

  async function run(request: ExecutionRequest, given: AdapterConfig, signal: AbortSignal): Promise<ExecutionResult> {
    const startedAt = performance.now();
    const read = readInput(request.bridgeInput, request.taskId, kind);
    if ("faults" in read) {
      const words = read.faults.map(({ path, message }) => `bridgeInput${path === "" ? "" : `.${path}`}: ${message}`).join("; ");
      return notStarted("native-dispatch", "adapter_error", words);
    }
    const margin = Math.min(MARGIN_SECONDS, request.timeoutSeconds / 10);
    const { total, ending } = await runCouncilTask(kind, {
      request,
      config: given,
      input: read.input,
      maxRuns: councilSettingsSchema.parse(given.settings).maxRuns,
      signal,
      secondsLeft: () => request.timeoutSeconds - margin - (performance.now() - startedAt) / 1000,
      onProgress(data) {
        if (signal.aborted) return;
        running.emit({ type: "execution.progress", taskId: request.taskId, data });
      },
    });
    return { ...ending, ...total, durationMs: performance.now() - startedAt };
  }

  return {
    provider: kind.provider,
    async initialize(given) {
      councilSettingsSchema.parse(given.settings);
      config = given;
    },
    async shutdown() {
      config = null;
      await running.stopAll();
    },
    checkHealth: async () => (config === null ? offline("The council is not running.") : checkRuntimes(kind, config)),
    capabilities: () => capabilitiesOf(kind, config),
    async execute(request) {
      const given = config;
      if (given === null) return notStarted("native-dispatch", "adapter_offline", `The ${kind.provider} adapter is not running.`);
      return running.run(request.taskId, ({ signal }) => run(request, given, signal));
    },
    cancel: running.cancel,
    onEvent: running.onEvent,
    offEvent: running.offEvent,
    checkInput(request) {
      const read = readInput(request.bridgeInput, "task", kind);
      return "faults" in read
        ? read.faults.map(({ path, message }) => ({ path: path === "" ? "bridgeInput" : `bridgeInput.${path}`, message }))
        : [];
    },
  };
}

function capabilitiesOf(kind: CouncilKind, config: AdapterConfig | null): GatewayCapabilities {
  const runtimes = config === null ? [] : kind.providers.flatMap((provider) => config.describeProvider(provider)?.capabilities ?? []);
  return {
    streaming: false,
    sessionResume: false,
    fileIo: runtimes.some(({ fileIo }) => fileIo),
    mcpServers: false,
    tools: false,
    sandboxing: runtimes.length > 0 && runtimes.every(({ sandboxing }) => sandboxing),
    costTracking: runtimes.some(({ costTracking }) => costTracking),
    management: false,
    approvals: false,
    cancellation: true,
    outputStrategies: ["stream"],
    inputs: ["bridgeInput"],
  };
}

/** A runtime that is not there makes no council offline: its input may name another one, and that it was skipped is a report, too. */
function checkRuntimes({ providers }: CouncilKind, config: AdapterConfig): AdapterHealthStatus {
  const preflight = providers.map((provider) => {
    const described = config.describeProvider(provider);
    if (described === null) return { step: provider, ok: false, detail: `${provider} is not loaded: add it to BRIDGE_ADAPTERS.` };
    const detail =
      described.detail === null ? `${provider} is ${described.health}.` : `${provider} is ${described.health}: ${described.detail}`;
    return { step: provider, ok: described.health !== "offline", detail };
  });
  const isUsable = preflight.some(({ ok }) => ok);
  return {
    status: isUsable ? "healthy" : "degraded",
    connection: "native-dispatch",
    version: null,
    detail: isUsable ? null : preflight.map(({ detail }) => detail).join(" "),
    preflight,
  };
}

const offline = (detail: string): AdapterHealthStatus => ({ status: "offline", connection: null, version: null, detail, preflight: [] });
