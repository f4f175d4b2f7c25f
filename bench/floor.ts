import { once } from "node:events";
import type { ServerResponse } from "node:http";
import path from "node:path";
import SqliteDatabase from "better-sqlite3";
import Fastify from "fastify";
import { Agent } from "undici";
import { z } from "zod";
import { runNoopAgent } from "./noop-agent.ts";

/**
 * The floor: the minimal server that accepts durably, runs, streams and delivers. One table of tasks, one of events, group commit per
 * event-loop turn, one reader's hub, one POST. No auth, limits, retries or recovery: only the cost that any Bridge has.
 */
const database = new SqliteDatabase(path.join(process.env["FLOOR_DATA_DIR"] ?? ".", "floor.db"));
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

const dispatchSchema = z.strictObject({
  taskId: z.string().min(1).max(128),
  agentId: z.string().min(1).max(128),
  message: z.string().min(1).max(1_000_000),
  callbackUrl: z.url(),
  metadata: z.record(z.string(), z.unknown()).optional(),
});
type Dispatch = z.infer<typeof dispatchSchema>;

// --- group commit ---------------------------------------------------------------------------------------------------------

const LAZY_DELAY_MS = 10;
let waiting: { operation: () => void; done: () => void }[] = [];
let frames: string[] = [];
let immediate: NodeJS.Immediate | null = null;
let timer: NodeJS.Timeout | null = null;
let number = 0;

/** Resolves after the commit of this turn; lazy writes wait for the next one. */
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
  publish();
  for (const { done } of batch) done();
}

// --- event stream ---------------------------------------------------------------------------------------------------------

const readers = new Set<ServerResponse>();

function append(taskId: string, agentId: string, type: string, data: unknown): void {
  number += 1;
  const at = Date.now();
  const json = JSON.stringify(data);
  insertEvent.run(number, taskId, type, at, json);
  const about = `"taskId":"${taskId}","agentId":"${agentId}","provider":"noop","timestamp":"${new Date(at).toISOString()}"`;
  frames.push(`id: floor-${number}\nevent: ${type}\ndata: {"id":"floor-${number}","type":"${type}",${about},"data":${json}}\n\n`);
}

/** One write per reader and commit. */
function publish(): void {
  if (frames.length === 0) return;
  const chunk = Buffer.from(frames.join(""));
  frames = [];
  for (const reader of readers) reader.write(chunk);
}

// --- accept, run, deliver -------------------------------------------------------------------------------------------------

const callbacks = new Agent();

async function run({ taskId, agentId, callbackUrl, metadata }: Dispatch): Promise<void> {
  const result = await runNoopAgent(({ type, data }) => void write(() => append(taskId, agentId, type, data), true));
  await write(() => storeResult.run(JSON.stringify(result), taskId));
  const url = new URL(callbackUrl);
  const { statusCode, body } = await callbacks.request({
    origin: url.origin,
    path: url.pathname,
    method: "POST",
    headers: { "content-type": "application/json", "idempotency-key": taskId },
    body: JSON.stringify({ taskId, agentId, provider: "noop", ...result, metadata, finishedAt: new Date().toISOString() }),
  });
  await body.dump();
  if (statusCode === 200) await write(() => markDelivered.run(taskId), true);
}

const app = Fastify();
app.post("/api/v2/dispatch", async (request, reply) => {
  const dispatch = dispatchSchema.parse(request.body);
  await write(() => insertTask.run(dispatch.taskId, JSON.stringify(dispatch)));
  void run(dispatch);
  return reply.code(202).send({ taskId: dispatch.taskId, provider: "noop", agentId: dispatch.agentId, state: "queued" });
});
app.get("/api/events", (_request, reply) => {
  reply.hijack();
  reply.raw.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-cache" });
  reply.raw.write(": connected\n\n");
  readers.add(reply.raw);
  reply.raw.once("close", () => readers.delete(reply.raw));
});
const address = await app.listen({ host: "127.0.0.1", port: 0 });
console.log(JSON.stringify({ address }));
await once(process, "SIGTERM");
for (const reader of readers) reader.end();
await app.close();
await callbacks.destroy();
database.close();
