import type { CallbackAttempt, CallbackState } from "bridge-client";
import { callbackColumns } from "../callback-columns.ts";
import { formatDuration, formatRelative } from "../format.ts";
import { toOneLine } from "../show-hidden.ts";
import { type Column, printTable } from "../table.ts";
import { takeSome } from "../take-some.ts";
import { paint } from "../text.ts";
import type { Run } from "../verb.ts";
import { withTaskId } from "../with-task-id.ts";

interface Options {
  state?: CallbackState;
  limit?: number;
}

/** Lists callbacks, or the attempts of one. */
export const run: Run<Options> = async ({ args: [taskId], options: { state, limit = 50 }, output, signal, connect }) => {
  const { client } = connect();
  const { callbacks } = client;
  if (taskId === undefined) {
    printTable(output, await takeSome(callbacks.list({ state }, { signal }), limit, output), callbackColumns);
    return undefined;
  }
  const callback = await withTaskId(taskId, { client, signal }, (id) => callbacks.get(id, { signal }));
  if (output.format === "json") output.printJson(callback);
  else {
    if (output.format === "terminal") output.print([paint("bold", callback.state), `  ${toOneLine(callback.url)}`]);
    printTable(output, callback.history, attemptColumns);
  }
  if (callback.waitingOn === "task") output.note(`The task has not ended. When it ends, Bridge posts its result to ${callback.url}.`);
  return undefined;
};

const attemptColumns: Column<CallbackAttempt>[] = [
  { title: "attempt", value: ({ number }) => number, align: "right" },
  { title: "at", value: ({ at }) => at, shown: ({ at }) => formatRelative(at) },
  { title: "status", value: ({ status }) => status, align: "right" },
  { title: "took", value: ({ durationMs }) => durationMs, shown: ({ durationMs }) => formatDuration(durationMs), align: "right" },
  { title: "error", value: ({ error }) => error, isFlexible: true },
  { title: "response", value: ({ response }) => response, isFlexible: true },
];
