const LOOPS = 10_000_000;
/** The shortest of several, because the first ones run before the compiler has optimized the loop. */
const REFERENCES = 5;

/**
 * The CPU time of this thread for the work, as a multiple of a loop of ten million steps on the same machine: neither the speed of the machine nor
 * what else it does matters much.
 */
export function cpuCost(work: () => unknown): number {
  const workUs = cpuTime(work);
  return workUs / Math.min(...Array.from({ length: REFERENCES }, () => cpuTime(count)));
}

function cpuTime(work: () => unknown): number {
  const before = process.threadCpuUsage();
  work();
  const { user, system } = process.threadCpuUsage(before);
  return user + system;
}

function count(): number {
  let sum = 0;
  for (let loop = 0; loop < LOOPS; loop += 1) sum = (sum * 31 + loop) | 0;
  return sum;
}
