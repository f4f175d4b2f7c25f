import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { loadavg, tmpdir } from "node:os";
import path from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as delay } from "node:timers/promises";
import { parseArgs } from "node:util";
import { Agent, fetch } from "undici";

const usage = `Usage: node bench/mixed-load.ts [--minutes n] [--per-second n]

Runs Bridge under mixed load: dispatches, agent programs, approvals, cancellations, readers that come, go and do not read, and callbacks to
receivers that answer, fail, hang and do not exist. Fails if the memory grows, if a gauge does not return to 0 after the load, or if a file
descriptor stays open. Memory is judged in runs of at least 10 minutes. Linux only.
`;
/** The maximum growth of the memory from the second quarter of the run to the last one. */
const GOAL = 1.1;
const MIN_JUDGED_MINUTES = 10;
/** Everything that the load has started ends in this time: timeouts, retries and idle connections. */
const SETTLE_LIMIT_MS = 180_000;
const WARM_UP_MS = 10_000;
/** Descriptors that may be open at the end in addition to those at the beginning, such as the connection of the sampler. */
const SPARE_FILES = 4;
const gauges = [
  "bridge_executions_in_flight",
  "bridge_tasks_queued",
  "bridge_approvals_waiting",
  "bridge_approval_oldest_seconds",
  "bridge_callback_oldest_pending_seconds",
  "bridge_sse_clients",
  "bridge_websocket_clients",
];

const { values } = parseArgs({
  options: {
    minutes: { type: "string", default: "60" },
    "per-second": { type: "string", default: "10" },
    help: { type: "boolean", short: "h" },
  },
});
if (values.help === true) process.stdout.write(usage);
else process.exitCode = await run(Number(values.minutes), Number(values["per-second"]));

/** Prints one row for mixed-load.md; returns the exit code. */
async function run(minutes: number, perSecond: number): Promise<number> {
  const load = loadavg()[0]?.toFixed(2);
  const bridge = await startBridge();
  const receivers = await startReceivers();
  // The first tasks start threads that remain.
  const warmUpEnd = performance.now() + WARM_UP_MS;
  await applyLoad(bridge, { ...receivers, perSecond, prefix: "warm", isRunning: () => performance.now() < warmUpEnd });
  const before = await settle(bridge, Number.POSITIVE_INFINITY);
  const samples: { rss: number; files: number }[] = [];
  const endAt = performance.now() + minutes * 60_000;
  const isRunning = (): boolean => performance.now() < endAt;
  const sampling = (async () => {
    while (isRunning()) {
      const sample = await bridge.sample();
      samples.push(sample);
      process.stderr.write(`${describe(sample)}\n`);
      await delay(Math.max(1000, (minutes * 60_000) / 240));
    }
  })();
  const counts = await applyLoad(bridge, { ...receivers, perSecond, prefix: "mixed", isRunning });
  await sampling;

  const after = await settle(bridge, before.files + SPARE_FILES);
  const exitCode = await bridge.close();
  receivers.close();

  const quarter = (from: number): number =>
    Math.min(...samples.slice(Math.floor(samples.length * from), Math.ceil(samples.length * (from + 0.25))).map(({ rss }) => rss));
  const growth = quarter(0.75) / quarter(0.25);
  const faults = [
    ...(minutes >= MIN_JUDGED_MINUTES && growth > GOAL ? [`the memory grew by a factor of ${growth.toFixed(3)}`] : []),
    ...after.open.map((line) => `after the load: ${line}`),
    ...(after.files > before.files + SPARE_FILES ? [`open files: ${before.files} before, ${after.files} after`] : []),
    ...(exitCode === 0 ? [] : [`Bridge ended with ${exitCode}`]),
  ];
  const cells = [
    `${minutes} min, ${perSecond}/s`,
    ...[counts.dispatched, counts.rejected, counts.approvals, counts.readers].map(String),
    ...[quarter(0.25), quarter(0.75)].map((rss) => `${rss.toFixed(0)} MB`),
    growth.toFixed(3),
    `${before.files} / ${Math.max(...samples.map(({ files }) => files))} / ${after.files}`,
    after.open.length === 0 ? "yes" : "no",
    load,
  ];
  console.log(`| ${cells.join(" | ")} |`);
  for (const fault of faults) console.error(fault);
  return faults.length === 0 ? 0 : 1;
}

/** Waits until every gauge is 0 and at most so many files are open, within a limit. Returns the last sample. */
async function settle(bridge: Bridge, maxFiles: number): ReturnType<Bridge["sample"]> {
  await bridge.disconnect();
  const settledBy = performance.now() + SETTLE_LIMIT_MS;
  let last = await bridge.sample();
  while ((last.open.length > 0 || last.files > maxFiles) && performance.now() < settledBy) {
    await delay(1000);
    last = await bridge.sample();
  }
  return last;
}

function describe({ rss, files, open }: Awaited<ReturnType<Bridge["sample"]>>): string {
  return `${rss.toFixed(1)} MB resident, ${files} open files; ${open.join(", ")}`;
}

type Bridge = Awaited<ReturnType<typeof startBridge>>;

/** Starts Bridge as an operator does, with an in-memory adapter and one that runs programs. */
async function startBridge() {
  const dataDir = mkdtempSync(path.join(tmpdir(), "bridge-mixed-"));
  const child = spawn(process.execPath, [path.join(import.meta.dirname, "../src/start.js")], {
    cwd: dataDir,
    env: {
      PATH: "/usr/bin:/bin",
      BRIDGE_PORT: "0",
      BRIDGE_DATA_DIR: dataDir,
      BRIDGE_ADAPTERS: `command,${path.join(import.meta.dirname, "mixed-load-adapter.ts")}`,
      BRIDGE_COMMAND: JSON.stringify(["/bin/sh", "-c", "cat >/dev/null; echo done"]),
      BRIDGE_MAX_CONCURRENT: "4,mixed=64",
      BRIDGE_SANDBOX: "off",
      BRIDGE_CALLBACK_ALLOW: "127.0.0.1",
      BRIDGE_CALLBACK_RETRIES: "1",
      BRIDGE_CALLBACK_BACKOFF_MS: "500",
    },
    stdio: ["ignore", "pipe", "inherit"],
  });
  process.once("exit", () => child.kill("SIGKILL"));
  const exited = once(child, "exit").then(([code]) => code as number | null);
  const lines = createInterface(child.stdout);
  // The first line reports the address. The others are read and dropped.
  const [line] = (await Promise.race([once(lines, "line"), exited.then(() => ["{}"])])) as [string];
  const { address } = JSON.parse(line) as { address?: string };
  if (address === undefined) throw new Error("Bridge did not start.");
  let dispatcher = new Agent({ connections: 64 });
  const headers = { authorization: `Bearer ${readFileSync(path.join(dataDir, "token"), "utf8").trim()}` };
  const call = (method: string, target: string, body?: object) =>
    fetch(address + target, {
      method,
      dispatcher,
      headers: { ...headers, ...(body !== undefined && { "content-type": "application/json" }) },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
  return {
    address,
    headers,
    call,
    /** Reads the memory in MB, the open files, and the gauges that are not 0. */
    async sample() {
      const text = await (await call("GET", "/metrics")).text();
      const lines = text.split("\n");
      const readValue = (name: string): number => Number(lines.find((one) => one.startsWith(`${name} `))?.split(" ")[1]);
      const open = lines.filter((one) => gauges.some((name) => one.startsWith(name)) && Number(one.split(" ")[1]) !== 0);
      return { rss: readValue("process_resident_memory_bytes") / 1e6, files: readValue("process_open_fds"), open };
    },
    /** Closes the idle connections of the load. */
    async disconnect(): Promise<void> {
      await dispatcher.close();
      dispatcher = new Agent({ connections: 1 });
    },
    async close(): Promise<number | null> {
      await dispatcher.destroy();
      child.kill("SIGTERM");
      const code = await exited;
      rmSync(dataDir, { recursive: true, force: true });
      return code;
    },
  };
}

/** Starts receivers of callbacks: one answers, one fails, one never answers, and one does not exist. */
async function startReceivers() {
  const start = async (server: Server): Promise<{ server: Server; origin: string }> => {
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    return { server, origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
  };
  const answering = (status: number): Server =>
    createServer((request, response) => void request.resume().on("end", () => response.writeHead(status).end()));
  const [good, failing, hanging, closed] = await Promise.all([
    start(answering(204)),
    start(answering(503)),
    start(createServer((request) => void request.resume())),
    start(createServer()),
  ]);
  closed.server.close();
  return {
    origins: [good.origin, good.origin, good.origin, good.origin, failing.origin, hanging.origin, closed.origin],
    close(): void {
      for (const { server } of [good, failing, hanging]) {
        server.close();
        server.closeAllConnections();
      }
    },
  };
}

interface LoadOptions {
  origins: readonly string[];
  perSecond: number;
  /** The beginning of the ids of the tasks. */
  prefix: string;
  isRunning(): boolean;
}

/** Applies the load until the time is over, then ends what waits. Returns how much there was. */
async function applyLoad(bridge: Bridge, { origins, perSecond, prefix, isRunning }: LoadOptions) {
  const counts = { dispatched: 0, rejected: 0, approvals: 0, readers: 0 };
  let number = 0;

  async function dispatch(): Promise<void> {
    number += 1;
    const kind = number % 10;
    const taskId = `${prefix}-${number}`;
    const message = kind === 1 ? "ask" : kind === 2 ? "wait" : "answer";
    const body = {
      taskId,
      provider: kind === 0 ? "command" : "mixed",
      agentId: `agent-${number % 50}`,
      message,
      ...(kind !== 0 && { approvals: "ask" }),
    };
    // A receiver that hangs gets few callbacks, because each of them occupies it for 15 s.
    const origin = number % 1000 === 0 ? origins[5] : origins[number % origins.length === 5 ? 0 : number % origins.length];
    const { status, body: answer } = await bridge.call("POST", "/api/v2/dispatch", { ...body, callbackUrl: `${origin}/${taskId}` });
    await answer?.cancel();
    if (status === 202) counts.dispatched += 1;
    else counts.rejected += 1;
    if (message !== "wait") return;
    await delay(500);
    await (await bridge.call("POST", `/api/v2/tasks/${taskId}/cancel`)).body?.cancel();
  }

  async function decideAll(): Promise<void> {
    const { data } = (await (await bridge.call("GET", "/api/v2/approvals?state=pending&limit=100")).json()) as {
      data: { approvalId: string }[];
    };
    for (const { approvalId } of data) {
      counts.approvals += 1;
      const decision = counts.approvals % 2 === 0 ? "approve" : "reject";
      await (await bridge.call("POST", `/api/v2/approvals/${approvalId}`, { decision })).body?.cancel();
    }
  }

  /** Each reader has its own connection. Every third one stops reading. */
  async function follow(): Promise<void> {
    counts.readers += 1;
    const isSlow = counts.readers % 3 === 0;
    const dispatcher = new Agent();
    try {
      const response = await fetch(`${bridge.address}/api/events`, {
        dispatcher,
        headers: { ...bridge.headers, accept: "text/event-stream" },
      });
      const reader = response.body?.getReader();
      const leaveAt = performance.now() + 1000 + (counts.readers % 7) * 1000;
      if (isSlow) await delay(leaveAt - performance.now());
      else while (performance.now() < leaveAt && (await reader?.read())?.done === false);
    } finally {
      await dispatcher.destroy();
    }
  }

  const repeat = async (act: () => Promise<void>): Promise<void> => {
    while (isRunning()) await act().catch((error: unknown) => process.stderr.write(`${error}\n`));
  };
  const pending = new Set<Promise<void>>();
  const dispatching = (async () => {
    while (isRunning()) {
      const one = dispatch().catch((error: unknown) => void process.stderr.write(`${error}\n`));
      pending.add(one);
      void one.finally(() => pending.delete(one));
      await delay(1000 / perSecond);
    }
    await Promise.all(pending);
  })();
  const deciding = repeat(async () => {
    await decideAll();
    await delay(500);
  });
  await Promise.all([dispatching, deciding, ...Array.from({ length: 6 }, () => repeat(follow))]);
  // Tasks that were accepted last may still ask.
  for (let round = 0; round < 5; round += 1) {
    await decideAll();
    await delay(500);
  }
  return counts;
}
