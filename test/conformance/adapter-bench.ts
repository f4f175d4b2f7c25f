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
import { scaled } from "../harness/machine.ts";
import { createAdapterConfig } from "./adapter-config.ts";
import { createExecutionRequest } from "./execution-request.ts";

/** The fields of a request that make the runtime perform a scenario. */
export type Changes = Partial<ExecutionRequest> | Promise<Partial<ExecutionRequest>>;

/** How to make the adapter's runtime perform an action. With a real runtime, usually through a scripted model. */
export interface AdapterScenarios {
  /** Answers with exactly this text; a streaming runtime in several deltas. */
  speak(text: string): Changes;
  /** Answers with exactly the message, which the kit sets. */
  echo(): Changes;
  /** Works until it is canceled; a streaming runtime emits text first. */
  hang(): Changes;
  /** Fails, and the adapter must report this error code. */
  fail: { errorCode: TaskErrorCode; ask(): Changes };
  /** Uses at least one tool and then answers; null when the runtime has no tools. */
  useTool: (() => Changes) | null;
  /** Two turns of one session; null when the adapter does not claim `sessionResume`. */
  resume: {
    /** Keeps the text in its session. */
    remember(text: string): Changes;
    /** Answers with a text that contains the text of `remember`. */
    recall(): Changes;
    /** The usage of each of the two turns; null when the runtime does not report it. */
    usagePerTurn: NormalizedUsage | null;
  } | null;
  /** Calls one tool that needs an approval, and then answers. Required when the adapter claims `approvals`. The kit sets `approvals`. */
  askFirst?(): Changes;
  /** A task with a known cost; null when the adapter does not claim `costTracking`. */
  cost: { costUsd: number; ask(): Changes } | null;
}

/** An adapter under test. */
export interface AdapterSubject {
  createAdapter(): ExecutionAdapter;
  /** Fields that differ from an empty configuration when the adapter is initialized. */
  config?: Partial<AdapterConfig>;
  scenarios: AdapterScenarios;
  /** Whether the runtime's processes have `BRIDGE_TASK_ID` in their environment; none may be left after a task. */
  hasProcesses: boolean;
  /** Resolves when the runtime works on a hanging task; required only when it emits no event by then. */
  isWorking?: (request: ExecutionRequest) => Promise<void>;
  /** How long a single step of the kit may take on an idle machine; longer on a busy one. Default: 15,000 */
  patienceMs?: number;
}

/** One task of the adapter under test. */
export interface BenchTask {
  request: ExecutionRequest;
  events: AdapterEvent[];
  /** Resolves when the runtime works on the task. */
  working: Promise<void>;
  /** The checked result. */
  result: Promise<ExecutionResult>;
}

/** Runs tasks on one adapter, and records every violation of the contract. */
export interface AdapterBench {
  adapter: ExecutionAdapter;
  initialize(): Promise<void>;
  start(changes: Changes): Promise<BenchTask>;
  run(changes: Changes): Promise<{ events: AdapterEvent[]; result: ExecutionResult; text: string }>;
  /** Rejects with the name of the step when it takes too long. */
  within<T>(what: string, promise: Promise<T>): Promise<T>;
  /** The violations of the contract so far. */
  breaches: readonly string[];
  /** The adapter's approval requests, and the function that decides the next one; by default it rejects. */
  questions: readonly ApprovalQuestion[];
  answers: { next(question: ApprovalQuestion): Promise<ApprovalAnswer> };
  /** Shuts the adapter down. */
  close(): Promise<void>;
}

/** Opens a bench for a new adapter, with separate directories. */
export function openBench(subject: AdapterSubject): AdapterBench {
  const adapter = subject.createAdapter();
  const root = mkdtempSync(path.join(tmpdir(), "conformance-"));
  const breaches: string[] = [];
  const questions: ApprovalQuestion[] = [];
  const answers: AdapterBench["answers"] = { next: async () => ({ decision: "reject", reason: "No check decides this approval." }) };
  const tasks = new Map<string, { events: AdapterEvent[]; ended: boolean; onFirstEvent(): void }>();

  const within = async <T>(what: string, promise: Promise<T>): Promise<T> => {
    const patienceMs = scaled(subject.patienceMs ?? 15_000);
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
    result.catch(() => {}); // a caller that awaits the result receives the error; any other test fails for another reason
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
        // Late events would arrive now.
        await new Promise(setImmediate);
      } finally {
        adapter.offEvent?.(record);
        rmSync(root, { recursive: true, force: true });
      }
    },
  };
}

/** The answer: the text after the last tool call, without discarded text. */
export function textAfterTools(events: readonly AdapterEvent[]): string {
  const answer = events.slice(events.findLastIndex(({ type }) => type.startsWith("tool.") || type === "assistant.text_discarded") + 1);
  return answer.map((event) => (event.type === "assistant.text" ? event.data.content : "")).join("");
}

/** The processes with the marker of a task; empty on systems without /proc. */
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
  // The handle of a task of a tenant is unique, but it is not a valid file name.
  const taskId = `tenant/${id}`;
  return createExecutionRequest(root, { taskId, agentId: "conformance", message: "Do what the scenario asks.", directories, ...changes });
}

/** Processes can end during the search, and some belong to other users. */
function attempt<T>(read: () => T, otherwise: T): T {
  try {
    return read();
  } catch {
    return otherwise;
  }
}
