/** What a measurement takes at least: the clock of CPU time ticks every 4 ms on some systems. */
const MEASURED_CPU_MS = 60;

/** Mean CPU time of one run in this thread, in ms. */
export function measureCpuMs(run: () => void): number {
  const before = process.threadCpuUsage();
  for (let runs = 1; ; runs += 1) {
    run();
    const { user, system } = process.threadCpuUsage(before);
    const cpuMs = (user + system) / 1000;
    if (cpuMs >= MEASURED_CPU_MS) return cpuMs / runs;
  }
}
