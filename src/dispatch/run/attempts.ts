import type { Attempt, TaskErrorCode } from "#contract";
import type { TaskRequest } from "../../task.ts";
import { type Candidate, listCandidates } from "../admission/list-candidates.ts";

/** Why a candidate cannot run a task now. One that only cools down may run it if no other can. */
export interface CandidateObstacle {
  isCoolingDown: boolean;
  text: string;
}

/** A failed attempt, or a candidate that was skipped, and what comes next. */
export interface EndedAttempt {
  attempt: Attempt;
  /** Null if none follows. */
  next: Candidate | null;
}

interface AttemptsOptions {
  /** The adapter that the task was accepted for: the dispatched one, or the first fallback that was not offline. */
  provider: string;
  request: Pick<TaskRequest, "model" | "fallbacks" | "retry" | "skipped">;
  findObstacle(candidate: Candidate): CandidateObstacle | null;
}

/** How an attempt has ended. */
export type AttemptEnd = Omit<Attempt, "number" | "provider" | "model">;

/** A candidate that cannot run the task now, and why. */
interface Skipped {
  candidate: Candidate;
  obstacle: CandidateObstacle;
}

/** Creates the attempts of a task: the dispatched candidate and its retries, and then each fallback. */
export function createAttempts({ provider, request, findObstacle }: AttemptsOptions) {
  const { fallbacks = [], retry, skipped: skippedBefore = [] } = request;
  const isMoved = skippedBefore.length > 0;
  const candidates = listCandidates(provider, request);
  const ended: Attempt[] = [];
  let index = 0;
  let retries = 0;
  /** The candidates that `findNext` has passed over. */
  let passed: readonly Skipped[] = [];
  let next: number | null = null;

  const current = (): Candidate => candidates[index] as Candidate;

  function add(candidate: Candidate, end: AttemptEnd): Attempt {
    const attempt = { number: ended.length + 1, ...candidate, ...end };
    ended.push(attempt);
    return attempt;
  }

  /** Finds the next candidate without an obstacle, from an index; null if there is none. */
  function search(from: number): { found: number | null; skipped: Skipped[] } {
    const skipped: Skipped[] = [];
    for (const [at, candidate] of candidates.entries()) {
      const obstacle = at < from ? undefined : findObstacle(candidate);
      if (obstacle === null) return { found: at, skipped };
      if (obstacle !== undefined) skipped.push({ candidate, obstacle });
    }
    return { found: null, skipped };
  }

  const skip = (skipped: readonly Skipped[], following: Candidate | null): EndedAttempt[] =>
    skipped.map(({ candidate, obstacle }, at) => ({
      attempt: add(candidate, { startedAt: null, errorCode: null, reason: obstacle.text, usage: null, costUsd: null }),
      next: skipped[at + 1]?.candidate ?? following,
    }));

  return {
    current,
    /** Whether the current candidate is the adapter that the dispatch, or agent.json, names. */
    isDispatched: (): boolean => index === 0 && !isMoved,
    /** Whether the dispatch permits several attempts. Its result lists them then. */
    allowsAnother: fallbacks.length > 0 || retry !== undefined,
    list: (): readonly Attempt[] => ended,
    /** Skips candidates that cannot run the task now. If none can, the first one that only cools down is tried, else the dispatched one. */
    begin(): EndedAttempt[] {
      if (fallbacks.length === 0) return [];
      const { found, skipped } = search(0);
      index =
        found ??
        Math.max(
          0,
          skipped.findIndex(({ obstacle }) => obstacle.isCoolingDown),
        );
      const before = skippedBefore.map(({ reason, ...candidate }) => ({ candidate, obstacle: { isCoolingDown: false, text: reason } }));
      return skip([...before, ...skipped.slice(0, index)], current());
    },
    /** Whether the current candidate may be tried again after this error. */
    mayRetry: (errorCode: TaskErrorCode): boolean =>
      retry !== undefined && retries < retry.max && (retry.on as readonly string[]).includes(errorCode),
    /** How often a candidate was tried again. */
    retries: (): number => retries,
    /** Finds the candidate that can follow the current one now. Returns whether there is one. */
    findNext(): boolean {
      const { found, skipped } = search(index + 1);
      [next, passed] = [found, skipped];
      return found !== null;
    },
    /** Ends an attempt after which the same candidate is tried again. */
    retry(end: AttemptEnd): EndedAttempt[] {
      retries += 1;
      return [{ attempt: add(current(), end), next: current() }];
    },
    /** Ends an attempt, and goes on to the candidate that `findNext` has found. */
    replace(end: AttemptEnd): EndedAttempt[] {
      const failed = add(current(), end);
      index = next ?? index;
      return [{ attempt: failed, next: passed[0]?.candidate ?? current() }, ...skip(passed, current())];
    },
    /** Ends the last attempt. Lists those candidates that could not follow it, if `findNext` has looked for one. */
    end(end: AttemptEnd): void {
      add(current(), end);
      if (next === null) skip(passed, null);
    },
  };
}
