import { setTimeout as delay } from "node:timers/promises";
import type { Random } from "./random.ts";

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
  /** Called when a dispatch is sent. */
  onDispatch(): void;
  /** Called when Bridge violates a guarantee. */
  onViolation(violation: string): void;
}

/** Dispatches continuously, and repeats dispatches without a response. */
export interface Orchestrator {
  readonly tasks: ReadonlyMap<string, DispatchedTask>;
  readonly figures: Readonly<{ dispatches: number; replays: number; refusals: number; lostAnswers: number }>;
  /** Dispatches one quick task for a tenant. */
  dispatchOne(address: string, tenant: Tenant): Promise<void>;
  /** Keeps Bridge busy until it exits or the signal is aborted. */
  work(address: string, signal: AbortSignal): Promise<void>;
  /** Repeats every dispatch, so that each gets a response, and to check that Bridge recognizes accepted ones. */
  repeatAll(address: string): Promise<void>;
  onEnded(key: string): void;
}

const LANES = 6;
/** Maximum number of unfinished tasks: enough to use every slot, but without a long queue that no kill affects. */
const MAX_UNENDED = 40;
const MAX_PAUSE_MS = 25;
const REPEAT_PROBABILITY = 0.15;
const CANCEL_PROBABILITY = 0.05;

/** First words of messages, which select the agent's behavior. Repeated entries are more likely. */
const kinds = ["quick", "quick", "quick", "quick", "quick", "quick", "quick", "slow", "slow", "slow", "slow", "escape", "escape", "fail"];
const rareKinds = ["stubborn", "escape"];
const RARE_PROBABILITY = 0.04;
/** Responses of the receiver to the first attempts of a callback. Later attempts succeed. */
const callbackAnswers = ["", "", "", "", "500", "reset", "500,reset", "reset,503"];

/** Returns the unique key of a task across tenants. */
export const taskKey = (tenant: string, taskId: string): string => `${tenant}/${taskId}`;

/** Creates the orchestrator. */
export function createOrchestrator({ random, tenants, callbackOrigin, onDispatch, onViolation }: OrchestratorOptions): Orchestrator {
  const tasks = new Map<string, DispatchedTask>();
  const figures = { dispatches: 0, replays: 0, refusals: 0, lostAnswers: 0 };
  let unended = 0;

  async function lane(address: string, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const isRepeat = unended >= MAX_UNENDED || (tasks.size > 0 && random.chance(REPEAT_PROBABILITY));
      const task = isRepeat ? random.pick([...tasks.values()]) : newTask(random.pick(tenants), pickKind());
      if (!(await dispatch(address, task))) return;
      if (random.chance(CANCEL_PROBABILITY) && !(await cancel(address, task))) return;
      await delay(random.integer(0, MAX_PAUSE_MS));
    }
  }

  function pickKind(): string {
    return random.pick(random.chance(RARE_PROBABILITY) ? rareKinds : kinds);
  }

  /** Both tenants use the same names for different tasks. */
  function newTask(tenant: Tenant, kind: string): DispatchedTask {
    const count = [...tasks.values()].filter((task) => task.tenant === tenant).length;
    const taskId = `task-${count + 1}`;
    const body = {
      taskId,
      agentId: `agent-${random.integer(1, 3)}`,
      message: `${kind} ${random.integer(0, 999_999)}`,
      onInterrupt: random.pick(["fail", "fail", "retry"]),
      callbackUrl: `${callbackOrigin}/${taskKey(tenant.tenant, taskId)}?answers=${random.pick(callbackAnswers)}`,
      metadata: { number: tasks.size },
    };
    const task = { tenant, taskId, body, accepted: false, cancelled: false, ended: false };
    tasks.set(taskKey(tenant.tenant, taskId), task);
    return task;
  }

  /** Returns false if Bridge has exited. */
  async function dispatch(address: string, task: DispatchedTask): Promise<boolean> {
    const wasAccepted = task.accepted;
    const sending = post(`${address}/api/v2/dispatch`, task, JSON.stringify(task.body));
    onDispatch();
    figures.dispatches += 1;
    const answer = await sending;
    if (answer === null) {
      figures.lostAnswers += 1;
      return false;
    }
    const replayed = answer.headers.get("idempotent-replayed") === "true";
    if (answer.status === 202) {
      if (wasAccepted && !replayed) onViolation(`durability: ${nameOf(task)} was accepted, and forgotten when it was dispatched again`);
      if (replayed) figures.replays += 1;
      if (!task.accepted && !task.ended) unended += 1;
      task.accepted = true;
    } else if (answer.status === 503) figures.refusals += 1;
    else onViolation(`dispatch: ${nameOf(task)} was answered ${answer.status} ${answer.text}`);
    return true;
  }

  async function cancel(address: string, task: DispatchedTask): Promise<boolean> {
    if (!task.accepted) return true;
    task.cancelled = true;
    const answer = await post(`${address}/api/v2/tasks/${task.taskId}/cancel`, task);
    if (answer?.status === 404) onViolation(`durability: ${nameOf(task)} was accepted, and unknown when it was cancelled`);
    return answer !== null;
  }

  return {
    tasks,
    figures,
    async dispatchOne(address, tenant) {
      await dispatch(address, newTask(tenant, "quick"));
    },
    async work(address, signal) {
      await Promise.all(Array.from({ length: LANES }, () => lane(address, signal)));
    },
    async repeatAll(address) {
      for (const task of tasks.values()) await dispatch(address, task);
    },
    onEnded(key) {
      const task = tasks.get(key);
      if (task === undefined || task.ended) return;
      task.ended = true;
      if (task.accepted) unended -= 1;
    },
  };
}

const nameOf = (task: DispatchedTask): string => taskKey(task.tenant.tenant, task.taskId);

/** Returns null if Bridge exited before it responded. */
async function post(
  url: string,
  { tenant }: DispatchedTask,
  body?: string,
): Promise<{ status: number; headers: Headers; text: string } | null> {
  try {
    const headers = { authorization: `Bearer ${tenant.token}`, ...(body !== undefined && { "content-type": "application/json" }) };
    const response = await fetch(url, { method: "POST", headers, ...(body !== undefined && { body }) });
    return { status: response.status, headers: response.headers, text: await response.text() };
  } catch {
    return null;
  }
}
