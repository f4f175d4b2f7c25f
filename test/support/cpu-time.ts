/** Minimum CPU time of a measurement, because the CPU clock has a resolution of 4 ms on some systems. */
const MEASURED_CPU_MS = 60;
const MAX_TRIES = 10;
const LOOPS = 10_000_000;

/** Returns the mean CPU time of one run in this thread, in milliseconds. */
export function measureCpuMs(run: () => unknown): number {
  const before = process.threadCpuUsage();
  for (let runs = 1; ; runs += 1) {
    run();
    const cpuMs = cpuMsSince(before);
    if (cpuMs >= MEASURED_CPU_MS) return cpuMs / runs;
  }
}

/**
 * Runs the work once and returns its CPU time as a multiple of a loop of ten million steps, so that the result hardly depends on the speed
 * or the load of the machine.
 */
export function cpuCost(work: () => unknown): number {
  const before = process.threadCpuUsage();
  work();
  return cpuMsSince(before) / measureCpuMs(count);
}

/**
 * Returns the CPU time of the work as a multiple of that of the reference: the first ratio within the limit, or the least of several,
 * because other load of the machine only adds time.
 */
export function leastCpuRatio(work: () => unknown, reference: () => unknown, limit: number): number {
  let least = Number.POSITIVE_INFINITY;
  for (let tries = 0; tries < MAX_TRIES && least > limit; tries += 1) least = Math.min(least, measureCpuMs(work) / measureCpuMs(reference));
  return least;
}

function cpuMsSince(before: NodeJS.CpuUsage): number {
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / 1000;
}

function count(): number {
  let sum = 0;
  for (let loop = 0; loop < LOOPS; loop += 1) sum = (sum * 31 + loop) | 0;
  return sum;
}
