/** Minimum CPU time of a measurement, because the CPU clock has a resolution of 4 ms on some systems. */
const MEASURED_CPU_MS = 60;
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

function cpuMsSince(before: NodeJS.CpuUsage): number {
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / 1000;
}

function count(): number {
  let sum = 0;
  for (let loop = 0; loop < LOOPS; loop += 1) sum = (sum * 31 + loop) | 0;
  return sum;
}
