import type { TaskRequest } from "../../task.ts";

/** Where a task can run. A null model is the default of the runtime. */
export interface Candidate {
  provider: string;
  model: string | null;
}

/** Lists where a task can run, from the adapter that it was accepted for or moved to. */
export function listCandidates(
  provider: string,
  { model, fallbacks = [], skipped = [] }: Pick<TaskRequest, "model" | "fallbacks" | "skipped">,
): readonly Candidate[] {
  const others = fallbacks.map((fallback): Candidate => ({ provider: fallback.provider, model: fallback.model ?? null }));
  return skipped.length > 0
    ? others.slice(others.findIndex((other) => other.provider === provider))
    : [{ provider, model: model ?? null }, ...others];
}
