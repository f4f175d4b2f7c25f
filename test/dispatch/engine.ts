import path from "node:path";
import { pino } from "pino";
import { onTestFinished } from "vitest";
import type { ExecutionAdapter } from "#contract";
import { createApprovals } from "../../src/approvals/approvals.ts";
import { createLoneView } from "../../src/cluster/lone-cluster.ts";
import { createDispatcher, type DispatcherOptions } from "../../src/dispatch/dispatcher.ts";
import { createLoneQueue } from "../../src/dispatch/sharing/lone-queue.ts";
import { createEventLog } from "../../src/events/event-log.ts";
import { createMetrics } from "../../src/metrics.ts";
import { createDestinationGuard } from "../../src/network/destination-guard.ts";
import { createAdapterRegistry } from "../../src/registry/adapter-registry.ts";
import { createAvailableAdapters } from "../../src/registry/available-adapters.ts";
import type { ParsedDispatch } from "../../src/requests/parse-dispatch.ts";
import { createSchemaChecker } from "../../src/requests/schema-checker.ts";
import type { StoredEvent } from "../../src/store/events/interface.ts";
import type { PostQueue } from "../../src/store/posts/interface.ts";
import type { Task, TaskRequest, TenantQuota } from "../../src/task.ts";
import { createWorkspaces } from "../../src/workspaces/workspace-directories.ts";
import { createAdapterConfig } from "../conformance/adapter-config.ts";
import { openTestStore } from "../support/database-subject.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";

/**
 * Starts the engine without HTTP and WebSocket: a real store, a real log, the given adapters. It is stopped without a drain after the test.
 */
export async function startEngine(
  adapters: readonly ExecutionAdapter[],
  options: Partial<DispatcherOptions> & {
    dataDir?: string;
    checkIntervalMs?: number;
    checkLimitMs?: number;
    approvalSeconds?: number;
  } = {},
) {
  const dataDir = options.dataDir ?? (await temporaryDirectory());
  const logger = pino({ level: "silent" });
  const metrics = createMetrics("test");
  const store = options.store ?? (await openTestStore(dataDir));
  const eventLog = createEventLog({ store, metrics, logger });
  const events: StoredEvent[] = [];
  eventLog.subscribe((committed) => events.push(...committed));
  const callbacksDue: PostQueue[] = [];
  store.onCallback(({ tenant, receiver }) => callbacksDue.push({ tenant, receiver }));
  const approvals = createApprovals({ store, eventLog, metrics, logger, seconds: options.approvalSeconds ?? 60 });
  const registry = createAdapterRegistry({
    loaded: adapters.map((adapter) => ({ provider: adapter.provider, adapter })),
    metrics,
    logger,
    ...(options.checkIntervalMs !== undefined && { checkIntervalMs: options.checkIntervalMs }),
    ...(options.checkLimitMs !== undefined && { checkLimitMs: options.checkLimitMs }),
  });
  const schemas = createSchemaChecker();
  const view = options.view ?? loneView;
  const dispatcherOptions: DispatcherOptions = {
    store,
    eventLog,
    approvals,
    registry,
    adapters: createAvailableAdapters(registry, view),
    view,
    shareQueue: createLoneQueue,
    workspaces: createWorkspaces({ dataDir, workspacesDir: path.join(dataDir, "workspaces") }),
    guard: createDestinationGuard({ allow: ["127.0.0.1"] }),
    schemas,
    metrics,
    logger,
    maxConcurrent: () => 2,
    queueLimit: 100,
    quotaOf: () => unlimitedQuota,
    idleSeconds: 0,
    drainSeconds: 0,
    mcpCommands: ["allowed-mcp"],
    stopGraceMs: 100,
    ...options,
  };
  const dispatcher = createDispatcher(dispatcherOptions);
  /** Creates a dispatcher of another process on the same store. It runs no tasks. */
  const createOtherDispatcher = () => createDispatcher({ ...dispatcherOptions, store: { ...store, onStopRequests() {} } });
  await dispatcher.recover();
  await registry.start({
    configure: (provider) =>
      createAdapterConfig(dataDir, {
        env: {},
        logger,
        runChild: dispatcher.runChild,
        requestApproval: (question) => dispatcher.requestApproval(provider, question),
      }),
    onEvent: dispatcher.onAdapterEvent,
    onChecked: dispatcher.onAdapterChecked,
    onOffline() {},
    onAvailable() {},
  });
  let stopped = false;
  const stop = async () => {
    if (stopped) return;
    stopped = true;
    await eventLog.close();
    await store.close();
    await registry.close();
    await schemas.close();
  };
  onTestFinished(stop);

  const eventsOf = (taskId: string) =>
    events
      .filter((event) => event.task.taskId === taskId)
      .map(({ type, data }) => ({ type, data: JSON.parse(data) as Record<string, unknown> }));
  return { dispatcher, approvals, registry, store, metrics, dataDir, events, eventsOf, callbacksDue, createOtherDispatcher, stop };
}

/** The view of a Bridge that is alone on its database. PostgreSQL stores the id of the node with its tasks. */
export const loneView = createLoneView({ id: "node-1", name: "self", tags: [], files: "local" });

/** The quota of a tenant without limits. */
export const unlimitedQuota: TenantQuota = {
  weight: 1,
  queueLimit: null,
  maxRunning: null,
  agentQueueLimit: null,
  agentMaxRunning: null,
};

/** A well-formed dispatch; every field of its request may be set. */
export function newDispatch(fields: Partial<Omit<ParsedDispatch, "request">> & { request?: Partial<TaskRequest> } = {}): ParsedDispatch {
  const request: TaskRequest = {
    message: "hello",
    outputStrategy: { type: "stream" },
    profile: "inspect",
    approvals: "deny",
    onInterrupt: "fail",
    ...fields.request,
  };
  return {
    taskId: null,
    provider: null,
    agentId: "agent",
    repository: null,
    fingerprint: JSON.stringify(request),
    canonicalLength: 100,
    ...fields,
    request,
  };
}

/** The task with its result, once it has ended. */
export async function endOf({ dispatcher, store }: Awaited<ReturnType<typeof startEngine>>, task: Task): Promise<Task> {
  await dispatcher.waitForEnd(task, 60_000);
  return (await store.findTask(task.tenant, task.taskId)) as Task;
}

export const caller = { tenant: "default", traceparent: null, tracestate: null };
