import { writeFile } from "node:fs/promises";
import path from "node:path";
import SqliteDatabase from "better-sqlite3";
import { Client } from "pg";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import {
  type BridgeProgram,
  dispatchTask,
  SHARED_TOKEN,
  shellCommand,
  startBridgeProgram,
  taskInState,
} from "../support/bridge-program.ts";
import { findFreePort } from "../support/find-free-port.ts";
import { createDatabase } from "../support/postgres/create-database.ts";
import { startReceiver } from "../support/start-receiver.ts";
import { askUntil } from "../support/until.ts";
import { createCheckout, runbookCommands, runCommands } from "./runbook-commands.ts";

/** The sections whose commands a test has run. */
const tried = new Set<string>();

interface Operator {
  checkout: string;
  env: Record<string, string>;
}

/** Runs the blocks of a section one after the other, and expects each to succeed. Returns what each has printed. */
async function follow(section: string, { checkout, env }: Operator, values: Record<string, string> = {}): Promise<string[]> {
  tried.add(section);
  const outputs: string[] = [];
  for (const commands of runbookCommands.get(section) ?? []) {
    const { exitCode, output } = await runCommands(commands, { checkout, env: { ...env, ...values } });
    expect({ commands, exitCode, output }).toMatchObject({ exitCode: 0 });
    outputs.push(output);
  }
  expect(outputs).not.toEqual([]);
  return outputs;
}

// biome-ignore lint/suspicious/noExplicitAny: each test asserts the parts of the body that it expects.
const read = async (bridge: BridgeProgram, target: string): Promise<any> => (await bridge.call("GET", target)).json();

describe("a Bridge with faults", () => {
  let bridge: BridgeProgram;
  let operator: Operator;
  let dataDir: string;
  let receiver: Awaited<ReturnType<typeof startReceiver>>;
  /** What the receiver answers: 503 is tried again after an hour, 410 never. */
  let status = 410;
  const ends: (() => unknown)[] = [];

  beforeAll(async () => {
    const { checkout, dataDir: directory } = await createCheckout((act) => void ends.push(act));
    dataDir = directory;
    receiver = await startReceiver((response) => response.writeHead(status).end("Not now."));
    const secrets = [`whsec_${Buffer.alloc(32, 7).toString("base64")}`];
    const webhook = {
      name: "oncall",
      url: `${receiver.origin}/webhook`,
      secrets,
      types: ["execution.failed"],
      filter: { provider: "loaded" },
    };
    await writeFile(path.join(checkout, "webhooks.json"), JSON.stringify([webhook]));
    const budget = { name: "month", scope: { agentId: "spender" }, per: "month", maxCostUsd: 200 };
    await writeFile(path.join(checkout, "budgets.json"), JSON.stringify([budget]));
    bridge = await startBridgeProgram(
      dataDir,
      {
        BRIDGE_ADAPTERS: `command,claude,${path.join(import.meta.dirname, "loaded-adapter.ts")}`,
        ...shellCommand("exec sleep 3600"),
        BRIDGE_MAX_CONCURRENT: "1,loaded=8",
        BRIDGE_QUEUE_LIMIT: "5",
        BRIDGE_CALLBACK_RETRIES: "1",
        BRIDGE_CALLBACK_BACKOFF_MS: "3600000",
        BRIDGE_WEBHOOKS_FILE: path.join(checkout, "webhooks.json"),
        BRIDGE_BUDGETS_FILE: path.join(checkout, "budgets.json"),
        BRIDGE_PUBLIC_URL: "http://127.0.0.1:8787",
        BRIDGE_IDLE_SECONDS: "0",
      },
      (act) => void ends.push(act),
    );
    operator = { checkout, env: { BRIDGE_URL: bridge.url, BRIDGE_TOKEN: await tokenOf(checkout) } };
    await askUntil(
      () => read(bridge, "/api/v2/adapters"),
      ({ data }) => data.every(({ checkedAt }: { checkedAt: string | null }) => checkedAt !== null),
    );
  });
  afterAll(async () => {
    for (const act of ends.toReversed()) await act();
    await receiver.close();
  });

  const dispatch = async (fields: Record<string, unknown>): Promise<void> => {
    const response = await dispatchTask(bridge, { agentId: String(fields["taskId"]), message: "m", provider: "loaded", ...fields });
    expect(response.status).toBe(202);
  };
  const stateOf = async (taskId: string): Promise<string> => (await read(bridge, `/api/v2/tasks/${taskId}`)).state;

  test("the first commands find the token and show readiness, adapters and tasks", async () => {
    tried.add("Before you start");
    const [settings = "", look = ""] = runbookCommands.get("Before you start") ?? [];
    const { output } = await runCommands(`${settings}\necho "$BRIDGE_URL $BRIDGE_TOKEN"`, { checkout: operator.checkout, env: {} });
    expect(output).toBe(`http://127.0.0.1:8787 ${operator.env["BRIDGE_TOKEN"]}`);
    await dispatch({ taskId: "first" });
    const shown = await runCommands(look, operator);
    expect(shown.exitCode).toBe(0);
    for (const text of ['{"status":"ok"}', "claude", "first"]) expect(shown.output).toContain(text);
  });

  test("the check of an offline adapter names the remedy", async () => {
    tried.add("BridgeAdapterOffline");
    const [check = "", ...others] = runbookCommands.get("BridgeAdapterOffline") ?? [];
    expect(others).toEqual([]);
    const { exitCode, output } = await runCommands(check, { ...operator, env: { ...operator.env, PROVIDER: "claude" } });
    expect(exitCode).toBe(1);
    expect(output).toMatch(/npm install|BRIDGE_CLAUDE/);
  });

  test("tasks that hang, wait and fill the queue are found and canceled", async () => {
    await dispatch({ taskId: "hanging", provider: "command" });
    for (const taskId of ["waiting-1", "waiting-2"]) await dispatch({ taskId, provider: "command" });
    for (const taskId of ["wild-1", "wild-2", "wild-3"]) await dispatch({ taskId, agentId: "wild", provider: "command" });
    expect((await dispatchTask(bridge, { agentId: "a", message: "m", provider: "command" })).status).toBe(503);

    const [agents, canceled] = await follow("BridgeQueueFull", operator, { AGENT: "wild" });
    expect(agents).toMatch(/3 .*wild/);
    expect(canceled).toContain("wild-2");
    for (const taskId of ["wild-1", "wild-2", "wild-3"]) expect(await stateOf(taskId)).toBe("cancelled");

    const [stuck] = await follow("BridgeQueueStuck", operator, { PROVIDER: "command" });
    expect(stuck).toContain("hanging");
    expect(stuck).toMatch(/"taskId": ?"waiting-1",\s*"agentId": ?"waiting-1",\s*"queuedBecause": ?"slot"/);

    const [slow] = await follow("BridgeQueueSlow", operator, { PROVIDER: "command", ID: "waiting-1" });
    for (const text of ["hanging", "waiting-2"]) expect(slow).toContain(text);
    expect(await stateOf("waiting-1")).toBe("cancelled");

    const [hang] = await follow("A task hangs", operator, { ID: "hanging" });
    expect(hang).toContain("running");
    expect(await stateOf("hanging")).toBe("cancelled");
    await bridge.call("POST", "/api/v2/tasks/waiting-2/cancel");
  });

  test("tool calls that wait are approved and rejected", async () => {
    for (const taskId of ["ask-1", "ask-2"]) await dispatch({ taskId, message: "ask", approvals: "ask" });
    const pending = async () => (await read(bridge, "/api/v2/approvals?state=pending")).data as { approvalId: string; taskId: string }[];
    await expect.poll(async () => (await pending()).length).toBe(2);
    const idOf = async (taskId: string) => (await pending()).find((one) => one.taskId === taskId)?.approvalId ?? "";
    const [ids, [approve = "", reject = ""]] = [
      [await idOf("ask-1"), await idOf("ask-2")],
      runbookCommands.get("BridgeApprovalWaiting") ?? [],
    ];
    tried.add("BridgeApprovalWaiting");
    const approved = await runCommands(approve, { ...operator, env: { ...operator.env, ID: ids[0] as string } });
    expect(approved).toMatchObject({ exitCode: 0, output: expect.stringContaining(ids[0] as string) });
    expect(await runCommands(reject, { ...operator, env: { ...operator.env, ID: ids[1] as string } })).toMatchObject({ exitCode: 0 });
    for (const taskId of ["ask-1", "ask-2"]) await taskInState(bridge, taskId, "completed");
    const { data } = await read(bridge, "/api/v2/approvals?state=rejected");
    expect(data).toMatchObject([{ taskId: "ask-2", reason: "Not on a Friday." }]);
  });

  test("a budget that is nearly spent is found and adjusted", async () => {
    const [found, adjusted] = await follow("BridgeBudgetNearlySpent", operator, { BUDGET: "month", USD: "12.5" });
    expect(found).toMatch(/month/);
    expect(adjusted).toContain("month");
    expect((await read(bridge, "/api/v2/budgets")).data).toMatchObject([{ name: "month", spentUsd: 12.5 }]);
  });

  test("callbacks and webhooks that failed are found and redelivered", async () => {
    const callbackUrl = `${receiver.origin}/callback`;
    status = 503;
    await dispatch({ taskId: "owing", callbackUrl });
    await expect.poll(async () => (await read(bridge, "/api/v2/callbacks/owing")).attempts).toBe(1);
    const [pending] = await follow("BridgeCallbackPending", operator, { ID: "owing" });
    for (const text of ["owing", "http_503", "Not now."]) expect(pending).toContain(text);

    status = 410;
    for (const taskId of ["lost-1", "lost-2"]) await dispatch({ taskId, message: "fail", callbackUrl });
    const states = async (state: string) =>
      (await read(bridge, `/api/v2/callbacks?state=${state}`)).data.map((one: { taskId: string }) => one.taskId);
    await expect.poll(async () => (await states("dead")).toSorted()).toEqual(["lost-1", "lost-2"]);
    const deliveries = async () => (await read(bridge, "/api/v2/webhooks/oncall/deliveries?state=dead")).data as { deliveryId: string }[];
    await expect.poll(async () => (await deliveries()).length).toBe(2);

    status = 200;
    const [dead, redelivered] = await follow("BridgeCallbackDead", operator, { ID: "lost-1", ORIGIN: receiver.origin });
    for (const text of ["lost-1", "lost-2", "410", "Not now."]) expect(dead).toContain(text);
    expect(redelivered).toContain("2");
    await expect.poll(async () => (await states("delivered")).toSorted()).toEqual(["lost-1", "lost-2"]);
    // A clock that was wrong leaves dead callbacks, too.
    await follow("The clock of the host was set", operator, { ORIGIN: receiver.origin });

    const [id = ""] = (await deliveries()).map(({ deliveryId }) => deliveryId);
    const [listed] = await follow("BridgeWebhookDead", operator, { WEBHOOK: "oncall", ID: id });
    expect(listed).toContain(id);
    await expect.poll(async () => (await deliveries()).length).toBe(1);
  });

  test("the connected readers, the disk and the use of the CPU are shown", async () => {
    const stream = await bridge.call("GET", "/api/events", undefined, { accept: "text/event-stream" });
    const [readers] = await follow("BridgeSlowReaders", operator);
    expect(readers).toContain("bridge_sse_clients 1");
    expect(readers).toContain("bridge_websocket_cut_off_total 0");
    await stream.body?.cancel();
    const [disk] = await follow("BridgeDiskAlmostFull", operator);
    expect(disk).toMatch(/data\/bridge\.db$/m);
    const [processes] = await follow("BridgeEventLoopDelay", operator);
    expect(processes).toContain("load average");
  });

  test("a database that cannot be written is shown as not ready, and as ready afterwards", async () => {
    // For Bridge, a writer that holds the lock has the same effect as a full disk.
    const blocker = new SqliteDatabase(path.join(dataDir, "bridge.db"), { timeout: 0 });
    await expect
      .poll(() => {
        try {
          return blocker.exec("BEGIN IMMEDIATE").inTransaction;
        } catch {
          return false;
        }
      })
      .toBe(true);
    const [fault] = await follow("BridgeStorageFault", operator);
    expect(fault).toContain("storage_unavailable");
    blocker.exec("ROLLBACK");
    blocker.close();
    const readiness = async () => (await follow("BridgeStorageFault", operator))[0];
    await expect.poll(readiness).toContain('{"status":"ok"}');
  });
});

test("a Bridge that was killed is found, and its interrupted tasks are listed after the restart", async () => {
  const { checkout, dataDir } = await createCheckout();
  const environment = shellCommand("exec sleep 3600");
  const first = await startBridgeProgram(dataDir, environment);
  const token = await tokenOf(checkout);
  await dispatchTask(first, { taskId: "interrupted", agentId: "a", message: "m" });
  await taskInState(first, "interrupted", "running");
  first.signal("SIGKILL");
  await first.exited;
  tried.add("BridgeDown");
  const [probe = "", list = ""] = runbookCommands.get("BridgeDown") ?? [];
  const look = async (url: string, bearer: string) =>
    (await runCommands(probe, { checkout, env: { BRIDGE_URL: url, BRIDGE_TOKEN: bearer } })).output.match(/^\d{3}$/gm);
  expect(await look(first.url, token)).toEqual(["000", "000"]);

  const second = await startBridgeProgram(dataDir, environment);
  expect(await look(second.url, token)).toEqual(["200", "200"]);
  expect(await look(second.url, "another-token")).toEqual(["200", "401"]);
  const listed = await runCommands(list, { checkout, env: { BRIDGE_URL: second.url, BRIDGE_TOKEN: token } });
  expect(listed).toMatchObject({ exitCode: 0, output: expect.stringContaining("interrupted") });
});

test("a lost node, an unreachable database, a wrong clock and a long transaction are found", async () => {
  const database = await createDatabase();
  const url = database.urlAt(database.port);
  const start = async (name: string, more: Record<string, string> = {}) =>
    startBridgeProgram((await createCheckout()).dataDir, {
      BRIDGE_DATABASE_URL: url,
      BRIDGE_NODE_NAME: name,
      BRIDGE_LEASE_SECONDS: "5",
      ...more,
    });
  const shiftClock = path.resolve(import.meta.dirname, "../cluster/shift-clock.ts");
  const [first, second] = await Promise.all([
    start("node-1", { NODE_OPTIONS: `--import=${shiftClock}`, TEST_CLOCK_SHIFT_MS: "3600000" }),
    start("node-2"),
  ]);
  const { checkout } = await createCheckout();
  const operator = { checkout, env: { BRIDGE_URL: first.url, BRIDGE_TOKEN: SHARED_TOKEN, BRIDGE_DATABASE_URL: url } };
  const metric = async (name: string): Promise<number> =>
    Number(
      (await (await first.call("GET", "/metrics")).text())
        .split("\n")
        .find((line) => line.startsWith(`${name} `))
        ?.split(" ")[1],
    );

  await expect.poll(() => metric("bridge_clock_skew_seconds")).toBeGreaterThan(3500);
  const [clocks = ""] = await follow("BridgeClockSkew", operator);
  expect(clocks.match(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d$/gm)).toHaveLength(2);

  second.signal("SIGKILL");
  // The list of nodes is read once a second.
  const [find = ""] = runbookCommands.get("BridgeNodeLost") ?? [];
  await expect.poll(async () => (await runCommands(find, operator)).output).toMatch(/"name":"node-2"[^}]*"state":"gone"/);
  const forget = async () => (await follow("BridgeNodeLost", operator, { NODE: "node-2" }))[1];
  await expect.poll(forget).toBe("204");
  await expect.poll(async () => (await (await first.call("GET", "/metrics")).text()).includes('bridge_nodes{state="gone"} 0')).toBe(true);

  const [answer] = await follow("BridgeLeaseOld", operator);
  expect(answer).toMatch(/^f\|\d+$/);
  const [query = ""] = runbookCommands.get("BridgeLeaseOld") ?? [];
  const unreachable = `postgres://bridge@127.0.0.1:${await findFreePort()}/bridge`;
  expect((await runCommands(query, { checkout, env: { BRIDGE_DATABASE_URL: unreachable } })).exitCode).not.toBe(0);

  const report = new Client({ connectionString: url });
  await report.connect();
  onTestFinished(() => report.end());
  await report.query("BEGIN");
  await report.query("SELECT 'a long report'");
  const [transactions] = await follow("BridgeTailLag", operator);
  expect(transactions).toContain("a long report");
  await report.query("COMMIT");
});

test("every section with commands was tried", () => {
  const sections = [...runbookCommands].filter(([, blocks]) => blocks.length > 0).map(([section]) => section);
  expect(sections.length).toBeGreaterThan(18);
  expect([...tried].toSorted()).toEqual(sections.toSorted());
});

async function tokenOf(checkout: string): Promise<string> {
  return (await runCommands("cat data/token", { checkout, env: {} })).output;
}
