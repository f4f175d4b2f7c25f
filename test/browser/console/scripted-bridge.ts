import { hash, randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { pino } from "pino";
import { createPanelAdapter } from "../../../adapters/council/index.ts";
import { createApp } from "../../../src/app/create-app.ts";
import { loadConfig } from "../../../src/app/load-config.ts";
import { createInMemoryAdapter } from "../../adapters/in-memory-adapter.ts";
import { createScripts } from "./agent-scripts.ts";
import { type PastClock, startPastClock } from "./past-clock.ts";

const scopes = ["dispatch", "read", "approve", "manage", "metrics"];

/** A Bridge whose tenant has a task in every state, and another tenant without any data. */
export interface ScriptedBridge {
  url: string;
  /** Token of the tenant with data. */
  fullToken: string;
  /** Token of the tenant without data. */
  emptyToken: string;
  close(): Promise<void>;
}

/** The scripts take an hour, so that the last tasks have begun just now. */
const MINUTES_AGO = 61;

/** Starts Bridge with scripted agents, and runs tasks that complete, fail, wait and report to receivers on the port, or on a free one. */
export async function startScriptedBridge({ receiverPort = 0, budgets = [] as readonly object[] } = {}): Promise<ScriptedBridge> {
  await using cleanup = new AsyncDisposableStack();
  const dataDir = await mkdtemp(path.join(tmpdir(), "bridge-scripted-"));
  cleanup.defer(() => rm(dataDir, { recursive: true, force: true }));
  const receiver = await startReceiver(receiverPort, (act) => cleanup.defer(act));
  const [tokensFile, webhooksFile] = [path.join(dataDir, "tokens.json"), path.join(dataDir, "webhooks.json")];
  const toToken = (name: string, tenant: string) => ({ name, tenant, scopes, sha256: hash("sha256", `secret-${name}`) });
  await writeFile(tokensFile, JSON.stringify([toToken("ada", "full"), toToken("newcomer", "empty")]));
  await writeFile(webhooksFile, JSON.stringify(describeWebhooks(receiver)));
  const budgetsFile = path.join(dataDir, "budgets.json");
  await writeFile(budgetsFile, JSON.stringify(budgets));
  const { config } = loadConfig({
    ...(budgets.length > 0 && { BRIDGE_BUDGETS_FILE: budgetsFile }),
    ...{ BRIDGE_PORT: "0", BRIDGE_DATA_DIR: dataDir, BRIDGE_TOKENS_FILE: tokensFile, BRIDGE_WEBHOOKS_FILE: webhooksFile },
    ...{ BRIDGE_PUBLIC_URL: "https://bridge.example.com", BRIDGE_CALLBACK_ALLOW: "*.example.com", BRIDGE_CALLBACK_RETRIES: "0" },
    ...{ BRIDGE_MAX_CONCURRENT: "8,gemini=1", BRIDGE_DRAIN_SECONDS: "0" },
  });
  const clock = startPastClock(MINUTES_AGO);
  cleanup.defer(() => clock.stop());
  const scripts = createScripts(clock);
  const app = await createApp(config, pino({ level: "silent" }), {
    adapters: [
      ...["claude", "codex", "gemini"].map((provider) => ({ provider, adapter: createInMemoryAdapter({ provider, run: scripts.run }) })),
      { provider: "bridge-claude", adapter: createPanelAdapter("claude") },
      { provider: "opencode", adapter: null, reason: "The program opencode is not installed." },
    ],
    resolve: async () => [{ address: "127.0.0.1", family: 4 }],
    maxEventLoopDelayMs: 0,
  });
  cleanup.defer(() => app.close());
  const url = await app.start();
  await runTasks(url, receiver, clock);
  clock.stop();
  scripts.continueWork();
  const keeping = cleanup.move();
  return { url, fullToken: "secret-ada", emptyToken: "secret-newcomer", close: () => keeping.disposeAsync() };
}

/** Starts a receiver that fails all requests to `broken.example.com`. Returns the URL of a host. */
async function startReceiver(port: number, atEnd: (act: () => void) => void): Promise<(host: string) => string> {
  const server = createServer((request, response) => {
    request.resume();
    response.writeHead(request.headers.host?.startsWith("broken") === true ? 500 : 204).end();
  });
  server.listen(port, "127.0.0.1");
  await once(server, "listening");
  atEnd(() => void server.close());
  return (host) => `http://${host}.example.com:${(server.address() as AddressInfo).port}/bridge`;
}

const describeWebhooks = (receiver: (host: string) => string) =>
  [
    { name: "chat", url: receiver("chat") },
    {
      name: "oncall",
      url: receiver("broken"),
      types: ["tool.approval_requested", "execution.failed"],
      filter: { labels: { team: "shop" } },
    },
  ].map((webhook) => ({ ...webhook, tenant: "full", secrets: [`whsec_${randomBytes(24).toString("base64")}`] }));

async function runTasks(url: string, receiver: (host: string) => string, clock: PastClock): Promise<void> {
  const headers = { authorization: "Bearer secret-ada", "content-type": "application/json", prefer: "wait=20" };
  const send = async (target: string, body?: Record<string, unknown>): Promise<void> => {
    const response = await fetch(url + target, { method: "POST", headers, ...(body !== undefined && { body: JSON.stringify(body) }) });
    if (!response.ok) throw new Error(`${target}: ${response.status} ${await response.text()}`);
  };
  /** Dispatches a task some minutes after the last one. */
  const dispatch = (body: Record<string, unknown>, minutes = 4): Promise<void> => {
    clock.advance(60 * minutes);
    return send("/api/v2/dispatch", body);
  };
  const team = (name: string) => ({ labels: { team: name } });
  const nightly = { taskId: "nightly-build", provider: "codex", agentId: "auditor", message: "Summarize the failed tests of last night." };
  await dispatch({ ...nightly, ...team("shop") });
  const notes = { taskId: "release-notes", provider: "claude", agentId: "writer", message: "Write the release notes of version 1.4." };
  await dispatch({ ...notes, ...team("docs"), callbackUrl: receiver("ci") });
  const links = { taskId: "check-links", provider: "claude", agentId: "writer", message: "Check all links in docs/." };
  await dispatch({ ...links, ...team("docs"), callbackUrl: receiver("broken") });
  const upgrade = {
    taskId: "upgrade-types",
    provider: "codex",
    agentId: "migrator",
    message: "Upgrade to TypeScript 7 and run all tests.",
  };
  await dispatch({ ...upgrade, ...team("shop") });
  await dispatch({
    ...{ taskId: "login-review", provider: "bridge-claude", agentId: "reviewer", ...team("shop") },
    bridgeInput: {
      ...{ scope: "src/http/login.ts, src/session/", task_description: "Review pull request 482: sessions in Redis.", task_type: "review" },
      ...{ intensity: "standard", domains: ["security", "api"], provider: "claude" },
    },
  });
  headers.prefer = "wait=0";
  const refactoring = { taskId: "replace-moment", provider: "claude", agentId: "migrator", message: "Replace moment by Temporal." };
  await dispatch({ ...refactoring, ...team("shop"), callbackUrl: receiver("ci") });
  await decideFirst(url, send, clock);
  await until(url, async (list) => (await list("tasks?state=completed&agentId=migrator")).length === 1);
  await dispatch({ taskId: "old-branches", provider: "gemini", agentId: "cleaner", message: "List branches without a commit for a year." });
  await dispatch({ taskId: "unused-images", provider: "gemini", agentId: "cleaner", message: "List unused images." });
  const translation = { taskId: "settings-page", provider: "codex", agentId: "writer", message: "Translate the settings page." };
  await dispatch({ ...translation, ...team("shop") });
  await dispatch({ taskId: "draft-talk", provider: "codex", agentId: "writer", message: "Draft a talk about the new checkout." }, 1);
  await send("/api/v2/tasks/draft-talk/cancel");
  await dispatch({ taskId: "unused-files", provider: "claude", agentId: "cleaner", message: "Remove unused files.", ...team("shop") }, 1);
  await until(url, async (list) => (await list("approvals?state=pending")).length === 1);
  await until(url, async (list) => (await list("callbacks?state=dead")).length === 1);
  await until(url, async (list) => (await list("webhooks/oncall/deliveries?state=pending")).length === 0);
  await until(url, async (list) => (await list("tasks?state=cancelled")).length === 1);
}

/** Approves the only tool call that waits, after a while. */
async function decideFirst(
  url: string,
  send: (target: string, body: Record<string, unknown>) => Promise<void>,
  clock: PastClock,
): Promise<void> {
  let approvalId = "";
  await until(url, async (list) => {
    const [approval] = (await list("approvals?state=pending")) as { approvalId: string }[];
    approvalId = approval?.approvalId ?? "";
    return approvalId !== "";
  });
  clock.advance(95);
  await send(`/api/v2/approvals/${approvalId}`, { decision: "approve", reason: "The tests pass without it." });
}

/** Waits until the lists of the tenant with data are as expected. */
async function until(url: string, isDone: (list: (path: string) => Promise<unknown[]>) => Promise<boolean>): Promise<void> {
  const list = async (target: string): Promise<unknown[]> => {
    const response = await fetch(`${url}/api/v2/${target}`, { headers: { authorization: "Bearer secret-ada" } });
    return ((await response.json()) as { data: unknown[] }).data;
  };
  while (!(await isDone(list))) await new Promise((resolve) => setTimeout(resolve, 20));
}
