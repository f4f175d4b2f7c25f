import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { loadavg, tmpdir } from "node:os";
import path from "node:path";
import { parseArgs } from "node:util";
import { execa } from "execa";
import { PROMPT_OPENING } from "../adapters/shared/agent-program/prompt.ts";
import { findProgram } from "../adapters/shared/process/find-program.ts";
import { createModelServer } from "../test/runtimes/model-server/server.ts";
import { runtimesPath } from "../test/runtimes/programs.ts";
import { type Runtime, runtimes } from "../test/runtimes/table/runtimes.ts";
import { startBridgeProgram } from "../test/support/bridge-program.ts";
import { until } from "../test/support/until.ts";
import { median } from "./statistics.ts";

const usage = `Usage: node bench/agent-programs.ts [--rounds n] [--no-file]

Measures how much longer a task takes through Bridge than the same command alone. Requires the programs of the runtime suite:
node test/runtimes/install.ts
`;
const GOAL = 1.1;

const { values } = parseArgs({
  options: {
    rounds: { type: "string", default: "15" },
    "no-file": { type: "boolean", default: false },
    help: { type: "boolean", short: "h" },
  },
});
if (values.help === true) process.stdout.write(usage);
else process.exitCode = await main(Number(values.rounds));

interface Row {
  runtime: Runtime;
  directMs: number;
  bridgeMs: number;
}

async function main(rounds: number): Promise<number> {
  const load = loadavg()[0]?.toFixed(2);
  const rows: Row[] = [];
  const programs = (Object.keys(runtimes) as Runtime[]).filter((runtime) => runtimes[runtime].connections.includes("cli"));
  for (const runtime of programs) rows.push(await compare(runtime, rounds));
  const text = `# A task through Bridge and the same command alone

Medians of ${rounds} rounds, in which both run in turn, over the \`cli\` connection. A scripted model answers immediately. Load before: ${load}. Goal: a ratio under ${GOAL}.

| runtime | command alone | through Bridge | added | ratio |
|---|--:|--:|--:|--:|
${rows.map(({ runtime, directMs, bridgeMs }) => `| ${runtime} | ${directMs.toFixed(0)} ms | ${bridgeMs.toFixed(0)} ms | ${(bridgeMs - directMs).toFixed(0)} ms | ${(bridgeMs / directMs).toFixed(3)} |`).join("\n")}
`;
  console.log(`\n${text}`);
  if (!values["no-file"]) writeFileSync(path.join(import.meta.dirname, "agent-programs.md"), text);
  return rows.every(({ directMs, bridgeMs }) => bridgeMs / directMs < GOAL) ? 0 : 1;
}

async function compare(runtime: Runtime, rounds: number): Promise<Row> {
  const root = mkdtempSync(path.join(tmpdir(), "bridge-bench-"));
  const model = await createModelServer({ messagePrefix: PROMPT_OPENING });
  const dataDir = path.join(root, "data");
  mkdirSync(dataDir);
  const name = runtime.toUpperCase();
  const recorder = writeRecorder(root, runtime);
  let kill = () => {};
  const bridge = await startBridgeProgram(
    dataDir,
    {
      PATH: `${runtimesPath()}${path.delimiter}${process.env["PATH"]}`,
      BRIDGE_ADAPTERS: runtime,
      [`BRIDGE_${name}_CONNECTION`]: "cli",
      [`BRIDGE_${name}_COMMAND`]: recorder,
      ...runtimes[runtime].environment(model.url),
    },
    (act) => {
      kill = act;
    },
  );
  try {
    const message = `Say it. ${model.scenario([{ text: "Said." }])}`;
    const runThroughBridge = async (): Promise<void> => {
      const body = { agentId: "bench", message, profile: "inspect", model: runtimes[runtime].model };
      const response = await bridge.call("POST", "/api/v2/dispatch", body, { prefer: "wait=60" });
      const task = (await response.json()) as { state: string; result: unknown };
      if (task.state !== "completed") throw new Error(`${runtime} through Bridge: ${JSON.stringify(task)}`);
    };
    // The first task records the command, and creates the home directory that both measurements use.
    await runThroughBridge();
    const command = readCommand(root, recorder);
    const runAlone = async (): Promise<void> => {
      const requestsBefore = model.requests.length;
      const { exitCode, stdout, stderr } = await execa(command.program, command.arguments, {
        cwd: command.cwd,
        env: command.env,
        extendEnv: false,
        input: `${PROMPT_OPENING}${message}`,
        reject: false,
      });
      if (exitCode !== 0 || model.requests.length === requestsBefore)
        throw new Error(`${runtime} alone exits ${exitCode}: ${stderr.slice(-500)} ${stdout.slice(-500)}`);
    };
    // Bridge's files in the task's TMPDIR are part of Bridge's work, not of the command's time.
    const restoreTmp = () => execa("cp", ["-a", command.tmpCopy, command.tmp]);
    // The end of a task is reported before its TMPDIR is removed.
    if (!(await until(() => !existsSync(command.tmp), 5_000))) throw new Error("Bridge does not remove the TMPDIR of its task.");
    const times = { direct: [] as number[], bridge: [] as number[] };
    for (let round = 0; round < rounds; round += 1) {
      await restoreTmp();
      times.direct.push(await measureMs(runAlone));
      rmSync(command.tmp, { recursive: true });
      times.bridge.push(await measureMs(runThroughBridge));
    }
    const row = { runtime, directMs: median(times.direct), bridgeMs: median(times.bridge) };
    console.log(`${runtime.padEnd(9)} alone ${row.directMs.toFixed(0)} ms, through Bridge ${row.bridgeMs.toFixed(0)} ms`);
    return row;
  } finally {
    bridge.signal("SIGTERM");
    await bridge.exited;
    kill();
    await model.close();
    rmSync(root, { recursive: true, force: true });
  }
}

/**
 * A program that records its first call and then executes the real program. It runs in Bash for both measurements, so that its cost is
 * equal.
 */
function writeRecorder(root: string, runtime: Runtime): string {
  const real = findProgram(runtime, runtimesPath());
  if (real === null) throw new Error(`${runtime} is not installed. Run: node test/runtimes/install.ts`);
  const file = path.join(root, runtime);
  writeFileSync(
    file,
    `#!/bin/bash
if [ ! -e '${root}/recorded' ] && [ "\${BRIDGE_TASK_ID#probe/}" = "$BRIDGE_TASK_ID" ]; then
  printf '%s\\0' "$@" >'${root}/arguments'
  env -0 >'${root}/env'
  pwd >'${root}/cwd'
  cp -a "$TMPDIR" '${root}/tmp-copy'
  : >'${root}/recorded'
fi
exec '${real}' "$@"
`,
  );
  chmodSync(file, 0o755);
  return file;
}

/** Reads the recorded command, as Bridge ran it. */
function readCommand(root: string, program: string) {
  const entries = readFileSync(path.join(root, "env"), "utf8").split("\0").filter(Boolean);
  const env = Object.fromEntries(entries.map((entry) => [entry.slice(0, entry.indexOf("=")), entry.slice(entry.indexOf("=") + 1)]));
  const recorded = readFileSync(path.join(root, "arguments"), "utf8").split("\0");
  return {
    program,
    arguments: recorded.slice(0, -1),
    env,
    cwd: readFileSync(path.join(root, "cwd"), "utf8").trimEnd(),
    tmp: env["TMPDIR"] as string,
    tmpCopy: path.join(root, "tmp-copy"),
  };
}

async function measureMs(act: () => Promise<void>): Promise<number> {
  const startedAt = performance.now();
  await act();
  return performance.now() - startedAt;
}
