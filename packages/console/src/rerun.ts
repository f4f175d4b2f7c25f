import { explainTaskError, type Task } from "bridge-client";
import type { FormValues } from "./dispatch-form.ts";

/** The longest time limit that Bridge accepts. */
const MAX_TIMEOUT_S = 86_400;

/** A field of the form whose value let a task fail, and why it should change. */
export interface Suggestion {
  field: string;
  /** A better value; absent if only a person can choose it. */
  value?: string;
  reason: string;
}

/** The fields that the failures with these codes are about. */
const fields: ReadonlyMap<string, string> = new Map(
  Object.entries({
    model_error: "model",
    output_limit: "message",
    output_invalid: "message",
    max_turns: "message",
    budget_exceeded: "message",
  }),
);

/** Suggests what to change before a failed task runs again; null if no single field is the cause. */
export function suggestChange(task: Task, values: FormValues): Suggestion | null {
  const { errorCode, taskId } = task;
  if (errorCode === "timeout") {
    const longer = longerLimit(task, Number(values["timeoutSeconds"] || Number.NaN));
    if (longer === null) return { field: "timeoutSeconds", reason: `${taskId} has reached this limit, which is the longest one.` };
    const isDoubled = longer < MAX_TIMEOUT_S;
    return {
      field: "timeoutSeconds",
      value: String(longer),
      reason: `${isDoubled ? "Twice as long as before" : "The longest limit"}, because ${taskId} ran into its time limit.`,
    };
  }
  const field = errorCode === "output_invalid" && values["output"] === "structured" ? "outputSchema" : fields.get(errorCode ?? "");
  if (field === undefined || errorCode === null) return null;
  const advice = explainTaskError(errorCode)?.advice.replaceAll("`", "") ?? "";
  return { field, reason: `${taskId} failed with ${errorCode}. ${advice}` };
}

/**
 * Returns twice the time limit of a task in seconds, at most the longest one; null if it had that one. A task whose request sets no limit
 * has that of its agent, so its duration counts, in whole minutes.
 */
export function longerLimit({ startedAt, finishedAt }: Pick<Task, "startedAt" | "finishedAt">, requested: number): number | null {
  const seconds = startedAt === null || finishedAt === null ? 0 : Math.round((Date.parse(finishedAt) - Date.parse(startedAt)) / 1000);
  const limit = Number.isNaN(requested) ? 60 * Math.max(1, Math.ceil(seconds / 60)) : requested;
  return limit >= MAX_TIMEOUT_S ? null : Math.min(MAX_TIMEOUT_S, 2 * limit);
}
