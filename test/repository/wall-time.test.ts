import { globSync, readFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";

const directory = path.resolve(import.meta.dirname, "..");
const files = globSync(["**/*.ts", "../packages/*/test/**/*.ts"], { cwd: directory }).filter(
  (name) => !/node_modules|openapi\/clients\/generated/.test(name) && path.join(directory, name) !== import.meta.filename,
);

const deadline = "a deadline, which is scaled to the machine";
const load = "keeps the event loop busy for so long, which is what Bridge has to notice";
const poll = "the pause between two looks";

/**
 * A machine with other work is several times slower, so no test compares the time that something took: it compares counts, orders
 * (`support/outlasts.ts`), CPU time with a reference (`support/cpu-time.ts`), or uses a fake clock. Time itself is measured in `bench/`.
 */
const rules: { about: string; pattern: RegExp; exceptions: Readonly<Record<string, string>> }[] = [
  {
    about: "reads a stopwatch",
    pattern: /performance\.now\(|\.hrtime\b|process\.uptime\(/,
    exceptions: {
      "http/wire/shared-rates.test.ts": "states the end of a minute by the clock of the process",
      "harness/machine.ts": "measures the machine, to scale all time limits",
      "support/until.ts": deadline,
      "runtimes/openclaw/start-gateway.ts": deadline,
      "http/server/overload-monitor.test.ts": load,
      "http/server/create-server.test.ts": load,
      "crash/run.ts": "prints the duration of a run",
      "crash/crash-run.ts": "kills Bridge during its start, after a fraction of the last startup time",
      "cluster/run.ts": "prints the duration of a run",
      "cluster/membership.test.ts": "a fake clock",
      "cluster/scenarios/restarts.ts": "the rate of tasks, as a figure of the report",
      "store/posts/postgres-schedule.test.ts": "the time of a reading of another clock",
      "adapters/in-memory-adapter.ts": "the duration in a result",
      "runtimes/model-server/server.ts": "the time of a request, for debugging",
      "runtimes/table/scenarios.ts": "the time of a cancellation, for the report",
    },
  },
  {
    about: "makes assertions about the time of day",
    pattern: /expect\(.*Date\.now\(\)/,
    exceptions: { "scenarios/suspended-process.test.ts": "waits until a timeout of Bridge has passed" },
  },
  {
    about: "sleeps",
    pattern: /await (delay|sleep)\(|setTimeout\(resolve/,
    exceptions: {
      "support/until.ts": poll,
      "access/tokens.test.ts": poll,
      "harness/global-setup.ts": poll,
      "harness/machine.ts": "measures timers",
      "harness/reaper.ts": poll,
      "crash/orchestrator.ts": "requests at random moments",
      "crash/crash-run.ts": "kills at random moments",
      "webhooks/killed.test.ts": "kills at random moments",
      "dispatch/sharing/queue-counts.test.ts": "a fake clock",

      "browser/console/agent-scripts.ts": "waits until an event is stored, before the clock moves on",
      "browser/console/scripted-bridge.ts": poll,
      "browser/console/take-screenshots.ts": "lets animations end before a screenshot",
      "cluster/pause.ts": "faults that last for a part of a lease",
      "runtimes/model-server/server.ts": "a model whose connection is lost some time after its last output",
      "runtimes/shell/play-commands.ts": poll,
      "runtimes/openclaw/tasks.test.ts": "starts tasks one after the other",
      "http/streams/stream-writer.test.ts": "intervals of the same length, which fire in the same order",
      "http/routes/approval-races.test.ts": "answers at the moment of a deadline, before and after",
      "approvals/approvals.test.ts": "waits longer than two earlier timers of Bridge",
      "dispatch/dispatcher.test.ts": "an agent that takes a while",
      "dispatch/run/run-task.test.ts": "an agent that takes a while",
      "dispatch/admission/validate-dispatch.test.ts": "a fake clock",
    },
  },
  {
    about: "limits its own time, which the harness does",
    pattern: /\b(testTimeout|hookTimeout)\b|, \{ timeout: [\d_]+ \}, (async )?\(/,
    exceptions: {
      "harness/setup.ts": "sets the limits",
      "conformance/adapter.ts": "runs in projects of others",
    },
  },
];

test.each(rules)("no test $about, except the listed files", ({ pattern, exceptions }) => {
  const found = files.filter((name) =>
    readFileSync(path.join(directory, name), "utf8")
      .split("\n")
      .some((line) => pattern.test(line)),
  );
  expect(found.toSorted()).toEqual(Object.keys(exceptions).toSorted());
});
