import type { BridgeEvent, EventType } from "bridge-client";
import { describeEvent } from "../describe-event.ts";
import { exitCodes } from "../exit-codes.ts";
import { nameTask } from "../name-task.ts";
import { parseTime } from "../parse-time.ts";
import type { Run } from "../verb.ts";

interface Options {
  types?: EventType[];
  since?: string;
  /** Id of an event. */
  after?: string;
}

/** Follows events: for people on a terminal, and as one JSON object per line in a pipe. */
export const run: Run<Options> = async ({ args: [taskId], options: { types, after, ...options }, output, signal, connect }) => {
  const since = parseTime("--since", options.since);
  const { client, follower } = connect();
  // A wrong address, token or task is reported at once. The follower would retry.
  await (taskId === undefined ? client.getIdentity({ signal }) : nameTask(taskId, client.getTask(taskId, { signal })));
  if (taskId === undefined && output.format === "terminal")
    output.note(`Following ${since === undefined ? "new events" : `events since ${since}`}. Stop with Ctrl-C.`);
  const onGap = (): void => output.warn("Events are missing here, because Bridge has deleted them or does not know the id.");
  const events = follower.events(taskId ?? { types, since }, { after, signal, onGap });
  try {
    for await (const event of events) {
      // The stream of a task has no filter.
      if ((types?.includes(event.type) ?? true) && (since === undefined || event.timestamp >= since)) print(event);
    }
  } catch (error) {
    if (signal.aborted) return exitCodes.interrupted;
    throw error;
  }
  return undefined;

  function print(event: BridgeEvent): void {
    if (output.format === "terminal") output.print(describeEvent(event, output, taskId === undefined));
    else output.printJson(event, "line");
  }
};
