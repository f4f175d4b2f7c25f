import { type BridgeClient, BridgeClientError } from "bridge-client";
import { CommandError } from "./command-error.ts";
import { nameTask } from "./name-task.ts";

interface Options {
  client: Pick<BridgeClient, "listTasks">;
  signal: AbortSignal;
}

/** Maximum ids in the message about an ambiguous prefix. */
const MAX_CANDIDATES = 5;

/**
 * Calls with the id of a task. If there is no such task, the text may be the beginning of the id of one task, and the call is repeated with
 * that id.
 */
export async function withTaskId<T>(given: string, { client, signal }: Options, call: (taskId: string) => Promise<T>): Promise<T> {
  try {
    return await nameTask(given, call(given));
  } catch (error) {
    if (!(error instanceof BridgeClientError) || error.status !== 404 || given === "") throw error;
    const candidates: string[] = [];
    for await (const { taskId } of client.listTasks({ idPrefix: given }, { signal })) {
      // The task exists, so something else was not found.
      if (taskId === given) throw error;
      candidates.push(taskId);
      if (candidates.length > MAX_CANDIDATES) break;
    }
    return await call(chooseId(given, candidates, error));
  }
}

/** Returns the only candidate. Throws if there are none or several. */
export function chooseId(given: string, candidates: readonly string[], notFound: Error): string {
  const [first, second] = candidates;
  if (first === undefined) throw notFound;
  if (second === undefined) return first;
  const more = candidates.length > MAX_CANDIDATES ? ", …" : "";
  throw new CommandError("usage", `"${given}" is the beginning of several ids: ${candidates.slice(0, MAX_CANDIDATES).join(", ")}${more}.`, {
    hint: "Give more characters of the id.",
  });
}
