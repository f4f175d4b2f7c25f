import { setTimeout as delay } from "node:timers/promises";
import { inParallel } from "./in-parallel.ts";
import type { Random } from "./random.ts";
import { budgetOfKind } from "./test-budgets.ts";

/** A tenant and its token. */
export interface Tenant {
  tenant: string;
  token: string;
}

/** State of a dispatched task, as observed by the orchestrator. */
export interface DispatchedTask {
  tenant: Tenant;
  taskId: string;
  body: Readonly<Record<string, unknown>>;
  /** A 202 has arrived: Bridge must not lose the task from then on. */
  accepted: boolean;
  /** A cancel was sent. */
  cancelled: boolean;
  /** Its terminal event has arrived. */
  ended: boolean;
}

export interface OrchestratorOptions {
  random: Random;
  tenants: readonly Tenant[];
  callbackOrigin: string;
  load?: Load;
  /** Called when a dispatch is sent. */
  onDispatch(): void;
  /** Called when Bridge violates a guarantee. */
  onViolation(violation: string): void;
}

/** What the orchestrator sends. */
export interface Load {
  /** Dispatches at the same time. */
  lanes: number;
  maxPauseMs: number;
  /**
   * Maximum number of tasks that have not ended, accepted or not: enough to use every slot, but without a long queue that no kill affects.
   */
  maxUnended: number;
  agents: number;
  /** First words of messages, which select the agent's behavior. Repeated entries are more likely. */
  kinds: readonly string[];
  cancelProbability: number;
  /** When the client gives up an answer; without it, never. */
  answerMs?: number;
}

/** What a task has instead of the usual fields. */
export interface TaskFields {
  provider?: string;
  /** The receiver of its callback. */
  callbackOrigin?: string;
  /** More fields of the dispatch. */
  more?: Readonly<Record<string, unknown>>;
}

/** Dispatches continuously, and repeats dispatches without a response. */
export interface Orchestrator {
  readonly tasks: ReadonlyMap<string, DispatchedTask>;
  readonly figures: Readonly<{ dispatches: number; replays: number; refusals: number; lostAnswers: number }>;
  /** The number of refusals and lost answers by their code. */
  readonly refusals: ReadonlyMap<string, number>;
  /** Dispatches one task for a tenant. `kind` is the first word of its message. */
  dispatchOne(address: string, tenant: Tenant, kind?: string, fields?: TaskFields): Promise<DispatchedTask>;
  cancel(address: string, task: DispatchedTask): Promise<void>;
  /** Keeps Bridge busy until the signal is aborted. Each request goes to the address that `pickAddress` returns; null: to none. */
  work(pickAddress: () => string | null, signal: AbortSignal): Promise<void>;
  /** Repeats every dispatch, so that each gets a response, and to check that Bridge recognizes accepted ones. */
  repeatAll(address: string): Promise<void>;
  onEnded(key: string): void;
}

const REPEAT_PROBABILITY = 0.15;

/** The load of the crash test. */
const crashLoad: Load = {
  lanes: 6,
  maxPauseMs: 25,
  maxUnended: 40,
  agents: 3,
  kinds: ["quick", "quick", "quick", "quick", "quick", "quick", "quick", "slow", "slow", "slow", "slow", "escape", "escape", "fail"],
  cancelProbability: 0.05,
};
const rareKinds = ["stubborn", "escape", "greedy"];
const RARE_PROBABILITY = 0.04;
/** Responses of the receiver to the first attempts of a callback. Later attempts succeed. */
const callbackAnswers = ["", "", "", "", "500", "reset", "500,reset", "reset,503"];

/** Returns the unique key of a task across tenants. */
export const taskKey = (tenant: string, taskId: string): string => `${tenant}/${taskId}`;

/** Creates the orchestrator. */
export function createOrchestrator(options: OrchestratorOptions): Orchestrator {
  const { random, tenants, callbackOrigin, load = crashLoad, onDispatch, onViolation } = options;
  const tasks = new Map<string, DispatchedTask>();
  const refusals = new Map<string, number>();
  const figures = { dispatches: 0, replays: 0, refusals: 0, lostAnswers: 0 };
  let unended = 0;

  async function lane(pickAddress: () => string | null, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const address = pickAddress();
      if (address !== null) await dispatchAny(address);
      await delay(random.integer(0, load.maxPauseMs));
    }
  }

  async function dispatchAny(address: string): Promise<void> {
    const isRepeat = unended >= load.maxUnended || (tasks.size > 0 && random.chance(REPEAT_PROBABILITY));
    const task = isRepeat ? random.pick([...tasks.values()]) : newTask(random.pick(tenants), pickKind());
    const isAnswered = await dispatch(address, task);
    if (isAnswered && random.chance(load.cancelProbability)) await cancel(address, task);
  }

  function pickKind(): string {
    return random.pick(random.chance(RARE_PROBABILITY) ? rareKinds : load.kinds);
  }

  /** Both tenants use the same names for different tasks. */
  function newTask(
    tenant: Tenant,
    kind: string,
    { provider = "command", callbackOrigin: origin = callbackOrigin, more }: TaskFields = {},
  ): DispatchedTask {
    const count = [...tasks.values()].filter((task) => task.tenant === tenant).length;
    const taskId = `task-${count + 1}`;
    const body = {
      taskId,
      provider,
      agentId: `agent-${random.integer(1, load.agents)}`,
      message: `${kind} ${random.integer(0, 999_999)}`,
      onInterrupt: random.pick(["fail", "fail", "retry"]),
      callbackUrl: `${origin}/${taskKey(tenant.tenant, taskId)}?answers=${random.pick(callbackAnswers)}`,
      metadata: { number: tasks.size },
      budget: budgetOfKind(kind),
      ...more,
    };
    const task = { tenant, taskId, body, accepted: false, cancelled: false, ended: false };
    tasks.set(taskKey(tenant.tenant, taskId), task);
    unended += 1;
    return task;
  }

  /** Returns false if there is no answer, for example because Bridge has exited. */
  async function dispatch(address: string, task: DispatchedTask): Promise<boolean> {
    const wasAccepted = task.accepted;
    const sending = post(`${address}/api/v2/dispatch`, task, { body: JSON.stringify(task.body), answerMs: load.answerMs });
    onDispatch();
    figures.dispatches += 1;
    const answer = await sending;
    if (typeof answer === "string") {
      figures.lostAnswers += 1;
      countRefusal(answer);
      return false;
    }
    const replayed = answer.headers.get("idempotent-replayed") === "true";
    if (answer.status === 202) {
      if (wasAccepted && !replayed) onViolation(`durability: ${nameOf(task)} was accepted, but was unknown when it was dispatched again`);
      if (replayed) figures.replays += 1;
      task.accepted = true;
    } else if (answer.status === 503 || isBudgetExhausted(answer)) {
      figures.refusals += 1;
      countRefusal((JSON.parse(answer.text) as { code: string }).code);
    } else onViolation(`dispatch: ${nameOf(task)} was answered ${answer.status} ${answer.text}`);
    return true;
  }

  function countRefusal(code: string): void {
    refusals.set(code, (refusals.get(code) ?? 0) + 1);
  }

  async function cancel(address: string, task: DispatchedTask): Promise<void> {
    if (!task.accepted) return;
    task.cancelled = true;
    const answer = await post(`${address}/api/v2/tasks/${task.taskId}/cancel`, task, { answerMs: load.answerMs });
    if (typeof answer !== "string" && answer.status === 404)
      onViolation(`durability: ${nameOf(task)} was accepted, but was unknown when it was canceled`);
  }

  return {
    tasks,
    figures,
    refusals,
    async dispatchOne(address, tenant, kind = "quick", fields = {}) {
      const task = newTask(tenant, kind, fields);
      await dispatch(address, task);
      return task;
    },
    cancel,
    async work(pickAddress, signal) {
      await Promise.all(Array.from({ length: load.lanes }, () => lane(pickAddress, signal)));
    },
    async repeatAll(address) {
      await inParallel(tasks.values(), async (task) => void (await dispatch(address, task)));
    },
    onEnded(key) {
      const task = tasks.get(key);
      if (task === undefined || task.ended) return;
      task.ended = true;
      unended -= 1;
    },
  };
}

const isBudgetExhausted = ({ status, text }: { status: number; text: string }): boolean =>
  status === 429 && (JSON.parse(text) as { code: string }).code === "budget_exhausted";

const nameOf = (task: DispatchedTask): string => taskKey(task.tenant.tenant, task.taskId);

/** Returns the code of the error if Bridge exited before it responded, or did not respond in time. */
async function post(
  url: string,
  { tenant }: DispatchedTask,
  { body, answerMs }: { body?: string; answerMs: number | undefined },
): Promise<{ status: number; headers: Headers; text: string } | string> {
  try {
    const headers = { authorization: `Bearer ${tenant.token}`, ...(body !== undefined && { "content-type": "application/json" }) };
    const limit = answerMs === undefined ? {} : { signal: AbortSignal.timeout(answerMs) };
    const response = await fetch(url, { method: "POST", headers, ...(body !== undefined && { body }), ...limit });
    return { status: response.status, headers: response.headers, text: await response.text() };
  } catch (error) {
    const { cause = error } = error as Error;
    return cause instanceof Error && "code" in cause ? `${cause.name} ${cause.code}` : String(cause);
  }
}
