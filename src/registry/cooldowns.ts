import type { ExecutionResult, ModelLimit } from "#contract";
import { readLimitReset } from "./limit-reset.ts";

/** How long an adapter is avoided after the vendor of its model has rejected calls, and why. */
interface Cooldown {
  /** In ms since the epoch. */
  until: number;
  reason: string;
}

/** The cooldown after a limit whose end is unknown. It doubles with each further one, up to the maximum. */
const FIRST_MS = 60_000;
const MAX_MS = 30 * 60_000;

/** The limits that proxies have seen are kept until their tasks end; more tasks than this do not run at once. */
const MAX_TASKS = 10_000;

interface State extends Cooldown {
  /** Consecutive limits. */
  limits: number;
}

/** Creates the cooldowns. A task that ends with `rate_limited` begins one, and a task that succeeds ends it. `clock` is for tests. */
export function createCooldowns(clock: () => number = Date.now) {
  const states = new Map<string, State>();
  /** The last limit of each running task, by its handle. */
  const seen = new Map<string, ModelLimit>();

  function begin(provider: string, limit: Pick<ModelLimit, "resetsAt" | "reason">): void {
    const now = clock();
    const { limits } = states.get(provider) ?? { limits: 0 };
    const resetsAt = limit.resetsAt !== null && limit.resetsAt > now ? limit.resetsAt : null;
    states.set(provider, { until: resetsAt ?? now + Math.min(FIRST_MS * 2 ** limits, MAX_MS), reason: limit.reason, limits: limits + 1 });
  }

  return {
    /** Reports that calls of a running task are rejected. It counts only if the task ends for this reason. */
    noteLimit(limit: ModelLimit): void {
      if (seen.size < MAX_TASKS) seen.set(limit.taskId, limit);
    },
    /** Reports the end of a task. `handle` is its id as adapters know it. */
    noteEnd(provider: string, handle: string, { status, errorCode, error = "" }: ExecutionResult): void {
      const limit = seen.get(handle);
      seen.delete(handle);
      if (status === "ok") states.delete(provider);
      else if (errorCode === "rate_limited")
        begin(provider, limit === undefined || limit.resetsAt === null ? readLimit(error, clock()) : limit);
    },
    /** Returns the cooldown of an adapter; null if there is none, or if it has passed. */
    find(provider: string): Cooldown | null {
      const state = states.get(provider);
      return state === undefined || state.until <= clock() ? null : { until: state.until, reason: state.reason };
    },
  };
}

/** The reason does not contain the message, because all tenants see it. */
function readLimit(error: string, now: number): Pick<ModelLimit, "resetsAt" | "reason"> {
  const resetsAt = readLimitReset(error, now);
  const named = resetsAt === null ? "names no time at which the limit ends" : "names the time at which the limit ends";
  return { resetsAt, reason: `A task failed with rate_limited. Its error ${named}.` };
}
