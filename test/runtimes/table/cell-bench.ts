import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect } from "vitest";
import type { Connection, EventEnvelope, ExecutionResult } from "#contract";
import { PROMPT_OPENING } from "../../../adapters/shared/agent-program/prompt.ts";
import { type BridgeProgram, startBridgeProgram } from "../../support/bridge-program.ts";
import { until } from "../../support/until.ts";
import { createModelServer, type ModelServer } from "../model-server/server.ts";
import { runtimesPath } from "../programs.ts";
import { type BenchRuntime, benchRuntimes } from "./runtimes.ts";

/** A task as the API returns it. */
export interface ReportedTask {
  taskId: string;
  state: string;
  result: ExecutionResult | null;
}

/** A real Bridge with one runtime over one connection and a scripted model. */
export interface CellBench {
  runtime: BenchRuntime;
  connection: Connection;
  model: ModelServer;
  /** The runtime calls its model through Bridge's proxy. */
  hasProxy: boolean;
  /** The number of answers of the model before the last dispatch. */
  readonly answersBefore: number;
  readonly bridge: BridgeProgram;
  /** Kills Bridge with SIGKILL, and starts it again with these additional settings. */
  crash(settings?: Record<string, string>): Promise<void>;
  /** The adapter, as the API returns it. */
  adapter(): Promise<{
    health: { status: string; version: string | null; connection: string | null };
    capabilities: Record<string, unknown>;
    cooldownUntil: string | null;
  }>;
  /** Dispatches; resolves when the task is accepted. */
  dispatch(request: Record<string, unknown>, headers?: Record<string, string>): Promise<string>;
  /** Waits until the task has ended. */
  ended(taskId: string): Promise<ReportedTask>;
  events(taskId: string): Promise<EventEnvelope[]>;
  cancel(taskId: string): Promise<void>;
  dataDir: string;
  workspace: string;
  /** A directory that no task may access. */
  outside: string;
  /** The times from a cancel request to the end of the last process, in ms. */
  cancelMs: number[];
  /** Files and processes that remain after tasks. */
  leftovers(): Promise<string[]>;
  close(): Promise<void>;
}

const AGENT = "cell";
const IDLE_SECONDS = 30;
/** Time limit of the first health check of an adapter. */
const START_LIMIT_MS = 30_000;
/** Time limit of a wait: four programs that start at the same time on two cores need this long. */
const PATIENCE_MS = 90_000;
/** Directories in which a program leaves files if it does not respect TMPDIR. */
const SYSTEM_TMP = "/tmp";

/** Starts Bridge, the runtime and the model. `settings` are added to those of every cell. Closes the model at its end, also a given one. */
export async function openCellBench(
  runtime: BenchRuntime,
  connection: Connection,
  settings: Record<string, string> = {},
  givenModel?: ModelServer,
): Promise<CellBench> {
  const root = mkdtempSync(path.join(tmpdir(), "bridge-cell-"));
  const outside = path.join(root, "outside");
  const dataDir = path.join(root, "data");
  const operator = { HOME: path.join(root, "operator-home"), TMPDIR: path.join(root, "operator-tmp") };
  for (const directory of [outside, dataDir, operator.HOME, operator.TMPDIR]) mkdirSync(directory);
  writeFileSync(path.join(outside, "secret.txt"), "the-secret-outside\n");
  const model = givenModel ?? (await createModelServer({ messagePrefix: PROMPT_OPENING }));
  const shared = runtimeFilesIn(SYSTEM_TMP);
  let kill = () => {};
  const startBridge = (changed: Record<string, string>): Promise<BridgeProgram> =>
    startBridgeProgram(
      dataDir,
      {
        ...operator,
        PATH: `${runtimesPath()}${path.delimiter}${process.env["PATH"]}`,
        BRIDGE_ADAPTERS: runtime,
        ...(benchRuntimes[runtime].connections.length > 1 && { [`BRIDGE_${runtime.toUpperCase()}_CONNECTION`]: connection }),
        BRIDGE_IDLE_SECONDS: String(IDLE_SECONDS),
        BRIDGE_MCP_COMMANDS: process.execPath,
        ...benchRuntimes[runtime].environment(model.url),
        ...settings,
        ...changed,
      },
      (act) => {
        kill = act;
      },
    );
  let bridge = await startBridge({});
  let answersBefore = 0;

  const json = async <Body>(method: string, target: string, body?: unknown, headers: Record<string, string> = {}): Promise<Body> => {
    const response = await bridge.call(method, target, body, headers);
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${target}: ${response.status} ${text}`);
    return JSON.parse(text) as Body;
  };

  const bench: CellBench = {
    runtime,
    connection,
    model,
    hasProxy: settings["BRIDGE_MODEL_PROXY"] !== undefined,
    get answersBefore() {
      return answersBefore;
    },
    get bridge() {
      return bridge;
    },
    async crash(changed = {}) {
      bridge.signal("SIGKILL");
      await bridge.exited;
      bridge = await startBridge(changed);
      await untilUp();
    },
    outside,
    cancelMs: [],
    dataDir,
    workspace: path.join(dataDir, "workspaces", "default", AGENT),
    adapter: async () => {
      const { data } = await json<{ data: Awaited<ReturnType<CellBench["adapter"]>>[] }>("GET", "/api/v2/adapters");
      return data[0] as Awaited<ReturnType<CellBench["adapter"]>>;
    },
    async dispatch(request, headers) {
      answersBefore = model.usages.length;
      const body = { agentId: AGENT, model: benchRuntimes[runtime].model, timeoutSeconds: 60, ...request };
      return (await json<ReportedTask>("POST", "/api/v2/dispatch", body, headers)).taskId;
    },
    async ended(taskId) {
      let task: ReportedTask | undefined;
      await expect
        .poll(
          async () => {
            task = await json<ReportedTask>("GET", `/api/v2/tasks/${taskId}`);
            return task.state;
          },
          { timeout: PATIENCE_MS, interval: 50 },
        )
        .toMatch(/completed|failed|cancelled/);
      return task as ReportedTask;
    },
    events: async (taskId) => {
      const events: EventEnvelope[] = [];
      for (let cursor = ""; ; ) {
        const page = await json<{ data: EventEnvelope[]; meta: { nextCursor: string | null } }>(
          "GET",
          `/api/v2/tasks/${taskId}/events${cursor}`,
        );
        events.push(...page.data);
        if (page.meta.nextCursor === null) return events;
        cursor = `?cursor=${page.meta.nextCursor}`;
      }
    },
    cancel: async (taskId) => void (await json("POST", `/api/v2/tasks/${taskId}/cancel`)),
    async leftovers() {
      // The TMPDIR of the task is removed shortly after the end of the task.
      const tmp = path.join(dataDir, "tmp");
      await expect.poll(() => namesIn(tmp), { timeout: 5_000, interval: 20 }).toEqual([]);
      return [
        ...markedProcesses(dataDir).map(({ pid, command }) => `process ${pid}: ${command}`),
        ...[operator.HOME, operator.TMPDIR].flatMap((directory) => namesIn(directory).map((name) => path.join(directory, name))),
        ...namesIn(outside).filter((name) => name !== "secret.txt"),
        ...namesIn(root).filter((name) => !["outside", "data", "operator-home", "operator-tmp"].includes(name)),
        ...runtimeFilesIn(SYSTEM_TMP).filter((name) => !shared.includes(name)),
      ];
    },
    async close() {
      bridge.signal("SIGTERM");
      await bridge.exited;
      kill();
      await model.close();
      rmSync(root, { recursive: true, force: true });
    },
  };
  const untilUp = async (): Promise<void> => {
    if (await until(async () => (await bench.adapter()).health.connection === connection, START_LIMIT_MS)) return;
    const { health } = await bench.adapter();
    throw new Error(`${runtime} over ${connection} is not up: ${JSON.stringify(health)}`);
  };
  try {
    await untilUp();
    return bench;
  } catch (error) {
    await bench.close();
    throw error;
  }
}

/** A process of a task. */
export interface MarkedProcess {
  pid: number;
  parent: number;
  command: string;
}

/** The processes of all tasks or of one task of a Bridge: they have its marker and directories below its own. */
export function markedProcesses(dataDir: string, taskId?: string): MarkedProcess[] {
  const marker = `BRIDGE_TASK_ID=${taskId ?? ""}`;
  return namesIn("/proc")
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      const environment = read(`/proc/${pid}/environ`);
      if (!environment.includes(marker) || !environment.includes(dataDir) || environment.includes("BRIDGE_TASK_ID=probe/")) return [];
      const stat = read(`/proc/${pid}/stat`);
      const [state, parent] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
      if (state === undefined || state === "Z" || state === "X") return [];
      return [{ pid: Number(pid), parent: Number(parent), command: read(`/proc/${pid}/cmdline`).replaceAll("\0", " ").trim() }];
    });
}

/** Files that the programs are known to leave in the temporary directory of the machine. */
function runtimeFilesIn(directory: string): string[] {
  return namesIn(directory).filter((name) => /claude|codex|gemini|opencode|\.bun|\.so$|^\.(git|aws|agents)$/i.test(name));
}

function namesIn(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}

/** Processes can end during the search. */
function read(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}
