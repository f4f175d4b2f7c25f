import { v7 as uuidv7 } from "uuid";
import type { AdapterRegistry } from "../adapters/adapter-registry.ts";
import { BridgeError, type QueueOwner } from "../errors.ts";
import type { Metrics } from "../metrics.ts";
import type { DestinationGuard } from "../network/destination-guard.ts";
import type { ParsedDispatch } from "../requests/parse-dispatch.ts";
import type { SchemaChecker } from "../requests/schema-checker.ts";
import type { Store } from "../store/store.ts";
import type { Task, TaskRequest } from "../task.ts";
import { readAgentFile } from "../workspaces/prompt-files.ts";
import type { Workspaces } from "../workspaces/workspace-directories.ts";
import type { Scheduler } from "./scheduler.ts";
import type { TaskQueue } from "./task-queue.ts";
import { validateDispatch } from "./validate-dispatch.ts";

/** The sender of a dispatch. */
export interface Caller {
  tenant: string;
  traceparent: string | null;
}

/** The tenant and agent that a task belongs to, and the adapter that runs it. */
interface TaskOwner {
  tenant: string;
  agentId: string;
  provider: string;
}

interface AdmissionOptions {
  store: Store;
  registry: AdapterRegistry;
  workspaces: Workspaces;
  guard: DestinationGuard;
  schemas: SchemaChecker;
  metrics: Metrics;
  scheduler: Scheduler;
  enqueue: TaskQueue["enqueue"];
  isDraining(): boolean;
  mcpCommands: readonly string[];
  /** Adapters that are part of Bridge, loaded or not. Error messages name them. */
  catalogProviders?: readonly string[];
}

/** `Retry-After` of an adapter that could not be loaded. Only a restart of Bridge checks it again. */
const UNLOADED_RETRY_SECONDS = 30;

const queueFullText: Readonly<Record<QueueOwner, string>> = {
  bridge: "Bridge's queue is full, and this tenant already has its fair share of it. Try again later.",
  tenant: "The tenant's queue is full: its limit of queued tasks is reached. Try again later.",
  agent: "The agent's queue is full: its limit of queued tasks is reached. Try again later.",
};

export type Admission = ReturnType<typeof createAdmission>;

/** Creates the admission control: it decides which dispatches become queued tasks, and rejects the others with a BridgeError. */
export function createAdmission(options: AdmissionOptions) {
  const { store, registry, workspaces, metrics, scheduler, enqueue, isDraining, catalogProviders = [] } = options;

  /** Enqueues a task for the dispatch, or returns the task that the same dispatch created earlier. */
  async function admitTask(dispatch: ParsedDispatch, { tenant, traceparent }: Caller): Promise<{ task: Task; replayed: boolean }> {
    const known = dispatch.taskId === null ? null : await store.findStoredTask(tenant, dispatch.taskId);
    if (known !== null) return replay(known.task, dispatch);
    rejectWhileDraining();
    const { request, agentId, fingerprint } = dispatch;
    const provider = chooseProvider(dispatch, tenant);
    await checkRequest(request, { tenant, agentId, provider });
    // The check may have waited for a host lookup.
    rejectWhileDraining();
    rejectIfQueueIsFull({ tenant, agentId });
    const taskId = dispatch.taskId ?? uuidv7();
    const { task, inserted } = await enqueue({ tenant, taskId, parent: null, agentId, provider, request, fingerprint, traceparent });
    return inserted ? { task, replayed: false } : replay(task, dispatch);
  }

  function replay(task: Task, dispatch: ParsedDispatch): { task: Task; replayed: boolean } {
    if (task.fingerprint === dispatch.fingerprint) return { task, replayed: true };
    throw new BridgeError("task_conflict", `A task with the taskId ${task.taskId} exists, and its request differs from this one.`, {
      errors: [{ path: "taskId", message: "is taken by a different request; use a new taskId" }],
    });
  }

  function rejectWhileDraining(): void {
    if (isDraining()) throw new BridgeError("draining", "Bridge is stopping and accepts no new tasks. Try again later.");
  }

  function rejectIfQueueIsFull(owner: Pick<TaskOwner, "tenant" | "agentId">): void {
    const queue = scheduler.findFullQueue(owner);
    if (queue === null) return;
    metrics.queueFull.inc({ queue });
    throw new BridgeError("queue_full", queueFullText[queue], { queue });
  }

  /** Returns the provider of the dispatch, else that of the agent's agent.json, else the only loaded one. */
  function chooseProvider(dispatch: ParsedDispatch, tenant: string): string {
    const names = registry.list().map((entry) => entry.provider);
    const only = names.length === 1 ? names[0] : undefined;
    const provider = dispatch.provider ?? readProviderOfAgent(workspaces.workspaceOf(tenant, dispatch.agentId)) ?? only;
    if (provider !== undefined && names.includes(provider)) return provider;
    const message = provider === undefined ? "is required, because several adapters are loaded" : "is not a loaded adapter";
    const loaded = names.join(", ");
    const remedy =
      provider !== undefined && catalogProviders.includes(provider) ? ` To enable it, add ${provider} to BRIDGE_ADAPTERS.` : "";
    throw new BridgeError("unknown_provider", `The provider ${message}. Loaded adapters: ${loaded}.${remedy}`, {
      errors: [{ path: "provider", message: `${message} (${loaded})` }],
    });
  }

  /** Rejects a request that its adapter cannot carry out at the moment. Child tasks are checked in the same way as dispatches. */
  async function checkRequest(request: TaskRequest, { tenant, agentId, provider }: TaskOwner): Promise<void> {
    const entry = registry.get(provider);
    if (entry === undefined || entry.adapter === null || entry.health.status === "offline") throw createOfflineError(provider);
    await validateDispatch(request, {
      adapter: entry.adapter,
      provider,
      capabilities: entry.adapter.capabilities(),
      listCapabilities,
      guard: options.guard,
      schemas: options.schemas,
      mcpCommands: options.mcpCommands,
      tenant,
      workspace: workspaces.workspaceOf(tenant, agentId),
    });
    const token = request.resumeToken;
    if (token === undefined || (await store.isResumeTokenKnown({ tenant, provider, agentId, token }))) return;
    throw new BridgeError("resume_unknown", "The resume token is not known for this provider and agent.", {
      errors: [{ path: "resumeToken", message: "was not issued for this provider and agent, or has expired" }],
    });
  }

  function createOfflineError(provider: string): BridgeError {
    const isLoaded = registry.get(provider) !== undefined;
    // The cause may have been fixed since the last health check.
    registry.suspect(provider);
    const retryAfterSeconds = registry.estimateSecondsToNextCheck(provider);
    const text = describeOfflineAdapter(provider, isLoaded);
    if (retryAfterSeconds === null) return new BridgeError("adapter_offline", text, { retryAfterSeconds: UNLOADED_RETRY_SECONDS });
    return new BridgeError("adapter_offline", `${text} The next check is within ${retryAfterSeconds} s. Dispatch again after it.`, {
      retryAfterSeconds,
    });
  }

  function listCapabilities() {
    return registry
      .list()
      .flatMap(({ provider, adapter, health }) =>
        adapter === null || health.status === "offline" ? [] : [{ provider, capabilities: adapter.capabilities() }],
      );
  }

  return { admitTask, checkRequest };
}

/** Returns the message for clients. Only GET /api/v2/adapters reports the reason, for operators, because it may contain paths. */
export const describeOfflineAdapter = (provider: string, isLoaded = true): string =>
  isLoaded
    ? `The adapter ${provider} is offline. GET /api/v2/adapters reports the reason.`
    : `The adapter ${provider} is not loaded. Add it to BRIDGE_ADAPTERS.`;

function readProviderOfAgent(workspace: string): string | undefined {
  try {
    return readAgentFile(workspace).provider;
  } catch {
    // The task reports a fault of agent.json when it reads the other settings in it.
    return undefined;
  }
}
