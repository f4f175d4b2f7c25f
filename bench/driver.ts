import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";
import { setTimeout as delay } from "node:timers/promises";
import { Pool } from "undici";
import { openEventCounter } from "./event-counter.ts";
import { measureSlice, type Slice, type SliceTimes, type TaskTimes } from "./measure-slice.ts";
import { EVENTS_PER_TASK } from "./noop-agent.ts";
import { readCpuTimeWithChildrenMs } from "./process-use.ts";
import { createStreamReaders } from "./stream-readers.ts";

/** A server under load. */
export interface Target {
  address: string;
  token: string;
  /** Processes whose CPU time counts, and that of their children. */
  pids: readonly number[];
  /** `tasks`: a task is over when its callback has arrived. `requests`: when its dispatch is answered. */
  kind: "tasks" | "requests";
  /** Nodes that share the work with the first one. Dispatches take turns. */
  others?: readonly string[];
  /** Whether the event stream of each node contains only its own events. Default: each contains all. */
  hasSeparateStreams?: boolean;
  /** Number of agents, which take turns. Default: 1. */
  agents?: number;
}

export interface SliceResult extends SliceTimes {
  /** Tasks dispatched in the slice, measured or not; all are complete. */
  dispatched: number;
  /** Empty if every event and every callback has arrived. */
  faults: string[];
}

const BODY_BYTES = 1287;
/** Bridge sends at most eight callbacks at once to one receiver, and real deployments have many receivers. */
const RECEIVERS = 32;
const COMPLETION_LIMIT_MS = 10_000;

// Load, event streams and callback receivers are one process with one clock. It answers each message with the result of a slice.
const loads = new Map<string, Promise<Load>>();
process.on("message", async ({ target, slice }: { target: Target; slice: Slice }) => {
  const load = loads.get(target.address) ?? openLoad(target);
  loads.set(target.address, load);
  process.send?.(await (await load).run(slice));
});
process.once("disconnect", () => process.exit());

type Load = Awaited<ReturnType<typeof openLoad>>;

/** Opens the event stream and the callback receivers of one server; connections stay open between slices. */
async function openLoad({ address, token, pids, kind, others = [], hasSeparateStreams = false, agents = 1 }: Target) {
  const pools = [address, ...others].map((node) => new Pool(node));
  const arrivals = new Map<string, () => void>();
  const totals = { dispatched: 0, callbacks: 0 };
  let faults: string[] = [];
  const receivers = await openReceivers(receiveCallback);
  const streams = kind === "requests" ? [] : hasSeparateStreams ? [address, ...others] : [address];
  const events = await Promise.all(streams.map((node) => openEventCounter(node, token)));
  const countEvents = () => events.reduce((sum, { count }) => sum + count, 0);
  const readers = createStreamReaders(address, token);

  async function receiveCallback(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = (await json(request)) as { status?: string };
    response.end();
    totals.callbacks += 1;
    const taskId = String(request.headers["idempotency-key"]);
    const arrive = arrivals.get(taskId);
    arrivals.delete(taskId);
    if (arrive === undefined || body.status !== "ok") faults.push(`unexpected callback: ${taskId} ${body.status}`);
    arrive?.();
  }

  async function dispatch(taskId: string): Promise<void> {
    const { statusCode, body } = await (pools[totals.dispatched % pools.length] as Pool).request({
      path: "/api/v2/dispatch",
      method: "POST",
      headers: { "content-type": "application/json", authorization: `Bearer ${token}` },
      body: renderDispatch(
        taskId,
        `bench${agents === 1 ? "" : totals.dispatched % agents}`,
        receivers[totals.dispatched % RECEIVERS] as string,
      ),
    });
    const answer = await body.text();
    if (statusCode !== 202) throw new Error(`dispatch answered with ${statusCode} ${answer}`);
  }

  async function runTask(startedAt: number): Promise<TaskTimes> {
    totals.dispatched += 1;
    const taskId = `bench-${totals.dispatched}`;
    const { promise: arrived, resolve } = Promise.withResolvers<void>();
    if (kind === "tasks") arrivals.set(taskId, resolve);
    await dispatch(taskId);
    const acceptMs = performance.now() - startedAt;
    if (kind === "tasks") await arrived;
    return { acceptMs, endToEndMs: performance.now() - startedAt };
  }

  const measureUse = () => ({
    atMs: performance.now(),
    cpuMs: pids.reduce((sum, pid) => sum + readCpuTimeWithChildrenMs(pid), 0),
  });

  async function checkCompleteness(): Promise<void> {
    if (events.length === 0) return;
    const expected = totals.dispatched * EVENTS_PER_TASK;
    const deadline = performance.now() + COMPLETION_LIMIT_MS;
    while ((countEvents() < expected || totals.callbacks < totals.dispatched) && performance.now() < deadline) await delay(10);
    if (countEvents() !== expected) faults.push(`${countEvents()} events of ${expected}`);
    if (totals.callbacks !== totals.dispatched) faults.push(`${totals.callbacks} callbacks of ${totals.dispatched}`);
    faults.push(...(await readers.check(COMPLETION_LIMIT_MS)));
  }

  return {
    async run(slice: Slice): Promise<SliceResult> {
      faults = [];
      await readers.replace(slice.readers ?? { count: 0 });
      const dispatchedBefore = totals.dispatched;
      const result = await measureSlice(slice, { runTask, measureUse, reportFault: (fault) => void faults.push(fault) });
      await checkCompleteness();
      return { ...result, dispatched: totals.dispatched - dispatchedBefore, faults: [...faults] };
    },
  };
}

/** Starts the callback receivers; returns their URLs. */
async function openReceivers(receive: (request: IncomingMessage, response: ServerResponse) => Promise<void>): Promise<string[]> {
  const receivers = Array.from({ length: RECEIVERS }, () => createServer(receive).listen(0, "127.0.0.1"));
  await Promise.all(receivers.map((receiver) => once(receiver, "listening")));
  return receivers.map((receiver) => `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/callback`);
}

function renderDispatch(taskId: string, agentId: string, callbackUrl: string): string {
  const body = { taskId, agentId, message: "", callbackUrl, metadata: { workflow: "bench", attempt: 1 } };
  const missing = BODY_BYTES - JSON.stringify(body).length;
  return JSON.stringify({ ...body, message: "Look into it. ".repeat(BODY_BYTES).slice(0, missing) });
}
