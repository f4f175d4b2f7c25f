import { fork } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { arch, cpus, loadavg, platform, tmpdir } from "node:os";
import path from "node:path";
import { createInterface } from "node:readline";
import { type HostileBody, makeHostileBodies, readBody } from "../test/http/hostile-bodies.ts";
import { measureCpuMs } from "../test/support/cpu-time.ts";
import type { LoopReport } from "./loop-preload.ts";

/** Goals: the longest block of the event loop, CPU time as a multiple of `JSON.parse`, and memory as a multiple of the body. */
const GOALS = { longestMs: 150, cpuRatio: 6, memoryRatio: 10 };
/** The best of this many runs is reported, because other load only adds time. */
const TRIES = 3;

const directory = mkdtempSync(path.join(tmpdir(), "bridge-bodies-"));
const token = randomBytes(24).toString("hex");
const server = fork(path.join(import.meta.dirname, "bridge.ts"), {
  execArgv: ["--expose-gc", "--import", path.join(import.meta.dirname, "loop-preload.ts")],
  env: {
    PATH: process.env["PATH"] ?? "",
    BRIDGE_PORT: "0",
    BRIDGE_DATA_DIR: directory,
    BRIDGE_GATEWAY_TOKEN_HASH: createHash("sha256").update(token).digest("hex"),
    BRIDGE_LOG_LEVEL: "fatal",
  },
  stdio: ["ignore", "pipe", "inherit", "ipc"],
});
try {
  if (server.stdout === null) throw new Error("stdout is not a pipe");
  const [line] = (await once(createInterface(server.stdout), "line")) as [string];
  const { address } = JSON.parse(line) as { address: string };
  const rows: string[] = [];
  for (const body of makeHostileBodies()) {
    const tries: Measured[] = [];
    for (let count = 0; count < TRIES; count += 1) tries.push(await measure(address, body));
    rows.push(toRow(body, tries));
    console.log(rows.at(-1));
  }
  writeFileSync(path.join(import.meta.dirname, "bodies.md"), toPage(rows));
} finally {
  if (server.exitCode === null) {
    server.kill("SIGTERM");
    await once(server, "exit");
  }
  rmSync(directory, { recursive: true, force: true });
}

interface Measured {
  longestMs: number;
  cpuMs: number;
  memoryBytes: number;
}

/** Sends a dispatch and waits for the end of its task, or for its rejection. */
async function measure(address: string, { name, bytes, status }: HostileBody): Promise<Measured> {
  await measureLoop();
  // Resets the peak to the current memory use.
  writeFileSync(`/proc/${server.pid}/clear_refs`, "5");
  const before = readPeakBytes();
  const answer = await fetch(`${address}/api/v2/dispatch`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: bytes,
  });
  await answer.arrayBuffer();
  if (answer.status !== status) throw new Error(`${name} was answered ${answer.status}, not ${status}.`);
  const { longestMs, cpuMs } = await measureLoop();
  return { longestMs, cpuMs, memoryBytes: readPeakBytes() - before };
}

/** Returns the measurement since the previous one, and starts another. */
async function measureLoop(): Promise<LoopReport> {
  const reported = once(server, "message");
  server.send({});
  const [report] = (await reported) as [LoopReport];
  return report;
}

function readPeakBytes(): number {
  return Number(/^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${server.pid}/status`, "utf8"))?.[1]) * 1024;
}

function toRow({ name, bytes, status }: HostileBody, tries: readonly Measured[]): string {
  const findMinimum = (select: (measured: Measured) => number): number => Math.min(...tries.map(select));
  const parseMs = measureCpuMs(() => JSON.parse(bytes.toString()));
  const cells = [
    name,
    (bytes.length / 1e6).toFixed(1),
    status,
    findMinimum(({ longestMs }) => longestMs).toFixed(0),
    parseMs.toFixed(0),
    (measureCpuMs(() => readBody(bytes)) / parseMs).toFixed(1),
    (findMinimum(({ cpuMs }) => cpuMs) / parseMs).toFixed(1),
    (findMinimum(({ memoryBytes }) => memoryBytes) / bytes.length).toFixed(1),
  ];
  return `| ${cells.join(" | ")} |`;
}

function toPage(rows: readonly string[]): string {
  return `# Hostile bodies

\`npm run bench -- bodies\` sends each body to a Bridge in a separate process and measures its event loop. The goals:

- the event loop is blocked for at most ${GOALS.longestMs} ms at a time. This is wall time and includes writes to the disk, so it is much longer on a busy machine.
- reading and checking a body takes at most ${GOALS.cpuRatio} times the CPU time of \`JSON.parse\` (column "read"; \`test/http/hostile-bodies.test.ts\` asserts at most 15 executed blocks of code for each byte). Column "all" is the CPU
  time of the whole request: receiving and storing it, and running its task.
- the memory use grows by at most ${GOALS.memoryRatio} times the size of the body. Two bodies of 0.15 MB need 1.6 MB: V8 represents each empty object or array of the
  body, three bytes of JSON, by an object of at least 16 bytes.

Minimum of ${TRIES} runs. Load average of the machine: ${loadavg()[0]?.toFixed(1)} on ${cpus().length} cores. Node ${process.version}, ${platform()} ${arch()}.

| body | MB | answer | longest ms | JSON.parse ms | read | all | memory |
|---|--:|--:|--:|--:|--:|--:|--:|
${rows.join("\n")}
`;
}
