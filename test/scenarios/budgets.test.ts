import { rename, writeFile } from "node:fs/promises";
import path from "node:path";
import SqliteDatabase from "better-sqlite3";
import { expect, onTestFinished, test } from "vitest";
import { startBridgeApp } from "../support/bridge-app.ts";
import { type BridgeProgram, dispatchTask, shellCommand, startBridgeProgram, taskInState } from "../support/bridge-program.ts";
import { startReceiver } from "../support/start-receiver.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";

const jumpClock = path.resolve(import.meta.dirname, "../support/jump-clock.ts");

/** Reports each number of the prompt as a cost, and waits at `wait`, or at `gate` for the file GATE. */
const script = `for word in $(sed 's/.*"message":"\\([^"]*\\)".*/\\1/'); do case $word in
  wait) sleep 1000 ;;
  gate) while [ ! -e "$GATE" ]; do sleep 0.05; done ;;
  0.*) echo '{"type":"usage.reported","usage":{"inputTokens":10,"outputTokens":0},"costUsd":'"$word"'}' ;;
esac; done; echo '{"type":"result","status":"ok","output":"done"}'`;

async function writeBudgets(budgets: unknown) {
  const dataDir = await temporaryDirectory();
  const file = path.join(dataDir, "budgets.json");
  const write = async (content: unknown) => {
    await writeFile(`${file}.new`, JSON.stringify(content));
    await rename(`${file}.new`, file);
  };
  await write(budgets);
  return { dataDir, write, settings: { ...shellCommand(script), BRIDGE_BUDGETS_FILE: file } };
}

async function start(budgets: unknown, more: Record<string, string> = {}) {
  const { dataDir, write, settings } = await writeBudgets(budgets);
  return { ...(await startBridgeApp(dataDir, { ...settings, ...more })), write };
}

async function startProgram(budgets: unknown, more: Record<string, string> = {}) {
  const { dataDir, write, settings } = await writeBudgets(budgets);
  return { ...(await startBridgeProgram(dataDir, { ...settings, ...more })), dataDir, write, settings };
}

const dispatch = (bridge: Pick<BridgeProgram, "call">, taskId: string, message: string, fields: object = {}) =>
  dispatchTask(bridge, { agentId: "coder", taskId, message, ...fields });
const readBudget = async (bridge: Pick<BridgeProgram, "call">) =>
  ((await (await bridge.call("GET", "/api/v2/budgets")).json()) as { data: Record<string, unknown>[] }).data[0];
const read = async (bridge: Pick<BridgeProgram, "call">, taskId: string) =>
  (await (await bridge.call("GET", `/api/v2/tasks/${taskId}`)).json()) as Record<string, unknown>;

test("a task that reaches the maximum of its dispatch is stopped, and keeps what it has spent", async () => {
  const bridge = await start([]);
  expect((await dispatch(bridge, "t", "0.3 0.25 wait", { budget: { maxCostUsd: 0.5 } })).status).toBe(202);
  const { result } = (await taskInState(bridge, "t", "failed")) as { result: Record<string, unknown> };
  expect(result).toMatchObject({
    ...{ errorCode: "budget_exceeded", costUsd: 0.55, costSource: "runtime", usage: { inputTokens: 20, outputTokens: 0 } },
    error: "The task has spent 0.55 US dollars, and its budget permits 0.5.",
  });
});

test("a task that waits for a budget starts when an earlier one ends, and tasks without a budget pass it", async () => {
  const scope = { "label.job": "nightly" };
  const bridge = await start([{ name: "nightly", scope, per: "month", maxCostUsd: 1, whenReached: "wait" }]);
  const labels = { job: "nightly" };
  await dispatch(bridge, "first", "0.2 wait", { labels });
  await taskInState(bridge, "first", "running");
  await dispatch(bridge, "second", "0.3", { labels, budget: { maxCostUsd: 0.5 } });
  await dispatch(bridge, "other", "0.1");
  await taskInState(bridge, "other", "completed");
  const waiting = { state: "queued", waitingOn: "budget", queuedBecause: "budget", waitingForBudgets: ["nightly"] };
  await expect.poll(() => read(bridge, "second")).toMatchObject(waiting);
  expect(await read(bridge, "first")).toMatchObject({ waitingForBudgets: [] });
  await expect.poll(() => readBudget(bridge)).toMatchObject({ spentUsd: 0.2, reservedUsd: 0.8, waitingTasks: 1, state: "ok", scope });
  await bridge.call("POST", "/api/v2/tasks/first/cancel");
  await taskInState(bridge, "second", "completed");
  expect(await readBudget(bridge)).toMatchObject({ spentUsd: 0.5, reservedUsd: 0, waitingTasks: 0 });
});

test("an exhausted budget rejects a dispatch until the next period, and an adjustment makes room", async () => {
  const bridge = await start([{ name: "day", per: "day", maxCostUsd: 0.5 }]);
  await dispatch(bridge, "first", "0.5");
  await taskInState(bridge, "first", "completed");
  const rejected = await dispatch(bridge, "second", "0.1");
  expect([rejected.status, ((await rejected.json()) as { code: string }).code]).toEqual([429, "budget_exhausted"]);
  expect(await readBudget(bridge)).toMatchObject({ state: "reached", spentUsd: 0.5 });
  expect(Number(rejected.headers.get("retry-after"))).toBeGreaterThan(0);
  const tooLarge = await dispatch(bridge, "large", "0.1", { budget: { maxCostUsd: 0.6 } });
  expect(await tooLarge.json()).toMatchObject({ status: 422, code: "budget_too_small", errors: [{ path: "budget.maxCostUsd" }] });

  const adjusted = await bridge.call("POST", "/api/v2/budgets/day/adjust", { spentUsd: 0, reason: "A price was wrong." });
  expect(await adjusted.json()).toMatchObject({ name: "day", spentUsd: 0, state: "ok" });
  expect((await bridge.call("POST", "/api/v2/budgets/other/adjust", { spentUsd: 0, reason: "x" })).status).toBe(404);
  expect((await dispatch(bridge, "second", "0.1")).status).toBe(202);
  await taskInState(bridge, "second", "completed");
  expect(await readBudget(bridge)).toMatchObject({ spentUsd: 0.1 });
});

test("a task that spends more than it has reserved is stopped when the budget has no room left, and others go on", async () => {
  const bridge = await start([{ name: "day", per: "day", maxCostUsd: 2, warnAt: [0.5] }], { BRIDGE_BUDGET_RESERVE_USD: "1" });
  await dispatch(bridge, "calm", "0.9 wait");
  await expect.poll(() => readBudget(bridge)).toMatchObject({ spentUsd: 0.9 });
  await dispatch(bridge, "greedy", "0.9 0.3 wait");
  const { result } = (await taskInState(bridge, "greedy", "failed")) as { result: Record<string, unknown> };
  expect(result).toMatchObject({
    errorCode: "budget_exceeded",
    error: "The budget day has no room for what the task spends.",
    costUsd: 1.2,
  });
  expect(await read(bridge, "calm")).toMatchObject({ state: "running" });
  expect(await readBudget(bridge)).toMatchObject({ spentUsd: 2.1, state: "reached" });
  const events = await (await bridge.call("GET", "/api/v2/tasks/greedy/events")).text();
  expect(events).toContain('"type":"budget.warning"');
  await bridge.call("POST", "/api/v2/tasks/calm/cancel");
  await taskInState(bridge, "calm", "cancelled");
});

test("a budget for each task stops the tasks that it applies to", async () => {
  const bridge = await start([{ name: "each", scope: { agentId: "coder" }, per: "task", maxCostUsd: 0.2 }]);
  await dispatch(bridge, "t", "0.3 wait");
  const { result } = (await taskInState(bridge, "t", "failed")) as { result: Record<string, unknown> };
  expect(result).toMatchObject({
    errorCode: "budget_exceeded",
    error: "The task has spent 0.3 US dollars, and the budget each permits 0.2.",
  });
  expect(await readBudget(bridge)).toMatchObject({ per: "task", periodStart: null, spentUsd: 0 });
});

test("budgets and reservations survive a crash: what was metered counts as spent", async () => {
  const budgets = [{ name: "day", per: "day", maxCostUsd: 5 }];
  const first = await startProgram(budgets);
  await dispatch(first, "metered", "0.4 wait");
  await dispatch(first, "silent", "wait");
  await expect.poll(() => readBudget(first)).toMatchObject({ spentUsd: 0.4, reservedUsd: 1.6 });
  first.signal("SIGKILL");
  await first.exited;
  const second = await startBridgeProgram(first.dataDir, first.settings);
  await taskInState(second, "metered", "failed");
  expect(await readBudget(second)).toMatchObject({ spentUsd: 1.4, reservedUsd: 0, estimatedUsd: 1 });
});

/** Starts a task in a budget with room for it, and dispatches a second one `leadMs` before the end of the month. */
async function dispatchBeforeEnd(leadMs: number) {
  const gate = path.join(await temporaryDirectory(), "gate");
  const now = new Date();
  const end = Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1);
  const month = { name: "month", per: "month", maxCostUsd: 1, whenReached: "wait" };
  const bridge = await startProgram([month], {
    NODE_OPTIONS: `--import=${jumpClock}`,
    TEST_CLOCK_TARGET_MS: String(end - leadMs),
    BRIDGE_COMMAND_ENV: "GATE",
    GATE: gate,
  });
  await dispatch(bridge, "first", "0.4 gate 0.2");
  await expect.poll(() => read(bridge, "first")).toMatchObject({ costUsd: 0.4 });
  bridge.signal("SIGWINCH");
  // Bridge reads the clock again when it reads the file, and otherwise within a minute.
  await bridge.write([{ ...month, warnAt: [0.9] }]);
  await dispatch(bridge, "second", "0.3", { budget: { maxCostUsd: 0.8 } });
  const { createdAt } = await read(bridge, "second");
  return { bridge, gate, end, isBefore: Date.parse(String(createdAt)) < end };
}

test("a task that waits for a budget starts in the next period, and a task that runs meanwhile counts in the period of its start", async () => {
  let started = await dispatchBeforeEnd(4_000);
  // A busy machine can need longer for the dispatch.
  for (let leadMs = 8_000; !started.isBefore; leadMs *= 2) {
    // Ends the program of the first task.
    await writeFile(started.gate, "");
    started = await dispatchBeforeEnd(leadMs);
  }
  const { bridge, gate, end } = started;
  const second = await taskInState(bridge, "second", "completed", 120_000);
  expect(Date.parse(String(second["startedAt"]))).toBeGreaterThanOrEqual(end);
  expect(await read(bridge, "first")).toMatchObject({ state: "running" });
  expect(await readBudget(bridge)).toMatchObject({ spentUsd: 0.3, reservedUsd: 0 });
  await writeFile(gate, "");
  expect(await taskInState(bridge, "first", "completed")).toMatchObject({ costUsd: 0.6 });
  expect(await readBudget(bridge)).toMatchObject({ spentUsd: 0.3, reservedUsd: 0 });
  const database = new SqliteDatabase(path.join(bridge.dataDir, "bridge.db"), { readonly: true });
  const periods = database.prepare("SELECT spent_micros, reserved_micros FROM budget_period ORDER BY starts_at").all();
  database.close();
  expect(periods).toEqual([
    { spent_micros: 600_000, reserved_micros: 0 },
    { spent_micros: 300_000, reserved_micros: 0 },
  ]);
});

test("webhooks report a threshold that is reached, and an adjustment", async () => {
  const receiver = await startReceiver((response) => response.writeHead(200).end());
  onTestFinished(() => receiver.close());
  const directory = await temporaryDirectory();
  const webhooksFile = path.join(directory, "webhooks.json");
  const secrets = [`whsec_${Buffer.alloc(32, 7).toString("base64")}`];
  const webhook = { name: "money", url: `${receiver.origin}/`, secrets, types: ["budget.warning", "budget.adjusted"] };
  await writeFile(webhooksFile, JSON.stringify([webhook]));
  const bridge = await start([{ name: "day", per: "day", maxCostUsd: 1, warnAt: [0.5] }], {
    BRIDGE_WEBHOOKS_FILE: webhooksFile,
    BRIDGE_PUBLIC_URL: "http://127.0.0.1:8787",
  });
  await dispatch(bridge, "t", "0.6");
  await bridge.call("POST", "/api/v2/budgets/day/adjust", { spentUsd: 0.25, reason: "A price was wrong." });
  const bodies = () => receiver.posts.map(({ body }) => JSON.parse(String(body)) as { type: string; data: Record<string, unknown> });
  await expect
    .poll(() =>
      bodies()
        .map(({ type }) => type)
        .toSorted(),
    )
    .toEqual(["budget.adjusted", "budget.warning"]);
  const adjusted = {
    budget: "day",
    spentUsd: 0.25,
    by: "gateway-token-1",
    reason: "A price was wrong.",
    url: "http://127.0.0.1:8787/ui/usage",
  };
  expect(bodies().find(({ type }) => type === "budget.adjusted")?.data).toEqual(adjusted);
});

test("the faults of a budgets file are logged, and the previous budgets stay in force", async () => {
  const bridge = await start([{ name: "day", per: "day", maxCostUsd: 5 }]);
  await bridge.write([{ name: "day", per: "week", maxCostUsd: -1 }]);
  await expect.poll(() => bridge.log.find(({ msg }) => String(msg).startsWith("budgets file is not valid"))?.["faults"]).toHaveLength(2);
  expect(await readBudget(bridge)).toMatchObject({ name: "day", per: "day" });
  const ready = await (await bridge.call("GET", "/readyz")).json();
  expect(ready).toEqual({ status: "ok", warnings: ["BRIDGE_BUDGETS_FILE: 2 fault(s), previous budgets stay in force"] });
  await bridge.write([]);
  await expect.poll(async () => (await bridge.call("GET", "/readyz")).json()).toEqual({ status: "ok" });
});
