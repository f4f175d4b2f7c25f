import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { loadavg, tmpdir } from "node:os";
import path from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as delay } from "node:timers/promises";
import { parseArgs } from "node:util";
import { getHeapSpaceStatistics, setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { execa } from "execa";
import type { AdapterConfig, AdapterModule } from "#contract";
import { createAdapterConfig } from "../test/conformance/adapter-config.ts";
import { sdkDirectory } from "../test/runtimes/programs.ts";

const usage = `Usage: node bench/soak.ts <subject> [--warm-up n] [--tasks n] [--at-once n]

Runs many tasks through one adapter in this process, with a scripted model in another process. Reports the growth of the memory after the
warm-up, and the handles that are open after the shutdown of the adapter. Subjects: vercel-ai, vercel-ai-anthropic, gloo-ai, claude-api, and
claude-agent-sdk (requires: node test/runtimes/install.ts).
`;
/** The number of tasks between two reports of the memory. */
const STRIDE = 100;
/** The maximum growth of the memory. */
const GOAL = 1.1;

interface Subject {
  load(): Promise<AdapterModule>;
  /** Returns the configuration with which the adapter reaches the scripted model. */
  config(modelUrl: string, tokenUrl: string): Partial<AdapterConfig>;
  /** The steps that the model server runs in each task. */
  steps: unknown[];
}

const longText = Array.from({ length: 500 }, (_, number) => `Line ${number} of the answer. `).join("");
const toolAndText = [{ say: "I look.", tools: [{ kind: "raw", name: "no_such_tool", input: {} }] }, { text: longText }];
const subjects: Readonly<Record<string, Subject>> = {
  "vercel-ai": {
    load: () => import("../adapters/vercel-ai/index.ts"),
    config: (url) => ({ settings: { baseUrl: `${url}/v1` } }),
    steps: toolAndText,
  },
  "vercel-ai-anthropic": {
    load: () => import("../adapters/vercel-ai/index.ts"),
    config: (url) => ({ settings: { protocol: "anthropic", baseUrl: `${url}/v1` } }),
    steps: toolAndText,
  },
  "claude-api": {
    load: () => import("../adapters/claude/index.ts"),
    config: (url) => ({ settings: { connection: "api" }, env: { ANTHROPIC_BASE_URL: url, ANTHROPIC_API_KEY: "sk-of-the-bench" } }),
    steps: [{ text: longText }],
  },
  "gloo-ai": {
    load: () => import("../adapters/gloo-ai/index.ts"),
    config: (url, tokenUrl) => ({
      settings: { baseUrl: `${url}/v1`, tokenUrl },
      env: { GLOO_CLIENT_ID: "bench", GLOO_CLIENT_SECRET: "secret-of-the-bench" },
    }),
    steps: toolAndText,
  },
  "claude-agent-sdk": {
    load: () => import("../adapters/claude-agent-sdk/index.ts"),
    config: (url) => ({
      settings: { package: sdkDirectory() },
      env: { PATH: process.env["PATH"], ANTHROPIC_BASE_URL: url, ANTHROPIC_API_KEY: "sk-of-the-bench" },
    }),
    steps: [{ say: "I look.", tools: [{ kind: "shell", command: "echo seen" }] }, { text: longText }],
  },
};

setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    "warm-up": { type: "string", default: "600" },
    tasks: { type: "string", default: "500" },
    "at-once": { type: "string", default: "4" },
    help: { type: "boolean", short: "h" },
  },
});
const [name = ""] = positionals;
const subject = subjects[name];
if (values.help === true || subject === undefined) process.stdout.write(usage);
else process.exitCode = await soak(subject, Number(values["warm-up"]), Number(values.tasks), Number(values["at-once"]));

/** Prints one row for soak.md; returns the exit code. */
async function soak({ load, config, steps }: Subject, warmUp: number, tasks: number, atOnce: number): Promise<number> {
  const before = loadavg()[0]?.toFixed(2);
  const root = mkdtempSync(path.join(tmpdir(), "bridge-soak-"));
  const [workspace, home, dataDir] = ["workspace", "home", "data"].map((part) => path.join(root, part)) as [string, string, string];
  for (const directory of [workspace, home, dataDir]) mkdirSync(directory);
  const model = await startModel(path.join(root, "steps.json"), steps);
  const tokens = await startTokenServer();
  const openBefore = process.getActiveResourcesInfo().toSorted();

  const adapter = (await load()).createAdapter();
  await adapter.initialize(createAdapterConfig(dataDir, config(model.url, tokens.url)));
  const startedAt = performance.now();
  let started = 0;
  const work = async (goal: number): Promise<void> => {
    while (started < goal) {
      started += 1;
      const taskId = `soak-${started}`;
      const { status, error } = await adapter.execute({
        taskId,
        agentId: "soak",
        message: model.marker,
        model: "scripted",
        timeoutSeconds: 60,
        outputStrategy: { type: "stream" },
        profile: "modify",
        approvals: "allow",
        directories: { workspace, cwd: workspace, home, tmp: path.join(root, "tmp", taskId) },
      });
      if (status !== "ok") throw new Error(`${taskId}: ${error}`);
    }
  };
  const workTo = (goal: number) => Promise.all(Array.from({ length: atOnce }, () => work(goal)));

  await workTo(warmUp);
  const warm = await measure();
  for (const last = warmUp + tasks; started < last; ) {
    await workTo(Math.min(started + STRIDE, last));
    const { rss, heap, young } = await measure();
    const parts = `of which ${young.toFixed(1)} MB V8's young generation; ${heap.toFixed(1)} MB of heap in use`;
    process.stderr.write(`${started} tasks: ${rss.toFixed(1)} MB resident, ${parts}\n`);
  }
  const end = await measure();
  const seconds = (performance.now() - startedAt) / 1000;
  await adapter.shutdown();
  await delay(100);
  const open = process.getActiveResourcesInfo().toSorted();
  await Promise.all([model.close(), tokens.close()]);
  rmSync(root, { recursive: true, force: true });

  const ratios = [end.rss / warm.rss, end.heap / warm.heap];
  const cells = [
    name,
    `${warmUp} + ${tasks}, ${atOnce} at once`,
    ...[warm.rss, end.rss].map((size) => `${size.toFixed(1)} MB`),
    ratios[0]?.toFixed(3),
    ...[warm.heap, end.heap].map((size) => `${size.toFixed(1)} MB`),
    ratios[1]?.toFixed(3),
    open.join() === openBefore.join() ? "none" : open.join(", "),
    `${seconds.toFixed(0)} s`,
    before,
  ];
  console.log(`| ${cells.join(" | ")} |`);
  return ratios.every((ratio) => ratio < GOAL) && open.join() === openBefore.join() ? 0 : 1;
}

/** Measures the memory in MB that remains after garbage collection. The young generation keeps its pages although they are empty. */
async function measure(): Promise<{ rss: number; heap: number; young: number }> {
  for (let round = 0; round < 4; round += 1) {
    collectGarbage();
    await delay(100);
  }
  const { rss, heapUsed } = process.memoryUsage();
  const young = getHeapSpaceStatistics().find(({ space_name }) => space_name === "new_space")?.physical_space_size ?? 0;
  return { rss: rss / 1e6, heap: heapUsed / 1e6, young: young / 1e6 };
}

/** Starts an endpoint that issues tokens. It receives so few requests that it can run in this process. */
async function startTokenServer(): Promise<{ url: string; close(): Promise<unknown> }> {
  const server = createServer((_, response) => void response.end(JSON.stringify({ access_token: "token", expires_in: 3600 })));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () => new Promise((resolve) => server.close(resolve)),
  };
}

/** Starts a scripted model in a separate process, so that the requests that it records are not measured. */
async function startModel(file: string, steps: unknown[]): Promise<{ url: string; marker: string; close(): Promise<void> }> {
  writeFileSync(file, JSON.stringify(steps));
  const main = path.join(import.meta.dirname, "../test/runtimes/model-server/main.ts");
  const program = execa(process.execPath, [main, "--scenario", file], { stdin: "ignore", stdout: "pipe", reject: false });
  const lines = createInterface({ input: program.stdout })[Symbol.asyncIterator]();
  const { value: url = "" } = await lines.next();
  const { value: line = "" } = await lines.next();
  return {
    url,
    marker: line.slice(0, line.indexOf("]]") + 2),
    async close() {
      program.kill();
      await program;
    },
  };
}
