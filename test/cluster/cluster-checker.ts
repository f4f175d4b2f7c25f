import { checkGuarantees, type Evidence } from "../crash/checker.ts";
import type { JournalEntry } from "../crash/installation.ts";

/** What the test observed of a cluster. */
export interface ClusterEvidence extends Evidence {
  /** What the sampler found while the scenario was running. */
  sampled: { count: number; violations: ReadonlySet<string> };
  /** Processes of runtimes that are left at the end. */
  leftProcesses: readonly number[];
  /** The share of the tasks that have to be completed, because a run in which all fail proves nothing. */
  minCompleted: number;
}

/** Checks all guarantees of a cluster. Returns one line for each violation. */
export function checkCluster(evidence: ClusterEvidence): string[] {
  return [
    ...checkGuarantees(evidence),
    ...evidence.sampled.violations,
    ...(evidence.sampled.count > 0 ? [] : ["proof: the running tasks were never sampled"]),
    ...checkRuns(evidence),
    ...evidence.leftProcesses.map((pid) => `process: the runtime ${pid} is left`),
    ...checkShare(evidence),
  ];
}

/** One process of a runtime, by what it has recorded. Times are seconds since the boot of the machine. */
interface Run {
  key: string;
  pid: number;
  dataDir: string;
  from: number;
  to: number;
}

/** Returns the processes in the journals of the tasks. */
function readRuns(journals: ReadonlyMap<string, readonly JournalEntry[]>): Run[] {
  return [...journals].flatMap(([key, journal]) =>
    [...Map.groupBy(journal, ({ pid }) => pid)].map(([pid, entries]) => {
      const times = entries.map(({ at }) => at);
      return { key, pid, dataDir: entries[0]?.dataDir ?? "", from: Math.min(...times), to: Math.max(...times) };
    }),
  );
}

/** Checks that no task had two processes at once, and no agent processes of two nodes at once. */
function checkRuns({ journals, dispatched }: ClusterEvidence): string[] {
  const runs = readRuns(journals).sort((a, b) => a.from - b.from);
  const agentOf = ({ key }: Run): string => `${dispatched.get(key)?.tenant.tenant}/${String(dispatched.get(key)?.body["agentId"])}`;
  return [
    ...[...Map.groupBy(runs, ({ key }) => key)].flatMap(([key, group]) =>
      findOverlaps(group).map(() => `run: two processes of ${key} were running at once`),
    ),
    ...[...Map.groupBy(runs, agentOf)].flatMap(([agent, group]) =>
      findOverlaps(group)
        .filter(([first, second]) => first.dataDir !== second.dataDir)
        .map(([first, second]) => `run: ${first.key} and ${second.key} of the agent ${agent} were running on two nodes at once`),
    ),
  ];
}

/** Returns the pairs of runs that overlap. The runs are in the order of their starts. */
function findOverlaps(runs: readonly Run[]): [Run, Run][] {
  return runs.flatMap((second, index) =>
    runs
      .slice(0, index)
      .filter((first) => first.to > second.from)
      .map((first): [Run, Run] => [first, second]),
  );
}

function checkShare({ stored, minCompleted }: ClusterEvidence): string[] {
  const completed = stored.tasks.filter(({ state }) => state === "completed").length;
  return completed > 0 && completed >= minCompleted * stored.tasks.length
    ? []
    : [`proof: only ${completed} of ${stored.tasks.length} tasks completed`];
}
