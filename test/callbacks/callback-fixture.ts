import { expect, onTestFinished } from "vitest";
import { buildCallback } from "../../src/callbacks/callback-body.ts";
import { type CallbackWorkerOptions, createCallbackWorker } from "../../src/callbacks/callback-worker.ts";
import { createMetrics } from "../../src/metrics.ts";
import { createDnsCache } from "../../src/network/dns-cache.ts";
import type { Lookup } from "../../src/network/dns-resolver.ts";
import type { StoredEvent } from "../../src/store/events/interface.ts";
import type { Callback } from "../../src/store/posts/interface.ts";
import type { Store } from "../../src/store/store.ts";
import type { Task } from "../../src/task.ts";
import { openTestStore } from "../support/database-subject.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";

/** A log line of the worker. */
export interface LogLine {
  level: "info" | "warn" | "error";
  message: string;
  [field: string]: unknown;
}

type WorkerSettings = Partial<Omit<CallbackWorkerOptions, "config" | "store" | "dnsCache">> & {
  config?: Partial<CallbackWorkerOptions["config"]>;
  resolve?: Lookup;
};

/** Creates a store in a temporary directory and a callback worker. Both can be stopped and restarted like a process. */
export async function createCallbackFixture(settings: WorkerSettings = {}) {
  const dataDir = await temporaryDirectory();
  const log: LogLine[] = [];
  const events: StoredEvent[] = [];
  const metrics = createMetrics("0.0.0-test");
  let store = await open();
  let worker = createWorker(settings);
  const fixture = {
    dataDir,
    log,
    events,
    metrics,
    get store(): Store {
      return store;
    },
    get worker() {
      return worker;
    },
    /** Ends a task with a callback to the URL. */
    async owe(
      taskId: string,
      callbackUrl: string,
      details: { tenant?: string; traceparent?: string; output?: string } = {},
    ): Promise<Task> {
      return await endTask(store, taskId, callbackUrl, details);
    },
    async find(task: Task): Promise<Callback> {
      const callback = await store.findCallback(task.seq);
      if (callback === null) throw new Error(`${task.taskId} has no callback`);
      return callback;
    },
    /** Resolves with the callback when it is in the state, after this number of attempts. */
    async settled(task: Task, state: Callback["state"], attempts?: number): Promise<Callback> {
      await expect.poll(() => fixture.find(task), { interval: 5 }).toMatchObject({ state, ...(attempts !== undefined && { attempts }) });
      return await fixture.find(task);
    },
    /** Resolves when the metrics count this many attempts, which follows the change of the callback. */
    async counted(outcome: string, attempts: number): Promise<void> {
      const line = `bridge_callback_attempts_total{outcome="${outcome}"} ${attempts}`;
      await expect.poll(() => metrics.registry.metrics(), { interval: 5 }).toContain(line);
    },
    attempts: () => log.filter((line) => line.message === "callback attempt"),
    /** Stops like a killed process: no further callback is settled. */
    async crash(): Promise<void> {
      await store.close();
      await worker.close();
    },
    async stop(): Promise<void> {
      await worker.close();
      await store.close();
    },
    async restart(changes: WorkerSettings = {}): Promise<void> {
      store = await open();
      worker = createWorker({ ...settings, ...changes });
      worker.start();
    },
  };

  async function open(): Promise<Store> {
    const opened = await openTestStore(dataDir, { clock: settings.clock });
    opened.onEvents((committed) => events.push(...committed));
    return opened;
  }

  function createWorker({ config, resolve, ...rest }: WorkerSettings) {
    const record = (level: LogLine["level"]) => (fields: unknown, message?: string) => {
      log.push({ level, message: String(message), ...(fields as object) });
    };
    const logger = { info: record("info"), warn: record("warn"), error: record("error") };
    return createCallbackWorker({
      store,
      metrics,
      logger,
      attemptTimeoutMs: 5000,
      closeGraceMs: 50,
      dnsCache: createDnsCache({ resolve }),
      ...rest,
      config: { retries: 3, backoffMs: 2, secrets: [], allow: ["127.0.0.1", "*.example"], ...config },
    });
  }

  onTestFinished(async () => {
    await worker.close();
    await store.close();
  });
  return fixture;
}

async function endTask(
  store: Store,
  taskId: string,
  callbackUrl: string,
  { tenant = "default", traceparent, output = "done" }: { tenant?: string; traceparent?: string; output?: string },
): Promise<Task> {
  const { task } = await store.insertTaskIfAbsent({
    tenant,
    taskId,
    needs: [],
    parent: null,
    agentId: "a1",
    provider: "memory",
    request: {
      message: "do it",
      outputStrategy: { type: "stream" },
      profile: "inspect",
      approvals: "deny",
      onInterrupt: "fail",
      callbackUrl,
      metadata: { from: "test" },
    },
    fingerprint: "",
    traceparent: traceparent ?? null,
    tracestate: null,
  });
  const result = { status: "error", output, errorCode: "cancelled", error: "cancelled", durationMs: 1, connection: "in-process" } as const;
  const ended = await store.finishTaskIfQueued(task, {
    state: "cancelled",
    result,
    event: { type: "execution.failed", data: "{}" },
    callback: (finishedAt) => buildCallback(task, result, finishedAt),
  });
  if (ended === null) throw new Error(`${taskId} was not queued`);
  return ended;
}
