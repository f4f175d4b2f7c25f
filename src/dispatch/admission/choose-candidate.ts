import { BridgeError, type FieldError } from "../../errors.ts";
import type { AvailableAdapters, Runner } from "../../registry/available-adapters.ts";
import type { TaskRequest } from "../../task.ts";
import type { CheckedTask, RequestCheck } from "./check-request.ts";
import { listCandidates } from "./list-candidates.ts";

interface CandidateChoiceOptions {
  adapters: Pick<AvailableAdapters, "isLoaded" | "listNames">;
  checkRequest: RequestCheck;
}

/** The adapter for which a dispatch is accepted. */
export interface ChosenCandidate {
  provider: string;
  runner: Runner;
  /** The request, with the candidates that were skipped. */
  request: TaskRequest;
}

/**
 * Creates the choice of the adapter that a dispatch is accepted for: the one that it names or, if that is offline, the first fallback that
 * can take the task. Throws BridgeError: that of the named adapter if no candidate can.
 */
export function createCandidateChoice({ adapters, checkRequest }: CandidateChoiceOptions) {
  const findFallback = createFallbackSearch(checkRequest);

  return async (request: TaskRequest, task: CheckedTask): Promise<ChosenCandidate> => {
    rejectFallbacks(request.fallbacks ?? [], task.provider, adapters);
    try {
      return { provider: task.provider, runner: await checkRequest(request, task), request };
    } catch (error) {
      const chosen = isOffline(error) ? await findFallback(request, task, error.message) : null;
      if (chosen === null) throw error;
      return chosen;
    }
  };
}

/** Finds the first candidate after the adapter of a task that can take it; null if there is none. `reason`: why the adapter cannot. */
export type FindFallback = (request: TaskRequest, task: CheckedTask, reason: string) => Promise<ChosenCandidate | null>;

/** Creates the search for the fallback of a task that has not started. A resume token belongs to one adapter, so it forbids the others. */
export function createFallbackSearch(checkRequest: RequestCheck): FindFallback {
  return async (request, task, reason) => {
    if (request.resumeToken !== undefined) return null;
    const [current, ...others] = listCandidates(task.provider, request);
    const skipped = [...(request.skipped ?? []), ...(current === undefined ? [] : [{ ...current, reason }])];
    for (const candidate of others)
      try {
        const { provider } = candidate;
        return { provider, runner: await checkRequest(request, { ...task, provider }), request: { ...request, skipped } };
      } catch (rejection) {
        if (!(rejection instanceof BridgeError)) throw rejection;
        skipped.push({ ...candidate, reason: rejection.message });
      }
    return null;
  };
}

const isOffline = (error: unknown): error is BridgeError => error instanceof BridgeError && error.code === "adapter_offline";

function rejectFallbacks(
  fallbacks: NonNullable<TaskRequest["fallbacks"]>,
  dispatched: string,
  { isLoaded, listNames }: Pick<AvailableAdapters, "isLoaded" | "listNames">,
): void {
  const errors = fallbacks.flatMap(({ provider }, index): FieldError[] => {
    const path = `fallbacks.${index}.provider`;
    if (provider === dispatched)
      return [{ path, message: `is the provider of the dispatch; to try ${provider} again, send retry instead` }];
    return isLoaded(provider) ? [] : [{ path, message: `is not a loaded adapter (${listNames().join(", ")})` }];
  });
  if (errors.length > 0)
    throw new BridgeError("unknown_provider", "A fallback cannot run the task. `errors` lists the reasons.", { errors });
}
