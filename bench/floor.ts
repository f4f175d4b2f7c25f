import path from "node:path";
import SqliteDatabase from "better-sqlite3";
import { runNoopAgent } from "./noop-agent.ts";
import { createTaskServer, type Dispatch, type StoredEvent } from "./task-server.ts";

/**
 * The floor: the smallest server that durably accepts, runs, streams and delivers a task. One table of tasks, one of events, one
 * commit per event-loop turn, one POST. It has no authentication, limits, retries or recovery.
 */
const database = new SqliteDatabase(path.join(process.env["BENCH_DATA_DIR"] ?? ".", "floor.db"));
database.pragma("journal_mode = WAL");
database.pragma("synchronous = FULL");
database.exec(`
  CREATE TABLE task (seq INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, request TEXT NOT NULL, result TEXT, delivered INTEGER NOT NULL DEFAULT 0);
  CREATE TABLE event (number INTEGER PRIMARY KEY, task TEXT NOT NULL, type TEXT NOT NULL, at INTEGER NOT NULL, data TEXT NOT NULL);`);
const begin = database.prepare("BEGIN IMMEDIATE");
const commit = database.prepare("COMMIT");
const insertTask = database.prepare("INSERT INTO task (id, request) VALUES (?, ?) ON CONFLICT DO NOTHING");
const insertEvent = database.prepare("INSERT INTO event (number, task, type, at, data) VALUES (?, ?, ?, ?, ?)");
const storeResult = database.prepare("UPDATE task SET result = ? WHERE id = ? AND result IS NULL");
const markDelivered = database.prepare("UPDATE task SET delivered = 1 WHERE id = ?");

const isAcceptOnly = process.env["BENCH_ACCEPT_ONLY"] === "1";
const server = createTaskServer();

// --- group commit ---------------------------------------------------------------------------------------------------------

const LAZY_DELAY_MS = 10;
let waiting: { operation: () => void; done: () => void }[] = [];
let events: StoredEvent[] = [];
let immediate: NodeJS.Immediate | null = null;
let timer: NodeJS.Timeout | null = null;
let number = 0;

/** Resolves after the commit of this turn; a lazy write joins the next commit, or causes one after 10 ms. */
function write(operation: () => void, lazy = false): Promise<void> {
  if (!lazy) immediate ??= setImmediate(flush);
  else if (immediate === null) timer ??= setTimeout(flush, LAZY_DELAY_MS);
  return new Promise((done) => waiting.push({ operation, done }));
}

function flush(): void {
  if (immediate !== null) clearImmediate(immediate);
  if (timer !== null) clearTimeout(timer);
  immediate = timer = null;
  const batch = waiting;
  waiting = [];
  begin.run();
  for (const { operation } of batch) operation();
  commit.run();
  server.publish(events);
  events = [];
  for (const { done } of batch) done();
}

function append({ taskId, agentId }: Dispatch, type: string, data: unknown): void {
  number += 1;
  const event = { number, taskId, agentId, type, at: Date.now(), data: JSON.stringify(data) };
  insertEvent.run(event.number, taskId, type, event.at, event.data);
  events.push(event);
}

// --- tasks ----------------------------------------------------------------------------------------------------------------

async function run(dispatch: Dispatch): Promise<void> {
  const { taskId } = dispatch;
  const result = await runNoopAgent(({ type, data }) => void write(() => append(dispatch, type, data), true));
  await write(() => storeResult.run(JSON.stringify(result), taskId));
  if (await server.deliver(dispatch, result)) await write(() => markDelivered.run(taskId), true);
}

await server.serve(async (dispatch) => {
  await write(() => insertTask.run(dispatch.taskId, JSON.stringify(dispatch)));
  if (!isAcceptOnly) void run(dispatch);
});
if (waiting.length > 0) flush();
database.close();
// A delivery that has just ended would write again.
process.exit();
