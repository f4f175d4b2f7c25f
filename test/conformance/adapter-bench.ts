import { randomUUID } from "node:crypto";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import {
  type AdapterConfig,
  type AdapterEvent,
  type AdapterEventType,
  type ApprovalAnswer,
  type ApprovalQuestion,
  adapterEventData,
  type ExecutionAdapter,
  type ExecutionEventListener,
  type ExecutionRequest,
  type ExecutionResult,
  executionResultSchema,
  type NormalizedUsage,
  type TaskErrorCode,
} from "#contract";
import { createAdapterConfig } from "./adapter-config.ts";

/** What differs in a request from a plain one, so that the runtime does what a scenario asks. */
export type Changes = Partial<ExecutionRequest> | Promise<Partial<ExecutionRequest>>;

/** How to make the adapter's runtime do a thing. With a real runtime this usually means: tell the fake model behind it. */
export interface AdapterScenarios {
  /** Answers with exactly this text; a streaming runtime in several deltas. */
  speak(text: string): Changes;
  /** Answers with exactly the message, which the kit sets. */
  echo(): Changes;
  /** Works until it is cancelled; a streaming runtime says something first. */
  hang(): Changes;
  /** Fails in a way that the adapter must report with this code. */
  fail: { errorCode: TaskErrorCode; ask(): Changes };
  /** Uses at least one tool and then answers; null when the runtime has no tools. */
  useTool: (() => Changes) | null;
  /** Two turns of one session; null when the adapter does not claim `sessionResume`. */
  resume: {
    /** Keeps the text in its session. */
    remember(text: string): Changes;
    /** Answers with a text that contains what its session keeps. */
    recall(): Changes;
    /** What each of the two turns uses by itself; null when the runtime does not tell. */
    usagePerTurn: NormalizedUsage | null;
  } | null;
  /** Calls one tool that somebody must allow first, and then answers; needed when the adapter claims `approvals`. The kit sets `approvals`. */
  askFirst?(): Changes;
  /** A task of a known price; null when the adapter does not claim `costTracking`. */
  cost: { costUsd: number; ask(): Changes } | null;
}

/** An adapter under test. */
export interface AdapterSubject {
  createAdapter(): ExecutionAdapter;
  /** What the adapter is initialized with, where it differs from an empty configuration. */
  config?: Partial<AdapterConfig>;
  scenarios: AdapterScenarios;
  /** Runs its runtime as processes that carry `BRIDGE_TASK_ID`; none may be left when a task has ended. */
  hasProcesses: boolean;
  /** Resolves when the runtime is at work on a hanging task; needed only when it emits nothing by then. */
  isWorking?: (request: ExecutionRequest) => Promise<void>;
  /** How long a single step of the kit may take. Default: 15,000 */
  patienceMs?: number;
}

/** One task on the bench. */
export interface BenchTask {
  request: ExecutionRequest;
  events: AdapterEvent[];
  /** Resolves when the runtime works on the task. */
  working: Promise<void>;
  /** The checked result. */
  result: Promise<ExecutionResult>;
}

/** Holds one adapter, hands it tasks, and notes every breach of the contract on the way. */
export interface AdapterBench {
  adapter: ExecutionAdapter;
  initialize(): Promise<void>;
  start(changes: Changes): Promise<BenchTask>;
  run(changes: Changes): Promise<{ events: AdapterEvent[]; result: ExecutionResult; text: string }>;
  /** Fails when a step takes too long, and says which one. */
  within<T>(what: string, promise: Promise<T>): Promise<T>;
  /** What was seen of the adapter that no adapter may do. */
  breaches: readonly string[];
  /** What the adapter has asked for, and how it is answered: with no, as long as a check does not say otherwise. */
  questions: readonly ApprovalQuestion[];
  answers: { next(question: ApprovalQuestion): Promise<ApprovalAnswer> };
  /** Shuts the adapter down. */
  close(): Promise<void>;
}

/** Puts a new adapter on the bench, with directories of its own. */
export function openBench(subject: AdapterSubject): AdapterBench {
  const adapter = subject.createAdapter();
  const root = mkdtempSync(path.join(tmpdir(), "conformance-"));
  const breaches: string[] = [];
  const questions: ApprovalQuestion[] = [];
  const answers: AdapterBench["answers"] = { next: async () => ({ decision: "reject", reason: "Nobody is here." }) };
  const tasks = new Map<string, { events: AdapterEvent[]; ended: boolean; onFirstEvent(): void }>();

  const within = async <T>(what: string, promise: Promise<T>): Promise<T> => {
    const patienceMs = subject.patienceMs ?? 15_000;
    const patience = new AbortController();
    const tooLate = delay(patienceMs, undefined, { signal: patience.signal }).then(() => {
      throw new Error(`${what}: nothing after ${patienceMs} ms`);
    });
    try {
      return await Promise.race([promise, tooLate]);
    } finally {
      patience.abort();
      tooLate.catch(() => {});
    }
  };

  const record: ExecutionEventListener = (event) => {
    const task = tasks.get(event.taskId);
    const breach = breachOf(event) ?? (task === undefined ? "belongs to no task of ours" : task.ended ? "came after the result" : null);
    if (breach !== null) breaches.push(`event ${JSON.stringify(event).slice(0, 300)} ${breach}`);
    task?.events.push(event);
    task?.onFirstEvent();
  };
  adapter.onEvent?.(record);

  const execute = async (request: ExecutionRequest): Promise<ExecutionResult> => {
    const result = executionResultSchema.strict().parse(await within("execute()", adapter.execute(request)));
    const task = tasks.get(request.taskId);
    if (task !== undefined) task.ended = true;
    if (subject.hasProcesses) {
      for (const pid of processesOf(request.taskId)) breaches.push(`process ${pid} is left after the result of ${request.taskId}`);
    }
    return result;
  };

  const start = async (changes: Changes): Promise<BenchTask> => {
    const request = requestIn(root, await changes);
    const { promise: firstEvent, resolve: onFirstEvent } = Promise.withResolvers<void>();
    const events: AdapterEvent[] = [];
    tasks.set(request.taskId, { events, ended: false, onFirstEvent });
    const result = execute(request);
    result.catch(() => {}); // whoever awaits it sees the error; who does not is about to fail anyway
    const working = within("the start of the work", subject.isWorking?.(request) ?? firstEvent);
    working.catch(() => {});
    return { request, events, working, result };
  };

  return {
    adapter,
    breaches,
    questions,
    answers,
    within,
    start,
    initialize() {
      const requestApproval = (question: ApprovalQuestion): Promise<ApprovalAnswer> => {
        questions.push(question);
        return answers.next(question);
      };
      return within("initialize()", adapter.initialize(createAdapterConfig(root, { requestApproval, ...subject.config })));
    },
    async run(changes) {
      const { events, result } = await start(changes);
      return { result: await result, events, text: textAfterTools(events) };
    },
    async close() {
      try {
        await within("shutdown()", adapter.shutdown());
        // What is still on its way would arrive now.
        await new Promise(setImmediate);
      } finally {
        adapter.offEvent?.(record);
        rmSync(root, { recursive: true, force: true });
      }
    },
  };
}

/** What the runtime said after its last tool, without what it has thrown away: its answer. */
export function textAfterTools(events: readonly AdapterEvent[]): string {
  const answer = events.slice(events.findLastIndex(({ type }) => type.startsWith("tool.") || type === "assistant.text_discarded") + 1);
  return answer.map((event) => (event.type === "assistant.text" ? event.data.content : "")).join("");
}

/** The processes that carry a task's marker; none where there is no /proc. */
export function processesOf(taskId: string): number[] {
  const marker = `\0BRIDGE_TASK_ID=${taskId}\0`;
  return attempt(() => readdirSync("/proc"), [])
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .filter((pid) => `\0${attempt(() => readFileSync(`/proc/${pid}/environ`, "utf8"), "")}`.includes(marker))
    .map(Number);
}

function breachOf(event: AdapterEvent): string | null {
  if (!Object.hasOwn(adapterEventData, event.type)) return "is of a kind that an adapter may not emit";
  const parsed = adapterEventData[event.type as AdapterEventType].safeParse(event.data);
  if (!parsed.success) return `has invalid data: ${parsed.error.message}`;
  return event.type === "assistant.text" && !event.data.content.isWellFormed() ? "tears a character" : null;
}

function requestIn(root: string, changes: Partial<ExecutionRequest>): ExecutionRequest {
  const id = randomUUID();
  const directories = {
    workspace: path.join(root, "workspace"),
    cwd: path.join(root, "workspace"),
    home: path.join(root, "home"),
    tmp: path.join(root, "tmp", id),
  };
  for (const directory of Object.values(directories)) mkdirSync(directory, { recursive: true });
  return {
    // Of a tenant: a handle is unique, but no file name.
    taskId: `tenant/${id}`,
    agentId: "conformance",
    message: "Do what the scenario asks.",
    timeoutSeconds: 60,
    outputStrategy: { type: "stream" },
    profile: "modify",
    approvals: "allow",
    directories,
    ...changes,
  };
}

/** Processes end while we look at them, and some are not ours to look at. */
function attempt<T>(read: () => T, otherwise: T): T {
  try {
    return read();
  } catch {
    return otherwise;
  }
}
