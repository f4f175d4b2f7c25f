import path from "node:path";
import { Worker } from "node:worker_threads";
import { type ExecutionResult, mayBeInexact, parseExactJson } from "#contract";
import { BridgeError } from "../errors.ts";
import type { SchemaQuestion, SchemaVerdict } from "./schema-worker.ts";

/** Ajv's time grows with the square of a schema's size: 64 KiB take about 0.2 s. */
const SCHEMA_LIMIT_CHARACTERS = 64 * 1024;
/** The thread ends each check after 1 s. A thread that does not respond within this time is replaced. */
const RESPONSE_LIMIT_MS = 10_000;
/** Maximum heap of the thread. The largest output of a runtime, 32 MB, takes about 200 MB as objects. */
const HEAP_LIMIT_MB = 512;
/** Maximum schemas of a tenant that wait for their check. A check usually takes a few milliseconds. */
const MAX_WAITING_PER_TENANT = 1000;
const STOPPING: SchemaVerdict = { fault: "cannot be checked, because Bridge is stopping" };

export type SchemaChecker = ReturnType<typeof createSchemaChecker>;

interface Job {
  tenant: string;
  question: SchemaQuestion;
  resolve(verdict: SchemaVerdict): void;
}

/**
 * Creates a checker of JSON Schemas, and of results against JSON Schemas. It runs in a worker thread, so that no check blocks the event
 * loop.
 */
export function createSchemaChecker({ responseLimitMs = RESPONSE_LIMIT_MS }: { responseLimitMs?: number } = {}) {
  const thread = createSchemaThread(responseLimitMs);
  return {
    /** Returns the fault of a schema; null if it is valid. Throws BridgeError: overloaded. */
    async findSchemaFault(tenant: string, schema: Record<string, unknown>): Promise<string | null> {
      const text = JSON.stringify(schema);
      if (text.length > SCHEMA_LIMIT_CHARACTERS) return "must take at most 64 KiB as JSON";
      if (thread.countWaiting(tenant) >= MAX_WAITING_PER_TENANT)
        throw new BridgeError(
          "overloaded",
          `This tenant has the maximum of ${MAX_WAITING_PER_TENANT} output schemas that wait for a check. Try again later.`,
        );
      return (await thread.ask(tenant, { schema: text })).fault;
    },
    /**
     * Returns the object of a result, reported by the runtime or the last one in its text, with its JSON text and the reason why it does
     * not match the schema. `outputs` and `json` are undefined if there is no object.
     */
    async findObject(
      tenant: string,
      schema: Record<string, unknown>,
      { outputs, output = "" }: Pick<ExecutionResult, "output" | "outputs">,
    ): Promise<SchemaVerdict> {
      const question = { schema: JSON.stringify(schema) };
      if (outputs === undefined) return withExactNumbers(await thread.ask(tenant, { ...question, result: { output } }));
      const json = JSON.stringify(outputs);
      return { ...(await thread.ask(tenant, { ...question, result: { outputs: json } })), outputs, json };
    },
    /** Stops the thread. Waiting schemas get a fault; the promises of results never settle. */
    close: thread.close,
  };
}

/** Creates the worker thread, which starts with the first check. Tenants take turns, one check each. */
function createSchemaThread(responseLimitMs: number) {
  /** Waiting checks by tenant. The first tenant has the next turn. */
  const waiting = new Map<string, Job[]>();
  let worker: Worker | null = null;
  let current: Job | null = null;
  let timer: NodeJS.Timeout | undefined;
  let isClosed = false;

  function ask(tenant: string, question: SchemaQuestion): Promise<SchemaVerdict> {
    return new Promise((resolve) => {
      if (isClosed) return rejectSchema({ tenant, question, resolve });
      const jobs = waiting.get(tenant) ?? [];
      waiting.set(tenant, jobs);
      jobs.push({ tenant, question, resolve });
      startNext();
    });
  }

  function startNext(): void {
    if (current !== null) return;
    current = takeNext();
    if (current === null) {
      worker?.unref();
      return;
    }
    worker ??= startWorker();
    worker.ref();
    worker.postMessage(current.question);
    timer = setTimeout(replaceIfUnresponsive, responseLimitMs, current);
  }

  function takeNext(): Job | null {
    for (const [tenant, jobs] of waiting) {
      const job = jobs.shift() ?? null;
      if (jobs.length === 0) waiting.delete(tenant);
      return job;
    }
    return null;
  }

  function endCurrent(verdict: SchemaVerdict): void {
    clearTimeout(timer);
    if (current === null) return;
    const { tenant, resolve } = current;
    current = null;
    const others = waiting.get(tenant);
    // Moves the tenant behind all others, including those that arrived during its turn.
    if (others !== undefined && waiting.delete(tenant)) waiting.set(tenant, others);
    resolve(verdict);
    startNext();
  }

  function startWorker(): Worker {
    const started = new Worker(new URL(`./schema-worker${path.extname(import.meta.url)}`, import.meta.url), {
      env: {},
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: HEAP_LIMIT_MB },
    });
    started.on("message", (verdict: SchemaVerdict) => started === worker && endCurrent(verdict));
    started.on("error", (error: NodeJS.ErrnoException) =>
      replace(
        started,
        error.code === "ERR_WORKER_OUT_OF_MEMORY" ? "takes too much memory to check" : `cannot be checked: ${error.message}`,
      ),
    );
    return started;
  }

  function replaceIfUnresponsive(job: Job): void {
    // The response may have arrived while the event loop was blocked, so it is read first.
    setImmediate(() => {
      if (current === job && worker !== null) replace(worker, `takes longer than ${responseLimitMs / 1000} s to check`);
    });
  }

  function replace(broken: Worker, fault: string): void {
    if (broken !== worker) return;
    worker = null;
    void broken.terminate();
    endCurrent({ fault });
  }

  return {
    ask,
    /** Number of checks of a tenant that wait for their turn. */
    countWaiting: (tenant: string): number => waiting.get(tenant)?.length ?? 0,
    /** Stops the thread. Waiting schemas get a fault; the promises of results never settle. */
    async close(): Promise<void> {
      isClosed = true;
      clearTimeout(timer);
      for (const job of [current, ...waiting.values()].flat()) if (job !== null) rejectSchema(job);
      waiting.clear();
      const last = worker;
      worker = null;
      await last?.terminate();
    },
  };
}

/** Parses an object again whose numbers a message of the thread does not preserve. */
function withExactNumbers(verdict: SchemaVerdict): SchemaVerdict {
  if (verdict.json === undefined || !mayBeInexact(verdict.json)) return verdict;
  try {
    return { ...verdict, outputs: parseExactJson(verdict.json) as Record<string, unknown> };
  } catch {
    return { fault: "the object is nested too deeply" };
  }
}

/**
 * Rejects a waiting schema. The check of a result never settles, so its task stays stored as running, and the next start of Bridge recovers
 * it.
 */
function rejectSchema({ question, resolve }: Job): void {
  if (question.result === undefined) resolve(STOPPING);
}
