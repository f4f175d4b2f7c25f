import { createPostgresBackend, Queue, Worker } from "bullmq";
import { Pool } from "pg";
import { runNoopAgent } from "../noop-agent.ts";
import { createTaskServer, type Dispatch, type StoredEvent } from "../task-server.ts";

/**
 * The work of `floor.ts` with BullMQ on PostgreSQL: a job per task, its result as the job's return value, its events as rows of a separate
 * table, written with one statement, and one POST after that. Several processes can share the database.
 */
const CONCURRENCY = 256;
const QUEUE = "tasks";
/** The default of pg. The queue, the worker and the events have a pool each. */
const CONNECTIONS = 10;

const connectionString = String(process.env["BENCH_DATABASE_URL"]);
const connection = { connectionString, max: CONNECTIONS, migrate: true };
const database = new Pool({ connectionString, max: CONNECTIONS });
await database.query(`CREATE TABLE IF NOT EXISTS event (number bigint PRIMARY KEY, task text NOT NULL, type text NOT NULL, at bigint NOT NULL, data text NOT NULL);
  CREATE TABLE IF NOT EXISTS delivery (task text PRIMARY KEY)`);
const server = createTaskServer();

const queue = new Queue(QUEUE, { connection }, createPostgresBackend);
await queue.waitUntilReady();

/** Each of several processes has its own range. */
let number = Number(process.env["BENCH_FIRST_EVENT"] ?? 0);

async function storeEvents(taskId: string, events: readonly StoredEvent[]): Promise<void> {
  await database.query({
    name: "insert_events",
    text: "INSERT INTO event SELECT n, $1, t, a, d FROM unnest($2::bigint[], $3::text[], $4::bigint[], $5::text[]) AS row (n, t, a, d)",
    values: [
      taskId,
      events.map((event) => event.number),
      events.map(({ type }) => type),
      events.map(({ at }) => at),
      events.map(({ data }) => data),
    ],
  });
}

const worker = new Worker(
  QUEUE,
  async (job) => {
    const { taskId, agentId } = job.data as Dispatch;
    const events: StoredEvent[] = [];
    const result = await runNoopAgent(({ type, data }) => {
      number += 1;
      events.push({ number, taskId, agentId, type, at: Date.now(), data: JSON.stringify(data) });
    });
    await storeEvents(taskId, events);
    server.publish(events);
    return result;
  },
  { connection, concurrency: CONCURRENCY },
  createPostgresBackend,
);
worker.on("error", (error) => console.error(error));
worker.on("completed", async (job, result) => {
  const dispatch = job.data as Dispatch;
  if (!(await server.deliver(dispatch, result))) return;
  await database.query({ name: "insert_delivery", text: "INSERT INTO delivery VALUES ($1)", values: [dispatch.taskId] });
});
await worker.waitUntilReady();

await server.serve(async (dispatch) => {
  await queue.add(dispatch.agentId, dispatch, { jobId: dispatch.taskId });
});
// The benchmark stops an idle server, so no job needs to be awaited.
process.exit();
