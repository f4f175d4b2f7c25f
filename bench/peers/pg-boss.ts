import { PgBoss } from "pg-boss";
import { runNoopAgent } from "../noop-agent.ts";
import { createTaskServer, type Dispatch, type StoredEvent } from "../task-server.ts";

/**
 * The work of `floor.ts` with pg-boss: a job per task, its result as the job's output, its events as rows of a separate table, written
 * with one statement, and one POST after that. PostgreSQL listens on a UNIX socket,
 * unless BENCH_DATABASE_URL is set. Several processes can share the database.
 */
const CONCURRENCY = 256;
const QUEUE = "tasks";
/** The default of pg-boss. */
const CONNECTIONS = 10;

const connectionString = process.env["BENCH_DATABASE_URL"];
const own = { host: String(process.env["BENCH_DATA_DIR"]), user: "bench", database: "postgres" };
const boss = new PgBoss({ ...(connectionString === undefined ? own : { connectionString }), max: CONNECTIONS });
boss.on("error", (error) => console.error(error));
await boss.start();
await boss.createQueue(QUEUE);
const database = boss.getDb();
await database.executeSql(`CREATE TABLE IF NOT EXISTS event (number bigint PRIMARY KEY, task text NOT NULL, type text NOT NULL, at bigint NOT NULL, data text NOT NULL);
  CREATE TABLE IF NOT EXISTS delivery (task text PRIMARY KEY)`);
const server = createTaskServer();

/** Each of several processes has its own range. */
let number = Number(process.env["BENCH_FIRST_EVENT"] ?? 0);
let running = 0;
/** A dispatch was stored after the last fetch began. */
let mayHaveJobs = false;
let isFetching = false;

/** Fetches as soon as a job is stored. The worker of pg-boss would poll twice a second. */
async function fetchJobs(): Promise<void> {
  mayHaveJobs = true;
  if (isFetching) return;
  isFetching = true;
  while (mayHaveJobs && running < CONCURRENCY) {
    mayHaveJobs = false;
    const batchSize = CONCURRENCY - running;
    const jobs = await boss.fetch<Dispatch>(QUEUE, { batchSize });
    if (jobs.length === batchSize) mayHaveJobs = true;
    running += jobs.length;
    for (const { id, data } of jobs) void run(id, data);
  }
  isFetching = false;
}

async function run(id: string, dispatch: Dispatch): Promise<void> {
  const events: StoredEvent[] = [];
  const result = await runNoopAgent(({ type, data }) => {
    number += 1;
    events.push({ number, taskId: dispatch.taskId, agentId: dispatch.agentId, type, at: Date.now(), data: JSON.stringify(data) });
  });
  const columns = [
    events.map((event) => event.number),
    events.map(({ type }) => type),
    events.map(({ at }) => at),
    events.map(({ data }) => data),
  ];
  await database.executeSql(
    "INSERT INTO event SELECT n, $1, t, a, d FROM unnest($2::bigint[], $3::text[], $4::bigint[], $5::text[]) AS row (n, t, a, d)",
    [dispatch.taskId, ...columns],
  );
  server.publish(events);
  await boss.complete(QUEUE, id, result);
  running -= 1;
  void fetchJobs();
  if (await server.deliver(dispatch, result)) await database.executeSql("INSERT INTO delivery VALUES ($1)", [dispatch.taskId]);
}

await server.serve(async (dispatch) => {
  await boss.send(QUEUE, dispatch, { singletonKey: dispatch.taskId });
  void fetchJobs();
});
// The benchmark stops an idle server, so no job needs to be awaited.
process.exit();
