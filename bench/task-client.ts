import { randomUUID } from "node:crypto";
import { EventSourceParserStream } from "eventsource-parser/stream";
import { Pool } from "undici";
import type { Target } from "./driver.ts";

/** Dispatches tasks to a Bridge and waits for their terminal events. */
export type TaskClient = Awaited<ReturnType<typeof connectTaskClient>>;

/** Opens the stream of terminal events. */
export async function connectTaskClient({ address, token }: Pick<Target, "address" | "token">) {
  const headers = { "content-type": "application/json", authorization: `Bearer ${token}` };
  const pool = new Pool(address);
  const waitForEnd = await followEnds(address, headers);

  /** Runs one task, and resolves when it has ended. `fields` are fields of the dispatch. */
  async function runTask(fields: Readonly<Record<string, unknown>> = {}): Promise<void> {
    const taskId = randomUUID();
    const ended = waitForEnd(taskId);
    const body = JSON.stringify({ taskId, agentId: "bench", message: "Look into it.", ...fields });
    const response = await pool.request({ path: "/api/v2/dispatch", method: "POST", headers, body });
    const answer = await response.body.text();
    if (response.statusCode !== 202) throw new Error(`Dispatch returned HTTP ${response.statusCode}: ${answer}`);
    const type = await ended;
    if (type !== "execution.completed") throw new Error(`A task ended with ${type}.`);
  }
  return {
    runTask,
    /** Runs `count` tasks, at most `inFlight` at a time. Returns the number of tasks per second. */
    async runTasks(count: number, inFlight: number, fields?: Readonly<Record<string, unknown>>): Promise<number> {
      const startedAt = performance.now();
      let left = count;
      const runClient = async (): Promise<void> => {
        for (; left > 0; await runTask(fields)) left -= 1;
      };
      await Promise.all(Array.from({ length: inFlight }, runClient));
      return (count * 1000) / (performance.now() - startedAt);
    },
    close: () => pool.destroy(),
  };
}

/** Opens the stream of terminal events. Returns a function that resolves to the type of a task's terminal event. */
async function followEnds(address: string, headers: Record<string, string>): Promise<(taskId: string) => Promise<string>> {
  const ends = new Map<string, PromiseWithResolvers<string>>();
  const response = await fetch(`${address}/api/events?types=execution.completed,execution.failed`, { headers });
  if (response.status !== 200 || response.body === null) throw new Error(`The event stream returned HTTP ${response.status}.`);
  const events = response.body.pipeThrough(new TextDecoderStream()).pipeThrough(new EventSourceParserStream());
  const follow = async (): Promise<void> => {
    for await (const { event = "", data } of events) {
      const { taskId } = JSON.parse(data) as { taskId: string };
      ends.get(taskId)?.resolve(event);
      ends.delete(taskId);
    }
  };
  // Without the stream, tasks that have not ended would wait forever.
  const rejectAll = (): void => {
    for (const { reject } of ends.values()) reject(new Error("The server ended the event stream before the end of a task."));
  };
  follow().then(rejectAll, rejectAll);
  return (taskId) => {
    const end = Promise.withResolvers<string>();
    ends.set(taskId, end);
    return end.promise;
  };
}
