import { estimateTimeoutSeconds, readInput, resolveProfile, type TaskType, taskTypeProperties } from "bridge-council";
import type {
  AdapterCapabilities,
  AdapterConfig,
  AdapterHealthStatus,
  Composite,
  ExecutionAdapter,
  ExecutionRequest,
  ExecutionResult,
  InputChecker,
  InputFault,
  Profile,
} from "#contract";
import { createRunningTasks } from "../shared/agent-program/running-tasks.ts";
import { createNotStartedResult } from "../shared/process/failure.ts";
import type { CouncilKind } from "./council-kind.ts";
import { planRoles } from "./plan-roles.ts";
import { runCouncilTask } from "./run-council-task.ts";
import { councilSettingsSchema } from "./settings.ts";

/** Seconds before the task's timeout at which the council stops, so that it can still write its report. */
const MARGIN_SECONDS = 5;

/** Creates the adapter of a council, whose questions run as child tasks. */
export function createCouncilAdapter(kind: CouncilKind): Required<ExecutionAdapter> & InputChecker & Composite {
  const running = createRunningTasks();
  let config: AdapterConfig | null = null;

  async function run(request: ExecutionRequest, adapterConfig: AdapterConfig, signal: AbortSignal): Promise<ExecutionResult> {
    const startedAt = performance.now();
    const parsed = readInput(request.bridgeInput, request.taskId, kind);
    if ("faults" in parsed) {
      const faults = parsed.faults.map(({ path, message }) => `bridgeInput${path === "" ? "" : `.${path}`}: ${message}`).join("; ");
      return createNotStartedResult("native-dispatch", "adapter_error", faults);
    }
    const margin = Math.min(MARGIN_SECONDS, request.timeoutSeconds / 10);
    const { total, result } = await runCouncilTask(kind, {
      request,
      config: adapterConfig,
      input: parsed.input,
      maxRuns: councilSettingsSchema.parse(adapterConfig.settings).maxRuns,
      signal,
      secondsLeft: () => request.timeoutSeconds - margin - (performance.now() - startedAt) / 1000,
      onProgress(data) {
        if (signal.aborted) return;
        running.emit({ type: "execution.progress", taskId: request.taskId, data });
      },
    });
    return { ...result, ...total, durationMs: performance.now() - startedAt };
  }

  return {
    provider: kind.provider,
    providers: kind.providers,
    async initialize(adapterConfig) {
      councilSettingsSchema.parse(adapterConfig.settings);
      config = adapterConfig;
    },
    async shutdown() {
      config = null;
      await running.stopAll();
    },
    checkHealth: async () => (config === null ? createOfflineStatus("The council is not running.") : checkRuntimes(kind, config)),
    capabilities: () => capabilitiesOf(kind, config),
    async execute(request) {
      const adapterConfig = config;
      if (adapterConfig === null)
        return createNotStartedResult("native-dispatch", "adapter_offline", `The ${kind.provider} adapter is not running.`);
      return running.run(request.taskId, ({ signal }) => run(request, adapterConfig, signal));
    },
    cancel: running.cancel,
    onEvent: running.onEvent,
    offEvent: running.offEvent,
    checkInput(request) {
      const parsed = readInput(request.bridgeInput, "task", kind);
      return "faults" in parsed
        ? parsed.faults.map(({ path, message }) => ({ path: path === "" ? "bridgeInput" : `bridgeInput.${path}`, message }))
        : findProfileConflicts(parsed.input.taskType, request.profile);
    },
    resolveProfile(request) {
      const parsed = readInput(request.bridgeInput, "task", kind);
      return "faults" in parsed ? request.profile : resolveProfile(parsed.input.taskType, request.profile);
    },
    async planRoles({ bridgeInput, model }, workspace) {
      const parsed = readInput(bridgeInput, "task", kind);
      return config === null || "faults" in parsed ? null : planRoles(kind, { input: parsed.input, model, workspace, config });
    },
  };
}

/** Returns a fault if the type of work changes files and the profile of the dispatch does not allow it. */
const findProfileConflicts = (taskType: TaskType, profile: Profile): InputFault[] =>
  taskTypeProperties[taskType].profile === "modify" && profile !== "modify"
    ? [
        {
          path: "profile",
          message: `must be "modify" if task_type is "${taskType}", because its roles change files; send this profile, or another task_type`,
          isProfileConflict: true,
        },
      ]
    : [];

function capabilitiesOf(kind: CouncilKind, config: AdapterConfig | null): AdapterCapabilities {
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

/**
 * Checks the runtimes. The council is healthy if one of them is. Otherwise it is only degraded, because its input may name others, and
 * a report also lists skipped runtimes.
 */
function checkRuntimes({ providers }: CouncilKind, config: AdapterConfig): AdapterHealthStatus {
  const runtimes = providers.map((provider) => {
    const described = config.describeProvider(provider);
    if (described === null) {
      const detail = config.findLoadFailure(provider) ?? `${provider} is not loaded: add it to BRIDGE_ADAPTERS.`;
      return { isHealthy: false, step: { step: provider, ok: false, detail } };
    }
    const health =
      described.detail === null ? `${provider} is ${described.health}.` : `${provider} is ${described.health}: ${described.detail}`;
    const seconds = estimateTimeoutSeconds({ files: 10 }, "standard", described.timeoutMultiplier);
    const estimate = `Estimated time for one answer: ${seconds} s for a scope of 10 files at intensity standard.`;
    const ok = described.health !== "offline";
    return {
      isHealthy: described.health === "healthy",
      step: { step: provider, ok, detail: ok ? `${health} ${estimate}` : health },
    };
  });
  const preflight = runtimes.map(({ step }) => step);
  const isHealthy = runtimes.some((runtime) => runtime.isHealthy);
  return {
    status: isHealthy ? "healthy" : "degraded",
    connection: "native-dispatch",
    version: null,
    detail: isHealthy ? null : preflight.map(({ detail }) => detail).join(" "),
    preflight,
  };
}

const createOfflineStatus = (detail: string): AdapterHealthStatus => ({
  status: "offline",
  connection: null,
  version: null,
  detail,
  preflight: [],
});
