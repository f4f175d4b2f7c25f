import { cpus } from "node:os";
import type { StageResult } from "./driver.ts";
import type { Round, ServerName } from "./servers.ts";
import { median, spread } from "./statistics.ts";

/** Bridge's tasks/s as a fraction of the floor's, and its CPU time per task as a multiple. */
const LEAST_RATE_RATIO = 0.5;
const MOST_CPU_RATIO = 2;
/** The time to accept with one client, as a multiple of one fsync and one bare request. */
const MOST_ACCEPT_RATIO = 4;
/** Above this value, the machine determines the result, not the code. */
const NOISY_LOAD = 2;
const NOISY_SPREAD = 1.5;

/** The numbers of concurrent tasks in the end-to-end comparison. */
const inFlights = [32, 256];

interface Goal {
  what: string;
  goal: string;
  values: number[];
  isMet(value: number): boolean;
}

/** Writes the results of all rounds as one page: medians of per-round ratios, and goals met or missed. */
export function renderReport(rounds: readonly Round[], { loadBefore }: { loadBefore: number }): { text: string; met: boolean } {
  const goals = listGoals(rounds);
  const faults = rounds
    .flatMap((round) => [round.bare, round.floor, round.bridge])
    .flatMap((run) => run.stages.flatMap((stage) => stage.faults));
  const complete = faults.length === 0;
  const lines = [
    "# Bench results",
    "",
    `Node ${process.versions.node}, ${cpus().length} cores, ${rounds.length} rounds; load average before the run ${loadBefore.toFixed(2)}; ${describeFsync(rounds)}.`,
    ...describeNoise(rounds, loadBefore),
    "",
    "## Goals",
    "",
    "| | goal | median of rounds | all rounds | |",
    "|---|---|---|---|---|",
    ...goals.map((goal) => renderGoal(goal, complete)),
    "",
    "## Figures (medians of rounds)",
    "",
    "| server | in flight | tasks/s | CPU ms/task | written KiB/task | accept p50 / p99 ms | end to end p50 / p99 ms |",
    "|---|---|---|---|---|---|---|",
    ...(["bare", "floor", "bridge"] as const).flatMap((name) => renderServer(name, rounds)),
    "",
    complete
      ? "Complete: in every stage events = 20 x tasks, callbacks = tasks, errors = 0."
      : `NOT COMPLETE, so nothing here counts: ${faults.slice(0, 5).join("; ")}.`,
    "",
    "## Method",
    "",
    "Load, event stream and 32 callback receivers are one process on core 1, the server is pinned to core 0. Each round starts every server afresh on new",
    "data, warms up before each stage, and runs them in reverse order on odd rounds. A client dispatches, waits for the callback of its task, and goes",
    "on. CPU is the run time of all the server's threads. `floor` is the smallest durable pipeline (`bench/floor.ts`: group commit, WAL with",
    "`synchronous=FULL`, 20 stored and streamed events, one POST; no auth, limits, retries or recovery); `bridge` is the real application with the same",
    "in-process agent of 20 events, 256 tasks at once, signed callbacks, log level `warn`, and stores and streams three events more a task (its beginning,",
    "its end, its delivery); `bare` reads a request and answers it.",
    "",
  ];
  return { text: lines.join("\n"), met: complete && goals.every((goal) => goal.isMet(median(goal.values))) };
}

function listGoals(rounds: readonly Round[]): Goal[] {
  const ratio = (inFlight: number, of: (stage: StageResult) => number): number[] =>
    rounds.map((round) => of(stageOf(round, "bridge", inFlight)) / of(stageOf(round, "floor", inFlight)));
  return [
    ...inFlights.map((inFlight) => ({
      what: `tasks/s by the floor's, ${inFlight} in flight`,
      goal: `at least ${LEAST_RATE_RATIO}`,
      values: ratio(inFlight, (stage) => stage.tasksPerSecond),
      isMet: (value: number) => value >= LEAST_RATE_RATIO,
    })),
    ...inFlights.map((inFlight) => ({
      what: `CPU per task by the floor's, ${inFlight} in flight`,
      goal: `at most ${MOST_CPU_RATIO}`,
      values: ratio(inFlight, (stage) => stage.cpuMsPerTask),
      isMet: (value: number) => value <= MOST_CPU_RATIO,
    })),
    {
      what: "accept p50 at one client by (fsync p50 + bare request p50)",
      goal: `at most ${MOST_ACCEPT_RATIO}`,
      values: rounds.map((round) => stageOf(round, "bridge", 1).acceptP50Ms / (fsyncMs(round) + stageOf(round, "bare", 1).acceptP50Ms)),
      isMet: (value) => value <= MOST_ACCEPT_RATIO,
    },
  ];
}

function renderGoal({ what, goal, values, isMet }: Goal, complete: boolean): string {
  const value = median(values);
  const verdict = !complete ? "does not count" : isMet(value) ? "met" : "**missed**";
  return `| ${what} | ${goal} | ${value.toFixed(2)} | ${values.map((one) => one.toFixed(2)).join(" ")} | ${verdict} |`;
}

function renderServer(name: ServerName, rounds: readonly Round[]): string[] {
  const stages = rounds[0]?.[name].stages ?? [];
  return stages.map(({ inFlight }) => {
    const middle = (of: (stage: StageResult) => number): number => median(rounds.map((round) => of(stageOf(round, name, inFlight))));
    const cells = [
      name,
      inFlight,
      middle((stage) => stage.tasksPerSecond).toFixed(0),
      middle((stage) => stage.cpuMsPerTask).toFixed(3),
      middle((stage) => stage.writtenKiBPerTask).toFixed(0),
      `${middle((stage) => stage.acceptP50Ms).toFixed(2)} / ${middle((stage) => stage.acceptP99Ms).toFixed(1)}`,
      `${middle((stage) => stage.endToEndP50Ms).toFixed(2)} / ${middle((stage) => stage.endToEndP99Ms).toFixed(1)}`,
    ];
    return `| ${cells.join(" | ")} |`;
  });
}

function describeFsync(rounds: readonly Round[]): string {
  const runs = rounds.flatMap((round) => [round.bare, round.floor, round.bridge]);
  const [before, after] = [0, 1].map((index) => median(runs.map((run) => run.fsyncMs[index as 0 | 1])));
  return `fsync of 4 KiB p50 ${before?.toFixed(2)} ms before and ${after?.toFixed(2)} ms after the servers' runs`;
}

function describeNoise(rounds: readonly Round[], loadBefore: number): string[] {
  const spreads = inFlights.map((inFlight) => spread(rounds.map((round) => stageOf(round, "floor", inFlight).tasksPerSecond)));
  if (loadBefore <= NOISY_LOAD && Math.max(...spreads) <= NOISY_SPREAD) return [];
  return [
    `**Noisy**: other work shared the machine (the floor's own tasks/s differ by ${Math.max(...spreads).toFixed(2)} x between rounds); trust CPU per task more than tasks/s.`,
  ];
}

/** The cost of one fsync around Bridge's run of the round. */
const fsyncMs = ({ bridge }: Round): number => (bridge.fsyncMs[0] + bridge.fsyncMs[1]) / 2;

function stageOf(round: Round, name: ServerName, inFlight: number): StageResult {
  const stage = round[name].stages.find((one) => one.inFlight === inFlight);
  if (stage === undefined) throw new Error(`${name} was not measured at ${inFlight} in flight.`);
  return stage;
}
