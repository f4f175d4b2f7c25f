import type { FastifyReply, FastifyRequest } from "fastify";
import type { Dispatcher } from "../../dispatch/dispatcher.ts";
import type { TaskProgress } from "../../task.ts";
import { headerOf } from "../wire/header-of.ts";
import { parsePreferredWait } from "../wire/prefer.ts";

/**
 * Waits for the end of the task for as long as the request prefers, and reports the wait in `Preference-Applied`. Null, at once, when the request
 * prefers none; else the task as it stands when it has ended, the time is over, or the client is gone.
 */
export async function waitIfPreferred(
  { request, reply, dispatcher }: { request: FastifyRequest; reply: FastifyReply; dispatcher: Pick<Dispatcher, "waitForEnd"> },
  task: TaskProgress,
): Promise<TaskProgress | null> {
  const seconds = parsePreferredWait(headerOf(request, "prefer"));
  if (seconds === null) return null;
  reply.header("preference-applied", `wait=${seconds}`);
  return await dispatcher.waitForEnd(task, seconds * 1000, goneSignal(reply));
}

/** Aborted when the client goes away before it is answered. */
function goneSignal(reply: FastifyReply): AbortSignal {
  const controller = new AbortController();
  reply.raw.once("close", () => controller.abort());
  return controller.signal;
}
