import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { cpus, loadavg } from "node:os";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { parseArgs } from "node:util";
import { alternateSubjects, type Subject } from "./alternate-subjects.ts";
import { LOOP_RESOLUTION_MS, type LoopReport } from "./loop-preload.ts";
import { createDirectory, DRIVER_CORE, SERVER_CORE } from "./servers.ts";
import { median, quantile } from "./statistics.ts";

/** Compares tasks in a work tree with tasks without one, and with `git worktree add` and `remove` of the same repository. */
const { values: options } = parseArgs({
  options: {
    rounds: { type: "string", default: "5" },
    /** Tasks of a round. */
    tasks: { type: "string", default: "100" },
    /** Files of the repository. */
    files: { type: "string", default: "20" },
    /** Comma-separated directories of other checkouts of Bridge, which are measured too. */
    against: { type: "string" },
    "no-file": { type: "boolean", default: false },
  },
});
const IN_FLIGHT = 8;
/** Pause before git is measured, in which Bridge removes the last trees. */
const SETTLE_MS = 1000;
const PROGRAM = ["taskset", "-c", String(DRIVER_CORE), "/bin/sh", "-c", "cat >/dev/null; echo changed >>file-1.txt"];
const IN_TREE = { profile: "modify", repository: { name: "bench" } };

interface Round {
  /** Milliseconds for each task or tree. */
  treeMs: number;
  plainMs: number;
  gitMs: number;
  loop: LoopReport;
}

const tasks = Number(options.tasks);
const loadBefore = loadavg()[0] ?? Number.NaN;
const directory = createDirectory();
const source = path.join(directory, "source");
const repositoriesFile = path.join(directory, "repositories.json");
createSource();
const subjects = await alternateSubjects<Round>({
  against: options.against,
  environment: { BRIDGE_ADAPTERS: "command", BRIDGE_COMMAND: JSON.stringify(PROGRAM), BRIDGE_REPOSITORIES_FILE: repositoriesFile },
  rounds: Number(options.rounds),
  measure,
  describe: ({ treeMs, plainMs, gitMs, loop }) =>
    `${treeMs.toFixed(1)} ms with a tree, ${plainMs.toFixed(1)} ms without one, git ${gitMs.toFixed(1)} ms, ` +
    `p99 of the event loop ${loop.p99Ms.toFixed(1)} ms`,
});
const text = render();
console.log(`\n${text}`);
if (!options["no-file"]) writeFileSync(path.join(import.meta.dirname, "trees.md"), text);

function git(...args: string[]): void {
  const identity = ["-c", "user.name=bench", "-c", "user.email=bench@localhost"];
  execFileSync("taskset", ["-c", String(SERVER_CORE), "git", "-C", source, ...identity, ...args], { stdio: "ignore" });
}

function createSource(): void {
  mkdirSync(source);
  for (let file = 1; file <= Number(options.files); file += 1) writeFileSync(path.join(source, `file-${file}.txt`), `${file}\n`);
  git("init", "--initial-branch=main");
  git("add", "--all");
  git("commit", "--message", "Begin");
  writeFileSync(repositoriesFile, JSON.stringify([{ name: "bench", source }]));
}

async function measure({ server, client }: Subject<Round>): Promise<Round> {
  const plainPerSecond = await client.runTasks(tasks, IN_FLIGHT);
  await server.measureLoop();
  const treesPerSecond = await client.runTasks(tasks, IN_FLIGHT, IN_TREE);
  const loop = await server.measureLoop();
  await delay(SETTLE_MS);
  return { treeMs: 1000 / treesPerSecond, plainMs: 1000 / plainPerSecond, gitMs: measureGit(), loop };
}

function measureGit(): number {
  const tree = path.join(directory, "tree");
  const startedAt = performance.now();
  for (let number = 0; number < tasks; number += 1) {
    git("worktree", "add", "-B", "bench", tree);
    git("worktree", "remove", "--force", tree);
  }
  return (performance.now() - startedAt) / tasks;
}

function render(): string {
  return `# Tasks in a work tree

Node ${process.versions.node}, ${cpus().length} cores, ${options.rounds} rounds; load average before ${loadBefore.toFixed(2)}.

\`npm run bench -- trees\`: ${tasks} tasks, ${IN_FLIGHT} in flight, without and with a work tree of a repository of ${options.files} files. Each task starts a
program that changes one file. Its tree is created, its change is committed and stored, and its tree is removed. "git" is
\`git worktree add\` and \`git worktree remove\` of the same repository, one after the other. Bridge and git run on the same core, and the
programs on the other one. The event loop was measured during the tasks with a tree, with a resolution of ${LOOP_RESOLUTION_MS} ms. Medians of the
rounds; the ratio is the median of the ratios of the rounds (p10 to p90).

| server | with a tree, ms/task | without one, ms/task | git, ms/tree | tree x git | event loop p50 ms | p99 ms | longest ms |
|---|--:|--:|--:|--:|--:|--:|--:|
${subjects.map(renderRow).join("\n")}
`;
}

function renderRow({ name, rounds }: Subject<Round>): string {
  const ratios = rounds.map(({ treeMs, gitMs }) => treeMs / gitMs);
  const middle = (select: (one: Round) => number) => median(rounds.map(select)).toFixed(1);
  const cells = [
    ...[middle(({ treeMs }) => treeMs), middle(({ plainMs }) => plainMs), middle(({ gitMs }) => gitMs)],
    `${median(ratios).toFixed(1)} (${quantile(ratios, 0.1).toFixed(1)} to ${quantile(ratios, 0.9).toFixed(1)})`,
    ...[middle(({ loop }) => loop.p50Ms), middle(({ loop }) => loop.p99Ms), middle(({ loop }) => loop.longestMs)],
  ];
  return `| ${name} | ${cells.join(" | ")} |`;
}
