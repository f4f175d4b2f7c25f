import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, statSync, writeFileSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import path from "node:path";
import { promisify } from "node:util";
import { afterEach, describe, expect, onTestFinished, test, vi } from "vitest";
import type { Candidate } from "../../../../adapters/shared/process/find-processes.ts";
import { familyOf, labelCommand } from "../../../../adapters/shared/process/process-labels.ts";
import { sweep, sweepLeftovers, sweepTask } from "../../../../adapters/shared/process/sweep-processes.ts";
import { temporaryDirectory } from "../../../support/temporary-directory.ts";

const children: ChildProcess[] = [];
afterEach(() => {
  for (const child of children.splice(0)) child.kill("SIGKILL");
});

/** Longer than the first look at all processes takes on a busy machine. After the grace period, a sweep sends SIGKILL at once. */
const GRACE_MS = 10_000;

const ours = { BRIDGE_TASK_ID: "sweep-test", TMPDIR: "/nowhere/data/tmp/1", HOME: "/nowhere/data/homes/1" };

describe("the sweep of one task", () => {
  const task = { taskId: "sweep-test", tmp: "/nowhere/data/tmp/1", home: "/nowhere/data/homes/1", label: null };

  test("the sweep of one task kills processes with the marker and one of the directories", async () => {
    const all = await Promise.all([start(ours), start({ ...ours, TMPDIR: "/elsewhere" }), start({ ...ours, HOME: "/elsewhere" })]);
    expect(await sweepTask({ ...task, graceMs: GRACE_MS })).toEqual({ killed: 3, left: 0 });
    expect(await Promise.all(all.map(endOf))).toEqual(["SIGTERM", "SIGTERM", "SIGTERM"]);
  });

  test.each([
    ["another task", { ...ours, BRIDGE_TASK_ID: "sweep-test-2" }],
    ["the same task of another Bridge", { BRIDGE_TASK_ID: "sweep-test", TMPDIR: "/other/tmp/1", HOME: "/other/homes/1" }],
    ["no task at all", { TMPDIR: "/nowhere/data/tmp/1", HOME: "/nowhere/data/homes/1" }],
    ["a value that only contains the marker", { TEXT: "BRIDGE_TASK_ID=sweep-test", HOME: "/nowhere/data/homes/1" }],
  ])("the sweep of one task does not kill a process of %s", async (_name, environment) => {
    const other = await start(environment);
    expect(await sweepTask(task)).toEqual({ killed: 0, left: 0 });
    expect(other.exitCode ?? other.signalCode).toBeNull();
  });

  test("the sweep of one task kills a process that ignores SIGTERM after the grace period", async () => {
    const stubborn = await start(ours, 'trap "" TERM; echo ready; while :; do sleep 0.05; done');
    const { killed, left } = await sweepTask({ ...task, graceMs: 100 });
    expect({ ended: await endOf(stubborn), left }).toEqual({ ended: "SIGKILL", left: 0 });
    expect(killed).toBeGreaterThanOrEqual(1);
  });

  test("the sweep of one task kills a process that ignores SIGTERM also if Bridge was frozen for a minute during the sweep", async () => {
    const stubborn = await start(ours, 'trap "" TERM; echo ready; while :; do sleep 0.05; done');
    const now = performance.now.bind(performance);
    let calls = 0;
    const clock = vi.spyOn(performance, "now").mockImplementation(() => {
      calls += 1;
      return now() + (calls > 1 ? 60_000 : 0);
    });
    onTestFinished(() => clock.mockRestore());
    const { left } = await sweepTask(task);
    expect({ ended: await endOf(stubborn), left }).toEqual({ ended: "SIGKILL", left: 0 });
  });

  test("the sweep of one task kills a process that removes its marks", async () => {
    const escapee = await start(ours, 'trap "exec env -i sleep 60" TERM; echo ready; while :; do sleep 0.05; done');
    const { left } = await sweepTask({ ...task, graceMs: 100 });
    expect({ ended: await endOf(escapee), left }).toEqual({ ended: "SIGKILL", left: 0 });
  });

  test("the sweep of one task continues until no new process starts", async () => {
    // Each generation starts the next one before it exits after SIGTERM.
    const generation = `trap 'DEPTH=$((DEPTH + 1)); export DEPTH; [ $DEPTH -lt 4 ] && setsid sh -c "$SCRIPT" & exit' TERM; echo ready; while :; do sleep 0.02; done`;
    await start({ ...ours, DEPTH: "0", SCRIPT: generation }, generation);
    const { killed, left } = await sweepTask({ ...task, graceMs: GRACE_MS });
    expect(left).toBe(0);
    expect(killed).toBeGreaterThanOrEqual(2);
    expect(await sweepTask(task)).toEqual({ killed: 0, left: 0 });
  });
});

test.each([
  ["20 passes after the first SIGKILL, if they take longer than 4 s", { passMs: 250, frozenMs: 0, passes: 21 }],
  ["15 s after the first SIGKILL, if each pass takes 1 s", { passMs: 1_000, frozenMs: 0, passes: 16 }],
  ["3 passes after the first SIGKILL, if each takes 10 s", { passMs: 10_000, frozenMs: 0, passes: 4 }],
  ["20 passes after the first SIGKILL, if Bridge was frozen for a minute", { passMs: 10, frozenMs: 60_000, passes: 21 }],
])("the sweep of a process that cannot be killed ends %s", async (_, { passMs, frozenMs, passes }) => {
  const unkillable = await start(ours);
  let now = 0;
  const clock = vi.spyOn(performance, "now").mockImplementation(() => now);
  const kill = vi.spyOn(process, "kill").mockReturnValue(true);
  syncBuiltinESMExports();
  onTestFinished(() => {
    for (const mock of [clock, kill]) mock.mockRestore();
    syncBuiltinESMExports();
  });
  let made = 0;
  const isWanted = ({ pid }: Candidate): boolean => {
    if (pid !== unkillable.pid) return false;
    made += 1;
    now += passMs + (made === 2 ? frozenMs : 0);
    return true;
  };
  expect(await sweep(isWanted, { graceMs: 0 })).toEqual({ killed: 0, left: 1 });
  expect(made).toBe(passes);
});

test("a sweep finds processes while all file descriptors are in use", async () => {
  const survivor = await start(ours);
  const task = { taskId: ours.BRIDGE_TASK_ID, tmp: ours.TMPDIR, home: ours.HOME, label: null };
  const script = `import { sweepTask } from ${JSON.stringify(new URL("../../../../adapters/shared/process/sweep-processes.ts", import.meta.url).href)};
    import { openSync } from "node:fs";
    const task = ${JSON.stringify(task)};
    await sweepTask({ ...task, taskId: "none" });
    try { for (;;) openSync("/", "r"); } catch {}
    process.stdout.write(JSON.stringify(await sweepTask({ ...task, graceMs: ${GRACE_MS} })));`;
  const sweeper = ["--input-type=module", "-e", script];
  const { stdout } = await promisify(execFile)("sh", ["-c", 'ulimit -n 64 && exec "$@"', "sh", process.execPath, ...sweeper]);
  expect({ swept: JSON.parse(stdout), end: await endOf(survivor) }).toEqual({ swept: { killed: 1, left: 0 }, end: "SIGTERM" });
});

describe("the sweep at the start", () => {
  test("the sweep at the start kills the processes of every task of this data directory, and of no other", async () => {
    const dataDir = await temporaryDirectory();
    const mine = { BRIDGE_TASK_ID: "sweep-test", TMPDIR: `${dataDir}/tmp/1`, HOME: `${dataDir}/homes/1` };
    const leftovers = [await start(mine), await start({ ...mine, BRIDGE_TASK_ID: "tenant/x", HOME: "/elsewhere" })];
    const others = [
      await start({ ...mine, TMPDIR: `${dataDir}-2/tmp/1`, HOME: `${dataDir}-2/homes/1` }),
      await start({ TMPDIR: mine.TMPDIR, HOME: mine.HOME }),
    ];
    expect(await sweepLeftovers({ dataDir, graceMs: GRACE_MS })).toEqual({ killed: 2, left: 0 });
    expect(await Promise.all(leftovers.map(endOf))).toEqual(["SIGTERM", "SIGTERM"]);
    expect(others.map(({ exitCode, signalCode }) => exitCode ?? signalCode)).toEqual([null, null]);
  });

  test("the sweep at the start kills only processes with the labels of the previous Bridge, and records its own label family", async () => {
    const dataDir = await temporaryDirectory();
    const file = path.join(dataDir, "process-labels");
    writeFileSync(file, `12345 ${positionOf(dataDir)}\n`);
    const labels = [12345n << 24n, (12345n << 24n) + 7n, 12346n << 24n];
    const [first, second, other] = await Promise.all(labels.map((label) => start({}, labelOf(label))));
    expect(await sweepLeftovers({ dataDir, graceMs: GRACE_MS })).toEqual({ killed: 2, left: 0 });
    expect(await Promise.all([first, second].map((child) => child && endOf(child)))).toEqual(["SIGTERM", "SIGTERM"]);
    expect(other?.exitCode ?? other?.signalCode).toBeNull();

    const [family = "", place] = readFileSync(file, "utf8").trim().split(" ");
    const recorded = BigInt(family);
    expect(place).toBe(positionOf(dataDir));
    const labeled = await labelCommand({ argv: ["sleep"], cwd: "/", env: { PATH: "/usr/bin:/bin" }, sandbox: null });
    expect(familyOf(labeled.label ?? 0n)).toBe(recorded);
    // Several Bridge instances of one process share the family, so the start of one must not kill the tasks of the others.
    const neighbor = await start({}, labelOf(labeled.label ?? 0n));
    expect(await sweepLeftovers({ dataDir })).toEqual({ killed: 0, left: 0 });
    expect(neighbor.exitCode ?? neighbor.signalCode).toBeNull();
  });

  test("the sweep at the start does not kill the shell of a task that starts the next Bridge", async () => {
    const dataDir = await temporaryDirectory();
    const sweepModule = path.resolve(import.meta.dirname, "../../../../adapters/shared/process/sweep-processes.ts");
    const code = `const { sweepLeftovers } = await import(${JSON.stringify(sweepModule)});
      console.log(JSON.stringify(await sweepLeftovers({ dataDir: ${JSON.stringify(dataDir)} })));`;
    const marks = { BRIDGE_TASK_ID: "sweep-test", TMPDIR: `${dataDir}/tmp/1`, HOME: `${dataDir}/homes/1` };
    const child = spawn("sh", ["-c", '"$0" --input-type=module --eval "$1"; echo "then $?"', process.execPath, code], {
      env: { PATH: "/usr/bin:/bin", ...marks },
      detached: true,
      stdio: ["ignore", "pipe", "inherit"],
    });
    children.push(child);
    let output = "";
    child.stdout.on("data", (chunk) => {
      output += chunk;
    });
    await once(child, "close");
    expect(output).toBe('{"killed":0,"left":0}\nthen 0\n');
  });
});

const positionOf = (directory: string) => {
  const { dev, ino } = statSync(directory);
  return `${dev}:${ino}`;
};

const labelOf = (label: bigint) => `ulimit -w ${label} 2>/dev/null || ulimit -x ${label}; echo ready; exec env -i sleep 60`;

/** A process in a separate session, with exactly this environment and a PATH. */
async function start(environment: Record<string, string>, script = "echo ready; exec sleep 60"): Promise<ChildProcess> {
  const child = spawn("sh", ["-c", script], {
    env: { PATH: "/usr/bin:/bin", ...environment },
    detached: true,
    stdio: ["ignore", "pipe", "ignore"],
  });
  children.push(child);
  await once(child.stdout, "data");
  return child;
}

async function endOf(child: ChildProcess): Promise<string | number | null> {
  if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
  return child.signalCode ?? child.exitCode;
}
