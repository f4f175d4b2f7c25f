import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { execa } from "execa";
import { expect, test } from "vitest";
import { type BridgeProgram, dispatchTask, SHARED_TOKEN, startBridgeProgram, taskInState } from "../support/bridge-program.ts";
import { findFreePort } from "../support/find-free-port.ts";
import { createDatabase } from "../support/postgres/create-database.ts";
import { startReceiver } from "../support/start-receiver.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";
import { findProgram } from "./find-program.ts";
import { configurePrometheus, observability, readDashboard } from "./observability-files.ts";
import { startPrometheus } from "./start-prometheus.ts";

const TRACE_ID = "0af7651916cd43dd8448eb211c80319c";

const promtool = async (args: readonly string[], input?: string) => {
  const { exitCode, stdout, stderr } = await execa(findProgram("promtool", "prometheus"), args, {
    reject: false,
    cwd: import.meta.dirname,
    ...(input !== undefined && { input }),
  });
  return { exitCode, output: `${stdout}\n${stderr}` };
};

test("promtool accepts the alerts, and each alert fires only in the states that its unit tests describe", async () => {
  expect(await promtool(["check", "rules", "--lint=all", "--lint-fatal", path.join(observability, "alerts.yml")])).toMatchObject({
    exitCode: 0,
  });
  expect(await promtool(["test", "rules", "alerts.test.yml"])).toMatchObject({ exitCode: 0 });
});

test("promtool accepts the configuration with its files", async () => {
  const directory = path.join(await temporaryDirectory(), "config");
  await mkdir(directory);
  await writeFile(path.join(directory, "token"), "token\n");
  const { config } = await configurePrometheus(directory, { targets: ["127.0.0.1:8787"], scrapeInterval: "15s" });
  expect(await promtool(["check", "config", "--lint=all", "--lint-fatal", config])).toMatchObject({ exitCode: 0 });
});

/** Runs tasks that end, fail, ask and wait, with callbacks and webhooks that arrive and that do not, and keeps a reader connected. */
async function startLoadedBridge(): Promise<BridgeProgram> {
  const dataDir = await temporaryDirectory();
  const database = await createDatabase();
  const receiver = await startReceiver();
  const deadOrigin = `http://127.0.0.1:${await findFreePort()}`;
  const secrets = [`whsec_${Buffer.alloc(32, 7).toString("base64")}`];
  const webhooksFile = path.join(dataDir, "webhooks.json");
  const types = ["tool.approval_requested", "execution.failed"];
  const webhooks = [
    { name: "reached", url: `${receiver.origin}/webhook`, secrets, types },
    { name: "dead", url: `${deadOrigin}/webhook`, secrets, types },
  ];
  await writeFile(webhooksFile, JSON.stringify(webhooks));
  const budgetsFile = path.join(dataDir, "budgets.json");
  await writeFile(budgetsFile, JSON.stringify([{ name: "month", per: "month", maxCostUsd: 200 }]));
  const bridge = await startBridgeProgram(dataDir, {
    BRIDGE_DATABASE_URL: database.urlAt(database.port),
    BRIDGE_ADAPTERS: path.join(import.meta.dirname, "loaded-adapter.ts"),
    BRIDGE_WEBHOOKS_FILE: webhooksFile,
    BRIDGE_BUDGETS_FILE: budgetsFile,
    BRIDGE_PUBLIC_URL: "http://127.0.0.1:8787",
    BRIDGE_CALLBACK_RETRIES: "1",
    BRIDGE_CALLBACK_BACKOFF_MS: "1",
    BRIDGE_LEASE_SECONDS: "12",
  });
  const reader = await bridge.call("GET", "/api/events", undefined, { accept: "text/event-stream" });
  const origins = [receiver.origin, deadOrigin];
  for (const [index, message] of ["fine", "fail", "fine", "fail", "ask", "ask"].entries()) {
    const callbackUrl = `${origins[index % 2]}/callback`;
    const body = { taskId: `task-${index}`, provider: "loaded", agentId: `agent-${index}`, message, callbackUrl };
    const sent = await bridge.call("POST", "/api/v2/dispatch", body, { traceparent: `00-${TRACE_ID}-b7ad6b7169203331-01` });
    expect(sent.status).toBe(202);
  }
  expect((await dispatchTask(bridge, { agentId: "a", provider: "absent", message: "m" })).status).toBe(422);
  await taskInState(bridge, "task-0", "completed");
  await taskInState(bridge, "task-1", "failed");
  await expect.poll(() => receiver.posts.length).toBeGreaterThan(3);
  expect(reader.status).toBe(200);
  return bridge;
}

test("promtool has no remark about the metrics of a Bridge with load", async () => {
  const bridge = await startLoadedBridge();
  const text = await (await bridge.call("GET", "/metrics")).text();
  expect(text).toContain("\nbridge_callback_attempts_total{");
  const checked = await promtool(["check", "metrics"], text);
  expect(checked).toEqual({ exitCode: 0, output: "\n" });
});

test("every query of the dashboard and of the alerts has a result in a Prometheus that scrapes a Bridge with load", async () => {
  const bridge = await startLoadedBridge();
  const prometheus = await startPrometheus({ targets: [new URL(bridge.url).host], token: SHARED_TOKEN });
  const dashboard = readDashboard();
  const queries = [
    ...dashboard.panels.flatMap(({ title, targets = [] }) => targets.map(({ expr }) => ({ title, expr }))),
    ...dashboard.annotations.list.map(({ expr }) => ({ title: "annotation", expr: expr.replace(/ > 0$/, "") })),
  ];
  expect(queries.length).toBeGreaterThan(25);
  const empty = async (): Promise<string[]> => {
    const answers = await Promise.all(
      queries.map(async ({ title, expr }) => {
        const { status, error, data } = await prometheus.query(expr.replaceAll("$__rate_interval", "1m").replaceAll("$instance", ".*"));
        if (status !== "success") throw new Error(`${title}: ${expr}: ${error}`);
        return data?.result.length === 0 ? [`${title}: ${expr}`] : [];
      }),
    );
    return answers.flat();
  };
  await expect.poll(empty).toEqual([]);

  // The dashboard links a slow task with its trace.
  const exemplars = async () =>
    JSON.stringify(await prometheus.get(`/api/v1/query_exemplars?query=bridge_execution_duration_seconds_bucket&start=0&end=${4e9}`));
  await expect.poll(exemplars).toContain(`"trace_id":"${TRACE_ID}"`);

  const { data: rules } = (await prometheus.get("/api/v1/rules?type=alert")) as {
    data: { groups: { rules: { name: string; health: string; lastError?: string }[] }[] };
  };
  const alerts = rules.groups.flatMap((group) => group.rules);
  expect(alerts.length).toBeGreaterThan(15);
  const faulty = async () => {
    const { data } = (await prometheus.get("/api/v1/rules?type=alert")) as { data: typeof rules };
    return data.groups.flatMap((group) => group.rules).filter(({ health }) => health !== "ok");
  };
  await expect.poll(faulty).toEqual([]);
});
