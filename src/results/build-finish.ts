import type { ExecutionResult } from "#contract";
import { buildCallback, encodeResult } from "../callbacks/callback-body.ts";
import { callbackId } from "../callbacks/callback-envelope.ts";
import { encodeEventData } from "../events/encode-event-data.ts";
import type { NewCallback } from "../store/posts/interface.ts";
import type { Finish } from "../store/tasks/interface.ts";
import type { FinalState, Task } from "../task.ts";
import type { MarkedResult } from "./store-long-texts.ts";

/**
 * Builds everything that is written when a task ends: state, result, terminal event, callback. `marked` is the result if its long texts are
 * already stored.
 */
export function buildFinish(task: Task, result: ExecutionResult, marked: MarkedResult | null = null): Finish {
  const { status, output, outputs, usage, costUsd, costSource, model, durationMs, errorCode, error, connection, repository } = result;
  const state: FinalState = status === "ok" ? "completed" : errorCode === "cancelled" ? "cancelled" : "failed";
  const event =
    status === "ok"
      ? ({
          type: "execution.completed",
          data: encodeEventData({ output: output ?? null, outputs, usage, costUsd, costSource, model, durationMs, connection, repository }),
        } as const)
      : ({
          type: "execution.failed",
          data: encodeEventData({
            error: error ?? "The task failed.",
            errorCode,
            usage,
            costUsd,
            costSource,
            durationMs,
            connection,
            repository,
          }),
        } as const);
  const resultJson = encodeResult(marked?.result ?? result);
  const callback = (finishedAt: number): NewCallback => {
    const built = { ...buildCallback(task, marked?.result ?? result, finishedAt, resultJson), messageId: callbackId(task) };
    if (marked === null) return built;
    const { shared: _, body, ...others } = built;
    const { json, gaps } = marked.cutMarkers(body);
    return { ...others, body: json, gaps };
  };
  return {
    state,
    result,
    storedResult: marked === null ? { json: resultJson, gaps: [] } : marked.cutMarkers(resultJson),
    event,
    callback: task.request.callbackUrl === undefined ? null : callback,
  };
}
