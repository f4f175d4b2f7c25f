import { spawn } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { loadavg, tmpdir } from "node:os";
import path from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as delay } from "node:timers/promises";
import { readCpuTimeMs } from "./process-use.ts";

/** Runs one task with much output, and measures its cost for Bridge and other clients. Prints the rows of output.md. */

const MEBIBYTE = 1024 ** 2;
/** The interval at which another client requests `/healthz`. */
const PROBE_EVERY_MS = 10;
const GOAL_P99_MS = 250;
const GOAL_GROWTH = 1.5;

interface Output {
  name: string;
  line: Buffer;
  bytes: number;
  /** Size of the output as JSON encodes it; null for lines that are events. */
  encodedBytes: number | null;
}

const createTextOutput = (name: string, line: Buffer, bytes: number): Output => {
  const encoded = Buffer.byteLength(JSON.stringify(line.toString("utf8"))) - 2;
  return { name, line, bytes, encodedBytes: Math.floor(bytes / line.length) * encoded };
};
const createEventOutput = (name: string, event: object): Output => ({
  name,
  line: Buffer.from(`${JSON.stringify(event)}\n`),
  bytes: 31 * MEBIBYTE,
  encodedBytes: null,
});
const createLongLine = (byte: number): Buffer => Buffer.concat([Buffer.alloc(1023, byte), Buffer.from("\n")]);

const outputs: readonly Output[] = [
  createTextOutput("31 MiB of `x`", createLongLine(0x78), 31 * MEBIBYTE),
  createTextOutput("31 MiB of `\\u0001`", createLongLine(1), 31 * MEBIBYTE),
  createTextOutput("5 MiB of `\\u0001`", createLongLine(1), 5 * MEBIBYTE),
  createTextOutput("31 MiB of `0xFF`", createLongLine(0xff), 31 * MEBIBYTE),
  createTextOutput("10 MiB of `0xFF`", createLongLine(0xff), 10 * MEBIBYTE),
  createTextOutput("31 MiB of `{` lines", Buffer.from("{\n"), 31 * MEBIBYTE),
  createTextOutput("a million lines `{`", Buffer.from("{\n"), 2_000_000),
  createTextOutput("a million lines `x`", Buffer.from("x\n"), 2_000_000),
  createEventOutput("31 MiB of `assistant.text` events", { type: "assistant.text", content: "word ".repeat(10) }),
  createEventOutput("31 MiB of `execution.progress` events", { type: "execution.progress", step: "word ".repeat(10) }),
];

const [only] = process.argv.slice(2);
const failures: string[] = [];
for (const output of outputs) if (only === undefined || output.name.includes(only)) await measure(output);
process.exitCode = failures.length > 0 ? 1 : 0;
if (failures.length > 0) process.stderr.write(`Goals missed: ${failures.join("; ")}\n`);

async function measure({ name, line, bytes, encodedBytes }: Output): Promise<void> {
  const load = loadavg()[0]?.toFixed(1);
  const directory = mkdtempSync(path.join(tmpdir(), "bridge-output-"));
  const receiver = await startReceiver();
  const bridge = await startBridge(directory);
  try {
    await delay(500);
    const sizeBefore = readDatabaseBytes(directory);
    const cpuBefore = readCpuTimeMs(bridge.pid);
    const probe = startProbe(bridge.url);
    const message = JSON.stringify({ line: line.toString("base64"), bytes });
    const answer = await bridge.call("POST", "/api/v2/dispatch", { agentId: "bench", message, callbackUrl: receiver.url });
    const { taskId } = (await answer.json()) as { taskId: string };
    await receiver.received;
    const task = await bridge.call("GET", `/api/v2/tasks/${taskId}`);
    const { state, result } = JSON.parse(await task.text()) as { state: string; result: { errorCode?: string } };
    const latencies = await probe.stop();
    const growth = readDatabaseBytes(directory) - sizeBefore;
    const p99 = latencies[Math.floor(latencies.length * 0.99)] ?? 0;
    const ratio = encodedBytes === null ? null : growth / encodedBytes;
    if (p99 > GOAL_P99_MS) failures.push(`${name}: p99 ${p99.toFixed(0)} ms`);
    if (ratio !== null && ratio > GOAL_GROWTH) failures.push(`${name}: growth ${ratio.toFixed(2)}`);
    const cells = [
      name,
      result.errorCode ?? state,
      `${((readCpuTimeMs(bridge.pid) - cpuBefore) / 1000).toFixed(1)} s`,
      `${p99.toFixed(0)} ms`,
      `${(latencies.at(-1) ?? 0).toFixed(0)} ms`,
      encodedBytes === null ? "-" : `${(encodedBytes / 1e6).toFixed(0)} MB`,
      `${(growth / 1e6).toFixed(0)} MB`,
      ratio === null ? (growth / bytes).toFixed(2) : ratio.toFixed(2),
      `${(readPeakBytes(bridge.pid) / 1e6).toFixed(0)} MB`,
      load,
    ];
    process.stdout.write(`| ${cells.join(" | ")} |\n`);
  } finally {
    await bridge.stop();
    receiver.close();
    rmSync(directory, { recursive: true, force: true });
  }
}

async function startBridge(directory: string) {
  const token = randomBytes(24).toString("hex");
  const child = spawn(process.execPath, [path.join(import.meta.dirname, "../src/main.ts")], {
    cwd: directory,
    env: {
      PATH: process.env["PATH"],
      BRIDGE_PORT: "0",
      BRIDGE_DATA_DIR: directory,
      BRIDGE_GATEWAY_TOKEN_HASH: createHash("sha256").update(token).digest("hex"),
      BRIDGE_CALLBACK_ALLOW: "127.0.0.1",
      BRIDGE_CALLBACK_SECRETS: `whsec_${randomBytes(32).toString("base64")}`,
      BRIDGE_COMMAND: JSON.stringify([process.execPath, path.join(import.meta.dirname, "output-agent.ts")]),
    },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const exited = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  const url = await new Promise<string>((resolve, reject) => {
    createInterface(child.stdout).on("line", (line) => {
      const { address } = JSON.parse(line) as { address?: string };
      if (address !== undefined) resolve(address);
    });
    void exited.then(() => reject(new Error("Bridge exited before it listened.")));
  });
  return {
    url,
    pid: child.pid as number,
    call: (method: string, target: string, body?: object) =>
      fetch(url + target, {
        method,
        headers: { authorization: `Bearer ${token}`, ...(body !== undefined && { "content-type": "application/json" }) },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      }),
    async stop() {
      child.kill("SIGTERM");
      await exited;
    },
  };
}

/** Accepts one callback without checking it. */
async function startReceiver() {
  const received = Promise.withResolvers<void>();
  const server = createServer((request, response) => {
    request.resume().once("end", () => {
      response.writeHead(204).end();
      received.resolve();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}/`, received: received.promise, close: () => server.close() };
}

/** Requests `/healthz` at a constant rate, without waiting for the last response; returns the sorted times of all responses. */
function startProbe(url: string) {
  const probes: Promise<number>[] = [];
  const timer = setInterval(() => {
    const startedAt = performance.now();
    probes.push(
      fetch(`${url}/healthz`)
        .then((answer) => answer.text())
        // A probe without a response counts with its waiting time.
        .catch(() => {})
        .then(() => performance.now() - startedAt),
    );
  }, PROBE_EVERY_MS);
  return {
    async stop(): Promise<number[]> {
      clearInterval(timer);
      return (await Promise.all(probes)).sort((a, b) => a - b);
    },
  };
}

function readDatabaseBytes(directory: string): number {
  return ["bridge.db", "bridge.db-wal"].reduce((sum, name) => {
    const stat = statSync(path.join(directory, name), { throwIfNoEntry: false });
    return sum + (stat?.size ?? 0);
  }, 0);
}

/** Reads the peak memory of a process. Linux only. */
function readPeakBytes(pid: number): number {
  return Number(/^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) * 1024;
}
