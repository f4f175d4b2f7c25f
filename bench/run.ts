/* `npm run bench -- NAME [options]` runs a benchmark of this directory, and the one of all servers without a name. */

const benchmarks: Readonly<Record<string, string>> = {
  throughput: "CPU time and tasks per second of Bridge and of all references, which is the default",
  accept: "dispatches alone, and their times at a fixed rate",
  bodies: "the event loop while it reads hostile bodies",
  bursts: "the event loop while 2,000 requests arrive at once",
  cluster: "one and three nodes on PostgreSQL, and their peers",
  console: "the console in Chromium with many tasks and events",
  "fan-out": "readers of event streams: CPU time and memory",
  growth: "operations with 1,000 and with 1,000,000 tasks in the database",
  profile: "the functions on which a server spends its time",
  proxy: "the model proxy, compared with a bare pipe",
  soak: "memory and handles after 500 tasks of one adapter",
  spawn: "the event loop while tasks start programs",
  start: "time until ready, and memory of the idle process",
  trees: "tasks in a work tree, compared with `git worktree add`",
};

const [first = "throughput"] = process.argv.slice(2);
const isNamed = !first.startsWith("-");
const name = isNamed ? first : "throughput";
if (first === "--help" || !Object.hasOwn(benchmarks, name)) {
  if (first !== "--help") console.error(`There is no benchmark ${name}.\n`);
  const lines = Object.entries(benchmarks).map(([known, measures]) => `  ${known.padEnd(12)}${measures}`);
  console.log(`Usage: npm run bench -- [NAME] [options]\n\n${lines.join("\n")}`);
  if (first !== "--help") process.exitCode = 2;
} else {
  // A benchmark reads its options from the arguments of the process.
  if (isNamed) process.argv.splice(2, 1);
  await import(`./${name}.ts`);
}
