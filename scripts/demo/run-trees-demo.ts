import { execFile } from "node:child_process";
import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { promisify } from "node:util";
import type { BridgeEvent, DispatchRequest, Task } from "bridge-client";
import { findProgram } from "../../adapters/shared/process/find-program.ts";
import type { Screen } from "./screen.ts";
import { ExplainedError, type RunningBridge, type Stage, withBridge } from "./with-bridge.ts";

const run = promisify(execFile);
const commandLine = path.resolve(import.meta.dirname, "../../packages/bridge-cli/src/bridge.js");
const editingAgent = path.join(import.meta.dirname, "editing-agent.js");
const DEADLINE_MS = 60_000;
const FILE = "prices.js";
const CONTENT = `export const vat = 0.19;

/** Returns a price with VAT. */
export const gross = (net) => net * (1 + vat);

/** Returns the costs of shipping. */
export const shipping = (net) => (net > 50 ? 0 : 4.9);
`;
/** Both tasks edit the same file. */
const tasks = [
  { taskId: "fix-1", message: `Replace 0.19 by 0.07 in ${FILE}` },
  { taskId: "fix-2", message: `Replace 4.9 by 5.9 in ${FILE}` },
] as const;
const SHOWN: readonly BridgeEvent["type"][] = ["execution.started", "tool.invoked", "execution.completed", "execution.failed"];
/** The demo ignores the configuration of git on this machine, such as hooks. */
const gitEnvironment = {
  ...{ GIT_CONFIG_NOSYSTEM: "1", GIT_CONFIG_GLOBAL: "/dev/null" },
  ...{ GIT_AUTHOR_NAME: "You", GIT_AUTHOR_EMAIL: "you@localhost", GIT_COMMITTER_NAME: "You", GIT_COMMITTER_EMAIL: "you@localhost" },
};

/** Runs the demo of work trees: two tasks of one agent edit the same file at once. Rejects when `stop` aborts before the end. */
export async function runTreesDemo(screen: Screen, { stop }: { stop: AbortSignal }): Promise<void> {
  if (findProgram("git", process.env["PATH"] ?? "") === null)
    throw new ExplainedError("git is not on PATH. Install it, for example with: apt-get install git");
  await withBridge({ screen, stop, deadlineMs: DEADLINE_MS, settings: prepareRepository }, async ({ bridge, directory, stage }) => {
    screen.line(`Bridge ${bridge.version}: ${bridge.url}   repository: shop, with one commit of ${FILE}`);
    await dispatchTasks(stage);
    await showEvents(stage);
    for (const { taskId } of tasks) await showChanges(stage, await stage.client.getTask(taskId, { signal: stage.signal }));
    await applyChanges({ bridge, directory, stage });
  });
}

/** Creates the repository, and returns the settings that offer it to tasks. */
async function prepareRepository(directory: string): Promise<Record<string, string>> {
  const source = sourceIn(directory);
  await mkdir(source);
  await writeFile(path.join(source, FILE), CONTENT);
  await git(source, "init", "--quiet", "--initial-branch=main");
  await git(source, "add", FILE);
  await git(source, "commit", "--quiet", "--message=Add prices");
  const file = path.join(directory, "repositories.json");
  await writeFile(file, JSON.stringify([{ name: "shop", source, defaultRef: "main" }]));
  return {
    ...{ BRIDGE_ADAPTERS: "command", BRIDGE_COMMAND: JSON.stringify([process.execPath, editingAgent]) },
    BRIDGE_REPOSITORIES_FILE: file,
  };
}

const sourceIn = (directory: string): string => path.join(directory, "source");

async function git(cwd: string, ...args: string[]): Promise<string> {
  return (await run("git", args, { cwd, env: { ...process.env, ...gitEnvironment } })).stdout;
}

async function dispatchTasks({ screen, client, signal }: Stage): Promise<void> {
  screen.heading("Dispatch two tasks of one agent");
  for (const task of tasks) {
    const body = { ...task, agentId: "fixer", profile: "modify", repository: { name: "shop" } } satisfies DispatchRequest;
    screen.text(`  POST /api/v2/dispatch  ${JSON.stringify(body)}`);
    const { repository } = await client.dispatch(body, { signal });
    screen.text(`  202  "repository": ${JSON.stringify(repository)}`);
  }
}

/** Prints what both tasks do, as it happens. */
async function showEvents({ screen, client, signal }: Stage): Promise<void> {
  screen.heading("Events of both, live");
  const startedAt = performance.now();
  const follow = async (taskId: string): Promise<void> => {
    for await (const event of client.events(taskId, { signal })) {
      if (!SHOWN.includes(event.type)) continue;
      const elapsed = ((performance.now() - startedAt) / 1000).toFixed(3);
      screen.line(`  +${elapsed} s  ${taskId}  ${event.type.padEnd(20)} ${describe(event)}`.trimEnd());
      if (event.type === "execution.failed") throw new ExplainedError(`The task ${taskId} failed: ${event.data.error}`);
    }
  };
  await Promise.all(tasks.map(({ taskId }) => follow(taskId)));
}

function describe({ type, data }: BridgeEvent): string {
  if (type === "tool.invoked") return `${data.toolName} ${JSON.stringify(data.input)}`;
  return type === "execution.completed" ? (data.output ?? "") : "";
}

/** Prints the diff of a task. Its work tree is gone. */
async function showChanges({ screen, client, signal }: Stage, { taskId, repository }: Task): Promise<void> {
  screen.heading(`GET /api/v2/tasks/${taskId}/diff   (${repository?.branch}, ${repository?.commits} commit)`);
  const { diff } = await client.files.diff(taskId, { signal });
  for (const line of diff.split("\n").filter((text) => /^(---|\+\+\+|[+-])/.test(text))) screen.line(`  ${line}`);
}

/** Applies the commits of both tasks to a clone, as a person does. */
async function applyChanges({ bridge, directory, stage: { screen, signal } }: Pick<RunningBridge, "bridge" | "directory" | "stage">) {
  screen.heading("In your clone of the repository");
  const clone = path.join(directory, "clone");
  await git(directory, "clone", "--quiet", sourceIn(directory), clone);
  const env = { ...process.env, ...gitEnvironment, BRIDGE_URL: bridge.url, BRIDGE_TOKEN: bridge.token };
  for (const { taskId } of tasks) {
    const { stderr } = await run(process.execPath, [commandLine, "apply", taskId], { cwd: clone, env, signal });
    screen.line(`  $ brg apply ${taskId}`);
    screen.line(`  ${stderr.trim().replace(clone, "your clone")}`);
  }
  screen.line("  $ git log --format='%an: %s'");
  for (const line of (await git(clone, "log", "--format=%an: %s")).trim().split("\n")) screen.line(`  ${line}`);
}
