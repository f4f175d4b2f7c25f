import { Queue, QueueEvents, Worker } from "bullmq";
import { Redis } from "ioredis";
import { runNoopAgent } from "../noop-agent.ts";
import { createTaskServer, type Dispatch } from "../task-server.ts";

/**
 * The work of `floor.ts` with BullMQ: a job per task, its events as progress of the job, its result as the job's return value, and
 * one POST after that. Redis listens on a UNIX socket.
 */
const CONCURRENCY = 256;
const QUEUE = "tasks";
/** BullMQ's default of 10,000 events is too small for 256 tasks at once if the reader falls behind. */
const EVENT_LOG_LENGTH = 100_000;

const connect = () => new Redis({ path: String(process.env["BENCH_REDIS_SOCKET"]), maxRetriesPerRequest: null });
const connection = connect();
const server = createTaskServer();

const queue = new Queue<Dispatch>(QUEUE, { connection, streams: { events: { maxLen: EVENT_LOG_LENGTH } } });
await queue.waitUntilReady();

const worker = new Worker<Dispatch>(
  QUEUE,
  async (job) => {
    const stored: Promise<void>[] = [];
    const result = await runNoopAgent((event) => {
      stored.push(job.updateProgress({ ...event, agentId: job.data.agentId, at: Date.now() }));
    });
    await Promise.all(stored);
    return result;
  },
  { connection, concurrency: CONCURRENCY },
);
worker.on("completed", async (job, result) => {
  if (await server.deliver(job.data, result)) await connection.hset(queue.toKey(job.data.taskId), "delivered", 1);
});

interface Progress {
  type: string;
  data: unknown;
  agentId: string;
  at: number;
}
let number = 0;
const queueEvents = new QueueEvents(QUEUE, { connection: connect() });
queueEvents.on("progress", ({ jobId, data }) => {
  number += 1;
  const event = data as unknown as Progress;
  server.publish([{ number, taskId: jobId, agentId: event.agentId, type: event.type, at: event.at, data: JSON.stringify(event.data) }]);
});
await queueEvents.waitUntilReady();

await server.serve(async (dispatch) => {
  await queue.add(dispatch.agentId, dispatch, { jobId: dispatch.taskId });
});
// The benchmark stops an idle server, so no job needs to be awaited.
process.exit();
