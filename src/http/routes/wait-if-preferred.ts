import type { FastifyReply } from "fastify";
import type { Dispatcher } from "../../dispatch/dispatcher.ts";
import type { TaskProgress } from "../../task.ts";
import { createClosedSignal } from "../wire/closed-signal.ts";
import { parsePreferredWait } from "../wire/prefer-header.ts";

/**
 * Waits for the end of the task for as long as the `Prefer` header requests, and reports the wait in
 * `Preference-Applied`. Returns the task when it has ended, the time is over or the client has disconnected; null
 * immediately if the header requests no wait.
 */
export async function waitIfPreferred(
  { prefer, reply, dispatcher }: { prefer: string | undefined; reply: FastifyReply; dispatcher: Pick<Dispatcher, "waitForEnd"> },
  task: TaskProgress,
): Promise<TaskProgress | null> {
  const seconds = parsePreferredWait(prefer);
  if (seconds === null) return null;
  reply.header("preference-applied", `wait=${seconds}`);
  return await dispatcher.waitForEnd(task, seconds * 1000, createClosedSignal(reply));
}
