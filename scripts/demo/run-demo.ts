import { cp } from "node:fs/promises";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { Adapter, BridgeEvent } from "bridge-client";
import { type DemoAgent, findInstalledAgent, selectSettings } from "./agents.ts";
import type { BridgeProcess } from "./bridge-process.ts";
import { describeError } from "./describe-error.ts";
import type { ReceivedCallback, Receiver } from "./receiver.ts";
import type { Screen } from "./screen.ts";
import { ExplainedError, type Stage, withBridge } from "./with-bridge.ts";

const repository = path.resolve(import.meta.dirname, "../..");
const agentId = "auditor";
const taskId = "demo-1";
/** Directories of this repository that are copied into the workspace. */
const folders = ["docs", "examples"];
/** The number of tool events that are printed; further ones are only counted, so that the output fits on one screen. */
const SHOWN_TOOL_EVENTS = 6;

/** Options of the demo. */
export interface DemoOptions {
  agent: DemoAgent;
  keep: boolean;
  stop: AbortSignal;
}

/**
 * Runs the demo. When it settles, its processes have exited and its files are removed. Rejects when `stop` aborts before the end.
 */
export async function runDemo(screen: Screen, { agent, keep, stop }: DemoOptions): Promise<void> {
  const { deadlineMs } = agent;
  await withBridge({ screen, stop, deadlineMs, settings: () => selectSettings(agent, process.env) }, async (running) => {
    const { bridge, receiver, directory, stage, endDeadline } = running;
    screen.line(`Bridge ${bridge.version}: ${bridge.url}   callback receiver: ${receiver.url}`);
    if (agent.provider !== "command") await showPreflight(stage, agent);
    const workspace = path.join(directory, "workspaces", "default", agentId);
    for (const folder of folders)
      await cp(path.join(repository, folder), path.join(workspace, folder), { recursive: true, filter: isSource });
    screen.line(`The agent works on a copy of this repository's ${folders.join("/ and ")}/. ${agent.requirements}`);
    await showTask(stage, receiver, agent);
    endDeadline();
    if (keep) await stayOpen(stage, { agent, bridge, receiver });
    else showNextSteps(screen, agent);
  });
}

async function showTask(stage: Stage, receiver: Receiver, agent: DemoAgent): Promise<void> {
  const { screen, client, signal } = stage;
  const body = { taskId, agentId, ...agent.task, callbackUrl: receiver.url };
  const startedAt = performance.now();
  const elapsed = (): string => `+${((performance.now() - startedAt) / 1000).toFixed(3)} s`;

  screen.heading("Dispatch");
  screen.text(`  POST /api/v2/dispatch  ${JSON.stringify(body)}`);
  const { replayed: _, ...accepted } = await client.dispatch(body, { signal });
  screen.text(`  ${elapsed()}  202  ${JSON.stringify(accepted)}`);

  screen.heading(`Events, live: GET /api/v2/tasks/${taskId}/events`);
  const last = await showEvents(stage, elapsed);
  if (last.type === "execution.failed") throw new ExplainedError(`The task failed: ${last.data.error}`);

  screen.heading("Callback");
  showCallback(screen, await receiver.next(), elapsed());
  // Resumes after the last event, so that none is missed between the two streams.
  const outcome = { taskId, types: ["callback.delivered", "callback.dead"] } as const;
  for await (const event of client.events(outcome, { after: last.id, signal })) {
    if (event.type !== "callback.delivered") throw new Error("Bridge stopped retrying the callback.");
    screen.line(`  responded 204; Bridge recorded ${event.type} ${JSON.stringify(event.data)}`);
    break;
  }

  screen.heading("The same dispatch again");
  const { replayed, state } = await client.dispatch(body, { signal });
  if (!replayed) throw new Error("Bridge accepted a repeated dispatch as a new one.");
  screen.line(`  202  Idempotent-Replayed: true, state ${state}: nothing runs twice`);
}

/** Prints Bridge's checks of the agent's program. Rejects with ExplainedError, which names the remedies, if the program is not ready. */
async function showPreflight(stage: Stage, { provider }: DemoAgent): Promise<void> {
  const { screen } = stage;
  screen.heading(`Preflight of ${provider}: GET /api/v2/adapters`);
  const { status, connection, detail, preflight } = await findHealth(stage, provider);
  for (const { step, ok, detail: found } of preflight) screen.text(`  ${ok ? "ok" : "--"}  ${step.padEnd(22)}  ${found}`);
  // A direct connection to a model cannot read the workspace.
  if (status === "healthy" && connection !== "api") return;
  const missing = preflight.filter((step) => !step.ok).map((step) => step.detail);
  const reasons = (status === "offline" || connection === "api") && missing.length > 0 ? missing : [detail];
  throw new ExplainedError(`${provider} is not ready:\n${reasons.map((reason) => `  ${reason}`).join("\n")}`);
}

/** Waits for the first check of an adapter, and returns its health. */
async function findHealth({ client, signal }: Stage, provider: string): Promise<Adapter["health"]> {
  for (;;) {
    for await (const { provider: name, health } of client.listAdapters({ signal }))
      if (name === provider && health.checkedAt !== null) return health;
    await delay(100, undefined, { signal });
  }
}

/** Prints a task's events as they arrive; resolves to the last one. */
async function showEvents({ screen, client, signal }: Stage, elapsed: () => string): Promise<BridgeEvent> {
  let last: BridgeEvent | null = null;
  let toolEvents = 0;
  for await (const event of client.events(taskId, { signal })) {
    last = event;
    if (event.type.startsWith("tool.") && ++toolEvents > SHOWN_TOOL_EVENTS) continue;
    if (toolEvents > SHOWN_TOOL_EVENTS) screen.line(`  ${elapsed()}  …    ${toolEvents - SHOWN_TOOL_EVENTS} more tool events`);
    if (toolEvents > SHOWN_TOOL_EVENTS) toolEvents = 0;
    screen.line(`  ${elapsed()}  #${event.id.split("-")[1]?.padEnd(3)} ${event.type.padEnd(20)} ${summarize(event)}`);
  }
  if (last === null) throw new Error("The stream ended without an event.");
  return last;
}

function summarize({ type, data }: BridgeEvent): string {
  if (type === "tool.invoked") return `${data.toolName} ${JSON.stringify(data.input)}`;
  if (type === "tool.completed") return `${data.toolName} -> ${JSON.stringify(data.output)}`;
  if (type === "assistant.text") return JSON.stringify(data.content);
  return JSON.stringify(data);
}

function showCallback(screen: Screen, { attempt, id, signature, body }: ReceivedCallback, at: string): void {
  const findings = body.output?.split("\n").filter((line) => /^[^#|]/.test(line));
  screen.line(`  ${at}  attempt ${attempt}, webhook-id ${id}`);
  screen.line(`  signature ok, verified with the package standardwebhooks: ${signature}`);
  screen.line(`  status ${body.status} in ${Math.round(body.durationMs)} ms:`);
  screen.line(`    ${findings?.join(" ")}`);
  const { model, usage, costUsd } = body;
  if (usage === undefined) return;
  const cost = costUsd === undefined ? "" : `, US$ ${costUsd.toFixed(6)}`;
  screen.line(`  ${model ?? "model"}: ${usage.inputTokens} tokens in, ${usage.outputTokens} out${cost}`);
}

function showNextSteps(screen: Screen, agent: DemoAgent): void {
  const steps: (readonly [command: string, purpose: string])[] = [];
  const suffix = agent.provider === "command" ? "" : ` --provider ${agent.provider}`;
  steps.push([`npm run demo --${suffix} --keep`, "keeps Bridge running, with a link to the console"]);
  if (agent.provider === "command") {
    const installed = findInstalledAgent(process.env);
    const purpose =
      installed === null ? "ask a real agent; install Claude Code, Codex … first" : `ask ${installed.name}, which is installed`;
    steps.push([`npm run demo -- --provider ${installed?.provider ?? "installed"}`, purpose]);
  }
  steps.push([agent.provider === "command" ? "npm start" : `BRIDGE_ADAPTERS=${agent.provider} npm start`, "start Bridge"]);
  steps.push(["npm run demo -- --trees", "two tasks edit the same file at once"]);
  screen.heading("What to try next");
  const width = Math.max(...steps.map(([command]) => command.length));
  for (const [command, purpose] of steps) screen.line(`  ${command.padEnd(width)}  ${purpose}`);
}

interface Running {
  agent: DemoAgent;
  bridge: BridgeProcess;
  receiver: Receiver;
}

/** Keeps everything running until the signal aborts, and prints further callbacks as they arrive. */
async function stayOpen({ screen, client, signal }: Stage, { agent, bridge, receiver }: Running): Promise<void> {
  const { path: signInPath } = await client.createSignInLink({ signal });
  screen.heading("Open the console (this link signs you in once, within 60 seconds):");
  screen.commands([`${bridge.url}/${signInPath}`]);
  screen.line(`Afterwards, open ${bridge.url}/ and paste the token below.`);
  const request = JSON.stringify({ agentId, ...agent.furtherTask, callbackUrl: receiver.url });
  screen.heading("Bridge runs until Ctrl-C. Try in another terminal:");
  screen.commands([
    `export BRIDGE=${bridge.url} TOKEN=${bridge.token}`,
    `curl -w '\\n' -H "Authorization: Bearer $TOKEN" $BRIDGE/api/v2/tasks/${taskId}`,
    'curl -N -H "Authorization: Bearer $TOKEN" $BRIDGE/api/events &',
    `curl -w '\\n' -H "Authorization: Bearer $TOKEN" -H "Content-Type: application/json" \\`,
    `  -H "Prefer: wait=30" $BRIDGE/api/v2/dispatch \\`,
    `  -d '${request}'`,
  ]);
  screen.line(`All routes: ${bridge.url}/docs`);
  while (!signal.aborted) {
    const description = await receiver.next().then(describeCallback, (error) => `rejected: ${describeError(error)}`);
    if (!signal.aborted) screen.line(`Callback ${description}`);
  }
}

const describeCallback = ({ attempt, body }: ReceivedCallback): string =>
  `of ${body.taskId}: attempt ${attempt}, signature ok, status ${body.status}`;

/** Excludes packages that are installed in an example. */
const isSource = (file: string): boolean => path.basename(file) !== "node_modules";
