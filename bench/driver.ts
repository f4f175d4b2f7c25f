import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { json, text } from "node:stream/consumers";
import { setTimeout as delay } from "node:timers/promises";
import { Pool } from "undici";
import { openEventCounter } from "./event-counter.ts";
import { EVENTS_PER_TASK } from "./noop-agent.ts";
import { readCpuTimeMs, readWrittenKiB } from "./process-use.ts";
import { quantile } from "./statistics.ts";

/** The input of the driver on stdin. */
export interface DriverJob {
  address: string;
  token: string;
  serverPid: number;
  /** `tasks` dispatches and waits for the callback, repeatedly. `requests` only dispatches. */
  kind: "tasks" | "requests";
  stages: { inFlight: number; warmMs: number; measureMs: number }[];
}

/** The result of one stage. */
export interface StageResult {
  inFlight: number;
  tasksPerSecond: number;
  cpuMsPerTask: number;
  writtenKiBPerTask: number;
  acceptP50Ms: number;
  acceptP99Ms: number;
  endToEndP50Ms: number;
  endToEndP99Ms: number;
  /** Empty when every event and every callback has arrived. */
  faults: string[];
}

const BODY_BYTES = 1287;
const COMPLETION_LIMIT_MS = 10_000;
/** Bridge posts at most eight concurrent callbacks to one receiver, and a real load has many receivers. */
const RECEIVERS = 32;

/** Runs the load, the event stream and the callback receiver in one process with one clock; prints one line of results. */
const job = JSON.parse(await text(process.stdin)) as DriverJob;
const pool = new Pool(job.address, { connections: Math.max(...job.stages.map((stage) => stage.inFlight)) });
const arrivals = new Map<string, () => void>();
const totals = { dispatched: 0, callbacks: 0, faults: [] as string[] };
const receive = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
  const body = (await json(request)) as { status?: string };
  response.end();
  totals.callbacks += 1;
  const taskId = String(request.headers["idempotency-key"]);
  const arrived = arrivals.get(taskId);
  arrivals.delete(taskId);
  if (arrived === undefined || body.status !== "ok") fault(`an unexpected callback: ${taskId} ${body.status}`);
  arrived?.();
};
const receivers = Array.from({ length: RECEIVERS }, () => createServer(receive).listen(0, "127.0.0.1"));
await Promise.all(receivers.map((receiver) => once(receiver, "listening")));
const callbackUrls = receivers.map((receiver) => `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/callback`);
let dispatched = 0;
const events = job.kind === "tasks" ? await openEventCounter(job.address, job.token) : null;

const results: StageResult[] = [];
for (const stage of job.stages) results.push(await runStage(stage));
console.log(JSON.stringify({ results }));
events?.close();
await pool.destroy();
for (const receiver of receivers) receiver.close();
for (const receiver of receivers) receiver.closeAllConnections();

async function runStage({ inFlight, warmMs, measureMs }: DriverJob["stages"][number]): Promise<StageResult> {
  const acceptMs: number[] = [];
  const endToEndMs: number[] = [];
  let phase: "warm" | "measure" | "over" = "warm";
  totals.faults = [];

  async function client(): Promise<void> {
    while (phase !== "over") {
      totals.dispatched += 1;
      const taskId = `bench-${totals.dispatched}`;
      const { promise: arrived, resolve } = Promise.withResolvers<void>();
      if (job.kind === "tasks") arrivals.set(taskId, resolve);
      const startedAt = performance.now();
      if (!(await dispatch(taskId))) return;
      const acceptedAt = performance.now();
      if (job.kind === "tasks") await arrived;
      if (phase !== "measure") continue;
      acceptMs.push(acceptedAt - startedAt);
      endToEndMs.push(performance.now() - startedAt);
    }
  }

  const clients = Array.from({ length: inFlight }, client);
  await delay(warmMs);
  const before = measureUse();
  phase = "measure";
  await delay(measureMs);
  phase = "over";
  const after = measureUse();
  await Promise.race([Promise.all(clients), delay(COMPLETION_LIMIT_MS, undefined, { ref: false })]);
  await checkCompleteness();
  return {
    inFlight,
    tasksPerSecond: (endToEndMs.length / (after.atMs - before.atMs)) * 1000,
    cpuMsPerTask: (after.cpuMs - before.cpuMs) / endToEndMs.length,
    writtenKiBPerTask: (after.writtenKiB - before.writtenKiB) / endToEndMs.length,
    acceptP50Ms: quantile(acceptMs, 0.5),
    acceptP99Ms: quantile(acceptMs, 0.99),
    endToEndP50Ms: quantile(endToEndMs, 0.5),
    endToEndP99Ms: quantile(endToEndMs, 0.99),
    faults: totals.faults,
  };
}

function measureUse() {
  return { atMs: performance.now(), cpuMs: readCpuTimeMs(job.serverPid), writtenKiB: readWrittenKiB(job.serverPid) };
}

async function dispatch(taskId: string): Promise<boolean> {
  const { statusCode, body } = await pool.request({
    path: "/api/v2/dispatch",
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${job.token}` },
    body: dispatchBody(taskId),
  });
  const answer = await body.text();
  if (statusCode === 202) return true;
  fault(`a dispatch was answered ${statusCode} ${answer}`);
  return false;
}

function dispatchBody(taskId: string): string {
  const callbackUrl = callbackUrls[dispatched++ % RECEIVERS];
  const body = { taskId, agentId: "bench", message: "", callbackUrl, metadata: { workflow: "bench", attempt: 1 } };
  const missing = BODY_BYTES - JSON.stringify(body).length;
  return JSON.stringify({ ...body, message: "Look into it. ".repeat(BODY_BYTES).slice(0, missing) });
}

/** Checks that every dispatched task has ended; otherwise the result is invalid. */
async function checkCompleteness(): Promise<void> {
  if (events === null) return;
  const expected = totals.dispatched * EVENTS_PER_TASK;
  const deadline = performance.now() + COMPLETION_LIMIT_MS;
  while ((events.count < expected || totals.callbacks < totals.dispatched) && performance.now() < deadline) await delay(10);
  if (events.count !== expected) fault(`${events.count} events of ${expected}`);
  if (totals.callbacks !== totals.dispatched) fault(`${totals.callbacks} callbacks of ${totals.dispatched}`);
}

function fault(line: string): void {
  totals.faults.push(line);
}
