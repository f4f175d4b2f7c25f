import { setTimeout as delay } from "node:timers/promises";
import { quantile } from "./statistics.ts";
import type { ReadersOption } from "./stream-readers.ts";

/** An uninterrupted measurement of one server. It ends when both minimums are reached. */
export interface Slice {
  /** The number of clients, each with one task at a time. With `perSecond`, the number of tasks before the measurement. */
  inFlight: number;
  leastTasks: number;
  leastMs: number;
  /** Dispatches at this rate, also while earlier tasks are not over. Times then count from the moment at which a dispatch is due. */
  perSecond?: number;
  /** Streams that are opened for the slice, and closed by the next slice. Default: none. */
  readers?: ReadersOption;
}

/** The times of one task, in ms. */
export interface TaskTimes {
  acceptMs: number;
  endToEndMs: number;
}

export interface SliceTimes {
  tasksPerSecond: number;
  cpuMsPerTask: number;
  acceptP50Ms: number;
  acceptP99Ms: number;
  endToEndP50Ms: number;
  endToEndP99Ms: number;
}

/** What a slice needs of the load. */
interface MeasuredLoad {
  /** Dispatches one task, and resolves when it is over, to its times since `startedAt`. */
  runTask(startedAt: number): Promise<TaskTimes>;
  /** The clock, and the CPU time of the server so far. */
  measureUse(): { atMs: number; cpuMs: number };
  reportFault(fault: string): void;
}

const SLICE_LIMIT_MS = 120_000;
const COMPLETION_LIMIT_MS = 10_000;

/** Runs tasks until the slice is measured and all of its tasks are over. */
export async function measureSlice(slice: Slice, { runTask, measureUse, reportFault }: MeasuredLoad): Promise<SliceTimes> {
  const { inFlight, leastTasks, leastMs, perSecond } = slice;
  const times: TaskTimes[] = [];
  const ended = Promise.withResolvers<void>();
  let before = measureUse();
  let after = before;
  let phase: "lead-in" | "measure" | "over" = "lead-in";
  let leadingIn = inFlight;

  function end(): void {
    if (phase === "over") return;
    phase = "over";
    after = measureUse();
    ended.resolve();
  }

  async function measureTask(isLeadIn: boolean, startedAt = performance.now()): Promise<void> {
    const time = await runTask(startedAt);
    if (phase === "measure") times.push(time);
    if (isLeadIn) leadingIn -= 1;
    if (phase === "lead-in" && leadingIn === 0) {
      phase = "measure";
      before = measureUse();
    }
    if (phase === "measure" && times.length >= leastTasks && performance.now() - before.atMs >= leastMs) end();
  }

  // The lead-in ends when every client has completed a task: until then, clients may still be connecting.
  async function client(): Promise<void> {
    for (let isFirst = true; phase !== "over"; isFirst = false) await measureTask(isFirst);
  }

  async function schedule(rate: number): Promise<void> {
    const running: Promise<void>[] = [];
    const firstAt = performance.now();
    for (let count = 0; phase !== "over"; count += 1) {
      const dueAt = firstAt + (count * 1000) / rate;
      await delay(Math.max(0, dueAt - performance.now()));
      running.push(measureTask(count < inFlight, dueAt).catch(fail));
    }
    await Promise.all(running);
  }

  function fail(error: Error): void {
    reportFault(error.message);
    end();
  }

  const loops = perSecond === undefined ? Array.from({ length: inFlight }, client) : [schedule(perSecond)];
  for (const loop of loops) loop.catch(fail);
  const limit = setTimeout(() => fail(new Error(`the slice did not end within ${SLICE_LIMIT_MS} ms`)), SLICE_LIMIT_MS);
  await ended.promise;
  clearTimeout(limit);
  await Promise.race([Promise.allSettled(loops), delay(COMPLETION_LIMIT_MS, undefined, { ref: false })]);
  const [acceptMs, endToEndMs] = [times.map((time) => time.acceptMs), times.map((time) => time.endToEndMs)];
  return {
    tasksPerSecond: (times.length / (after.atMs - before.atMs)) * 1000,
    cpuMsPerTask: (after.cpuMs - before.cpuMs) / times.length,
    acceptP50Ms: quantile(acceptMs, 0.5),
    acceptP99Ms: quantile(acceptMs, 0.99),
    endToEndP50Ms: quantile(endToEndMs, 0.5),
    endToEndP99Ms: quantile(endToEndMs, 0.99),
  };
}
