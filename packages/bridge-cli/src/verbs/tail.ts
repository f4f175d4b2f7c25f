import type { BridgeEvent, EventType } from "bridge-client";
import { CommandError } from "../command-error.ts";
import { describeEvent } from "../describe-event.ts";
import { exitCodes } from "../exit-codes.ts";
import { parseTime } from "../parse-time.ts";
import type { Run } from "../verb.ts";
import { withTaskId } from "../with-task-id.ts";

interface Options {
  types?: EventType[];
  since?: string;
  /** Id of an event. */
  after?: string;
}

/** Follows events: for people on a terminal, and as one JSON object per line in a pipe. */
export const run: Run<Options> = async ({ args: [given], options: { types, after, ...options }, output, signal, connect }) => {
  const since = parseTime("--since", options.since);
  if (given !== undefined && since !== undefined)
    throw new CommandError("usage", "--since cannot be used with a task, because the events of a task begin with its first one.");
  const { client, follower } = connect();
  // A wrong address, token or task is reported at once. The follower would retry.
  const taskId =
    given === undefined ? undefined : (await withTaskId(given, { client, signal }, (id) => client.getTask(id, { signal }))).taskId;
  if (taskId === undefined) await client.getIdentity({ signal });
  if (taskId === undefined && output.format === "terminal")
    output.note(`Following ${since === undefined ? "new events" : `events since ${since}`}. Stop with Ctrl-C.`);
  const onGap = (): void => output.warn("Events are missing here, because Bridge has deleted them or does not know the id.");
  const events = follower.events(taskId ?? { types, since }, { after, signal, onGap });
  try {
    for await (const event of events) {
      // The stream of a task has no filter.
      if (types === undefined || types.includes(event.type)) print(event);
    }
  } catch (error) {
    if (signal.aborted) return exitCodes.interrupted;
    throw error;
  }
  return undefined;

  function print(event: BridgeEvent): void {
    if (output.format === "terminal") output.print(describeEvent(event, output.columns, taskId === undefined));
    else output.printJson(event, "line");
  }
};
