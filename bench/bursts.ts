import { fork } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { arch, cpus, loadavg, platform, tmpdir } from "node:os";
import path from "node:path";
import { createInterface } from "node:readline";
import { parseArgs } from "node:util";
import type { LoopReport } from "./loop-preload.ts";

/**
 * Measures how long a burst of requests of one tenant, or of clients without a token, blocks the event loop and the dispatch of another
 * tenant.
 */
const { values: options } = parseArgs({
  options: {
    requests: { type: "string", default: "2000" },
    "no-file": { type: "boolean", default: false },
  },
});
const GOALS = { longestMs: 100, dispatchMs: 500 };
const REQUESTS = Number(options.requests);
const TASKS = 200;
const LONG_EVENTS = 30;
/** Name, path and tenant of each burst; no tenant means no token. */
const bursts: readonly (readonly [name: string, target: string, tenant: string | null])[] = [
  ["a page of 200 tasks", "/api/v2/tasks?limit=200", "many"],
  ["a page of tasks with long metadata", "/api/v2/tasks?limit=200", "long"],
  ["a page of long events", "/api/v2/tasks/events/events?limit=200", "long"],
  ["`/openapi.json` without a token", "/openapi.json", null],
  ["`/openapi.yaml` without a token", "/openapi.yaml", null],
  ["`/docs/` without a token", "/docs/", null],
  ["`/ui/` without a token", "/ui/", null],
  ["`/healthz` without a token", "/healthz", null],
  ["a page of tasks with an unknown token", "/api/v2/tasks", "unknown"],
];

const directory = mkdtempSync(path.join(tmpdir(), "bridge-bursts-"));
const tokensFile = path.join(directory, "tokens.json");
const entryOf = (tenant: string) => ({
  name: tenant,
  tenant,
  sha256: createHash("sha256").update(`token-of-${tenant}`).digest("hex"),
  scopes: ["dispatch", "read", "approve"],
});
writeFileSync(tokensFile, JSON.stringify(["many", "long", "other"].map(entryOf)));
const server = fork(path.join(import.meta.dirname, "bridge.ts"), {
  execArgv: ["--expose-gc", "--import", path.join(import.meta.dirname, "loop-preload.ts")],
  env: {
    PATH: process.env["PATH"] ?? "",
    BRIDGE_PORT: "0",
    BRIDGE_DATA_DIR: directory,
    BRIDGE_TOKENS_FILE: tokensFile,
    BRIDGE_LOG_LEVEL: "fatal",
  },
  stdio: ["ignore", "pipe", "inherit", "ipc"],
});
try {
  if (server.stdout === null) throw new Error("stdout is not a pipe");
  const [line] = (await once(createInterface(server.stdout), "line")) as [string];
  const { address } = JSON.parse(line) as { address: string };
  await createTasks(address);
  const rows: string[] = [];
  for (const [name, target, tenant] of bursts) {
    rows.push(await measure(address, { name, target, tenant }));
    console.log(rows.at(-1));
  }
  if (!options["no-file"]) writeFileSync(path.join(import.meta.dirname, "bursts.md"), toPage(rows));
} finally {
  if (server.exitCode === null) {
    server.kill("SIGTERM");
    await once(server, "exit");
  }
  rmSync(directory, { recursive: true, force: true });
}

async function createTasks(address: string): Promise<void> {
  for (let count = 0; count < TASKS; count += 1) {
    await dispatch(address, "many", { taskId: `many-${count}`, metadata: { title: `Task ${count}` } });
    await dispatch(address, "long", { taskId: `long-${count}`, metadata: { text: "x".repeat(15_000) } });
  }
  await dispatch(address, "long", {
    taskId: "events",
    metadata: { pace: { burst: 1, everyMs: 1, turns: LONG_EVENTS, text: "\u20ac".repeat(80_000) } },
  });
}

async function dispatch(address: string, tenant: string, fields: object): Promise<void> {
  const answer = await fetch(`${address}/api/v2/dispatch`, {
    method: "POST",
    headers: { authorization: `Bearer token-of-${tenant}`, "content-type": "application/json" },
    body: JSON.stringify({ agentId: "bench", provider: "noop", message: "Hello.", ...fields }),
  });
  if (answer.status !== 202) throw new Error(`The dispatch was answered ${answer.status}: ${await answer.text()}`);
  await answer.arrayBuffer();
}

async function measure(
  address: string,
  { name, target, tenant }: { name: string; target: string; tenant: string | null },
): Promise<string> {
  const { hostname, port, host } = new URL(address);
  const sockets = await Promise.all(Array.from({ length: REQUESTS }, () => open(hostname, Number(port))));
  const authorization = tenant === null ? "" : `Authorization: Bearer token-of-${tenant}\r\n`;
  const text = `GET ${target} HTTP/1.1\r\nHost: ${host}\r\n${authorization}\r\n`;
  const statuses = new Map<string, number>();
  const answered = sockets.map((socket) => readStatus(socket).then((status) => statuses.set(status, (statuses.get(status) ?? 0) + 1)));
  await report();
  const startedAt = performance.now();
  for (const socket of sockets) socket.write(text);
  const dispatchMs = await dispatch(address, "other", {}).then(() => performance.now() - startedAt);
  await Promise.all(answered);
  const allMs = performance.now() - startedAt;
  const { longestMs, cpuMs } = await report();
  for (const socket of sockets) socket.destroy();
  const counts = [...statuses].map(([status, count]) => `${count} x ${status}`).join(", ");
  return `| ${name} | ${counts} | ${[longestMs, dispatchMs, allMs, cpuMs].map((ms) => ms.toFixed(0)).join(" | ")} |`;
}

async function open(host: string, port: number): Promise<Socket> {
  const socket = connect(port, host);
  await once(socket, "connect");
  return socket;
}

/** Reads the response to its end, and returns its status. */
async function readStatus(socket: Socket): Promise<string> {
  return new Promise((resolve) => {
    let head = "";
    let left: number | null = null;
    socket.on("error", () => resolve("reset"));
    socket.on("close", () => resolve("closed"));
    socket.on("data", (chunk: Buffer) => {
      if (left === null) {
        head += chunk.toString("latin1");
        const end = head.indexOf("\r\n\r\n");
        if (end < 0) return;
        left = Number(/^content-length: (\d+)/im.exec(head)?.[1] ?? 0) - (head.length - end - 4);
      } else left -= chunk.length;
      if (left <= 0) resolve(head.slice(9, 12));
    });
  });
}

/** Returns the measurement of the event loop since the previous one, and starts another. */
async function report(): Promise<LoopReport> {
  const reported = once(server, "message");
  server.send({});
  const [measured] = (await reported) as [LoopReport];
  return measured;
}

function toPage(rows: readonly string[]): string {
  return `# Bursts of requests

\`npm run bench -- bursts\` sends ${REQUESTS} requests at the same moment, one on each open connection, to a Bridge in a separate process, and
then dispatches a task of another tenant. The goals: the event loop is blocked for at most ${GOALS.longestMs} ms at a time, and the dispatch is accepted within
${GOALS.dispatchMs} ms. Both are wall times and include the work of the clients, which run on the same machine.

Load average of the machine: ${loadavg()[0]?.toFixed(1)} on ${cpus().length} cores. Node ${process.version}, ${platform()} ${arch()}.

| burst | answers | longest turn ms | dispatch ms | all answered ms | CPU ms |
|---|--:|--:|--:|--:|--:|
${rows.join("\n")}
`;
}
