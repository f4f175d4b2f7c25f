import { BridgeError, type FieldError } from "../../errors.ts";
import type { AvailableAdapters, Runner } from "../../registry/available-adapters.ts";
import type { TaskRequest } from "../../task.ts";
import type { CheckedTask, RequestCheck } from "./check-request.ts";

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
 * is not. Throws BridgeError: that of the named adapter if no candidate can take the task.
 */
export function createCandidateChoice({ adapters, checkRequest }: CandidateChoiceOptions) {
  return async (request: TaskRequest, task: CheckedTask): Promise<ChosenCandidate> => {
    const { fallbacks = [] } = request;
    rejectFallbacks(fallbacks, task.provider, adapters);
    try {
      return { provider: task.provider, runner: await checkRequest(request, task), request };
    } catch (error) {
      if (!isOffline(error) || request.resumeToken !== undefined) throw error;
      const skipped = [{ provider: task.provider, model: request.model ?? null, reason: error.message }];
      for (const { provider, model = null } of fallbacks)
        try {
          return { provider, runner: await checkRequest(request, { ...task, provider }), request: { ...request, skipped } };
        } catch (rejection) {
          if (!(rejection instanceof BridgeError)) throw rejection;
          skipped.push({ provider, model, reason: rejection.message });
        }
      throw error;
    }
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
