import { Session } from "node:inspector/promises";

// The process of `countBlocks`: prints how many blocks of code each workload of a file executes, as JSON.
const [file = ""] = process.argv.slice(2);
const session = new Session();
session.connect();
await session.post("Profiler.enable");
// V8 counts blocks only in functions that it compiles after this call.
await session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: true });
const { workloads } = (await import(file)) as { workloads: Readonly<Record<string, () => void>> };
const counts: Record<string, number> = {};
for (const [name, run] of Object.entries(workloads)) {
  await takeCount();
  run();
  counts[name] = await takeCount();
}
process.stdout.write(JSON.stringify(counts));

/** Returns the number of executed blocks since the last call, without those of Node itself. */
async function takeCount(): Promise<number> {
  const { result } = await session.post("Profiler.takePreciseCoverage");
  const scripts = result.filter(({ url }) => !url.startsWith("node:") && url !== import.meta.url);
  const ranges = scripts.flatMap(({ functions }) => functions.flatMap(({ ranges }) => ranges));
  return ranges.reduce((sum, { count }) => sum + count, 0);
}
