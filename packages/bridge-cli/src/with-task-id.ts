import { type BridgeClient, BridgeClientError } from "bridge-client";
import { CommandError } from "./command-error.ts";
import { nameTask } from "./name-task.ts";

interface Options {
  client: Pick<BridgeClient, "listTasks">;
  signal: AbortSignal;
  /** Whether the call changes something, such as a task or files: then a text that can be a whole id never selects another task. */
  hasEffect?: boolean;
}

/** An id that Bridge or `brg` has generated. Its beginning can be no whole id that a caller has chosen, such as build-7 of build-70. */
const generatedId = /^[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}$/;

/** Maximum ids in the message about an ambiguous prefix. */
const MAX_CANDIDATES = 5;

/**
 * Calls with the id of a task. If there is no such task, the text may be the beginning of the id of one task, and the call is repeated with
 * that id.
 */
export async function withTaskId<T>(
  given: string,
  { client, signal, hasEffect = false }: Options,
  call: (taskId: string) => Promise<T>,
): Promise<T> {
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
    const taskId = chooseId(given, candidates, error);
    if (hasEffect && !generatedId.test(taskId))
      throw new CommandError("notFound", error.message, {
        hint: `Only generated ids can be shortened here. Give the whole id: ${taskId}`,
        cause: error,
      });
    return await call(taskId);
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
