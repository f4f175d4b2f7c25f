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
import { runScript } from "./agent-scripts.ts";

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

/** Starts Bridge with scripted agents, and runs tasks that complete, fail, wait and report to receivers on the port, or on a free one. */
export async function startScriptedBridge({ receiverPort = 0 } = {}): Promise<ScriptedBridge> {
  await using cleanup = new AsyncDisposableStack();
  const dataDir = await mkdtemp(path.join(tmpdir(), "bridge-scripted-"));
  cleanup.defer(() => rm(dataDir, { recursive: true, force: true }));
  const receiver = await startReceiver(receiverPort, (act) => cleanup.defer(act));
  const [tokensFile, webhooksFile] = [path.join(dataDir, "tokens.json"), path.join(dataDir, "webhooks.json")];
  const toToken = (name: string, tenant: string) => ({ name, tenant, scopes, sha256: hash("sha256", `secret-${name}`) });
  await writeFile(tokensFile, JSON.stringify([toToken("ada", "full"), toToken("newcomer", "empty")]));
  await writeFile(webhooksFile, JSON.stringify(describeWebhooks(receiver)));
  const { config } = loadConfig({
    ...{ BRIDGE_PORT: "0", BRIDGE_DATA_DIR: dataDir, BRIDGE_TOKENS_FILE: tokensFile, BRIDGE_WEBHOOKS_FILE: webhooksFile },
    ...{ BRIDGE_PUBLIC_URL: "https://bridge.example.com", BRIDGE_CALLBACK_ALLOW: "*.example.com", BRIDGE_CALLBACK_RETRIES: "0" },
    ...{ BRIDGE_MAX_CONCURRENT: "8,gemini=1", BRIDGE_DRAIN_SECONDS: "0" },
  });
  const app = await createApp(config, pino({ level: "silent" }), {
    adapters: [
      ...["claude", "codex", "gemini"].map((provider) => ({ provider, adapter: createInMemoryAdapter({ provider, run: runScript }) })),
      { provider: "bridge-claude", adapter: createPanelAdapter("claude") },
      { provider: "opencode", adapter: null, reason: "The program opencode is not installed." },
    ],
    resolve: async () => [{ address: "127.0.0.1", family: 4 }],
    maxEventLoopDelayMs: 0,
  });
  cleanup.defer(() => app.close());
  const url = await app.start();
  await runTasks(url, receiver);
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
      filter: { labels: { team: "web" } },
    },
  ].map((webhook) => ({ ...webhook, tenant: "full", secrets: [`whsec_${randomBytes(24).toString("base64")}`] }));

async function runTasks(url: string, receiver: (host: string) => string): Promise<void> {
  const headers = { authorization: "Bearer secret-ada", "content-type": "application/json", prefer: "wait=20" };
  const send = async (target: string, body?: Record<string, unknown>): Promise<void> => {
    const response = await fetch(url + target, { method: "POST", headers, ...(body !== undefined && { body: JSON.stringify(body) }) });
    if (!response.ok) throw new Error(`${target}: ${response.status} ${await response.text()}`);
  };
  const dispatch = (body: Record<string, unknown>): Promise<void> => send("/api/v2/dispatch", body);
  const team = (name: string) => ({ labels: { team: name } });
  await dispatch({
    taskId: "nightly-build",
    provider: "codex",
    agentId: "auditor",
    message: "Summarize the failed tests.",
    ...team("web"),
  });
  await dispatch({
    ...{ taskId: "release-notes", provider: "claude", agentId: "writer", message: "Write the release notes.", ...team("docs") },
    callbackUrl: receiver("ci"),
  });
  await dispatch({
    ...{ taskId: "check-links", provider: "claude", agentId: "writer", message: "Check all links in docs/.", ...team("docs") },
    callbackUrl: receiver("broken"),
  });
  await dispatch({ taskId: "upgrade-types", provider: "codex", agentId: "migrator", message: "Upgrade the types.", ...team("web") });
  await dispatch({
    ...{ taskId: "login-review", provider: "bridge-claude", agentId: "reviewer", ...team("web") },
    bridgeInput: {
      ...{ scope: "login.ts and session.ts", task_description: "Review the login.", task_type: "review", intensity: "standard" },
      ...{ domains: ["security", "api"], provider: "claude" },
    },
  });
  headers.prefer = "wait=0";
  await dispatch({ taskId: "old-branches", provider: "gemini", agentId: "cleaner", message: "List old branches." });
  await dispatch({ taskId: "unused-images", provider: "gemini", agentId: "cleaner", message: "List unused images." });
  await dispatch({ taskId: "settings-page", provider: "codex", agentId: "migrator", message: "Migrate the settings page." });
  await dispatch({ taskId: "draft-talk", provider: "codex", agentId: "writer", message: "Draft a talk." });
  await send("/api/v2/tasks/draft-talk/cancel");
  await dispatch({ taskId: "unused-files", provider: "claude", agentId: "cleaner", message: "Remove unused files.", ...team("web") });
  await until(url, async (list) => (await list("approvals?state=pending")).length === 1);
  await until(url, async (list) => (await list("callbacks?state=dead")).length === 1);
  await until(url, async (list) => (await list("webhooks/oncall/deliveries?state=pending")).length === 0);
  await until(url, async (list) => (await list("tasks?state=cancelled")).length === 1);
}

/** Waits until the lists of the tenant with data are as expected. */
async function until(url: string, isDone: (list: (path: string) => Promise<unknown[]>) => Promise<boolean>): Promise<void> {
  const list = async (target: string): Promise<unknown[]> => {
    const response = await fetch(`${url}/api/v2/${target}`, { headers: { authorization: "Bearer secret-ada" } });
    return ((await response.json()) as { data: unknown[] }).data;
  };
  while (!(await isDone(list))) await new Promise((resolve) => setTimeout(resolve, 20));
}
