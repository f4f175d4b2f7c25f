import { writeFile } from "node:fs/promises";
import path from "node:path";
import SqliteDatabase from "better-sqlite3";
import { expect, test } from "vitest";
import { type BridgeProgram, dispatchTask, shellCommand, startBridgeProgram, taskInState } from "../support/bridge-program.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";

const familyAdapter = path.resolve(import.meta.dirname, "family-adapter.ts");
/** Reports each number of the prompt as a cost, one after `+` only if the file GATE exists, and waits at `gate` for that file. */
const script = `for word in $(sed 's/.*"message":"\\([^"]*\\)".*/\\1/'); do case $word in
  gate) while [ ! -e "$GATE" ]; do sleep 0.05; done ;;
  +0.*) [ ! -e "$GATE" ] || echo '{"type":"usage.reported","usage":{"inputTokens":10,"outputTokens":0},"costUsd":'"\${word#+}"'}' ;;
  0.*) echo '{"type":"usage.reported","usage":{"inputTokens":10,"outputTokens":0},"costUsd":'"$word"'}' ;;
esac; done; echo '{"type":"result","status":"ok","output":"done"}'`;

const budgetOf = async (bridge: BridgeProgram) =>
  ((await (await bridge.call("GET", "/api/v2/budgets")).json()) as { data: Record<string, unknown>[] }).data[0];

test("spending of child tasks before kill -9 counts once in parents and budgets, also after a retry of the parent", async () => {
  const dataDir = await temporaryDirectory();
  const [file, gate] = [path.join(dataDir, "budgets.json"), path.join(dataDir, "gate")];
  await writeFile(file, JSON.stringify([{ name: "all", per: "month", maxCostUsd: 20 }]));
  const settings = {
    BRIDGE_ADAPTERS: `command,${familyAdapter}`,
    ...shellCommand(script),
    BRIDGE_COMMAND_ENV: "GATE",
    GATE: gate,
    BRIDGE_BUDGETS_FILE: file,
    BRIDGE_BUDGET_RESERVE_USD: "5",
  };
  const first = await startBridgeProgram(dataDir, settings);
  for (const onInterrupt of ["fail", "retry"]) {
    const fields = { taskId: onInterrupt, agentId: onInterrupt, onInterrupt, provider: "family", message: "0.25,0.5 gate" };
    expect((await dispatchTask(first, fields)).status).toBe(202);
  }
  await expect.poll(() => budgetOf(first)).toMatchObject({ spentUsd: 1.5, reservedUsd: 8.5 });
  first.signal("SIGKILL");
  await first.exited;
  // As if the kill had come after the reports of the children, and before their parents had counted them.
  const database = new SqliteDatabase(path.join(dataDir, "bridge.db"));
  database.exec("UPDATE task_budget SET settled_micros = 0; UPDATE budget_period SET spent_micros = 0");
  database.close();
  await writeFile(gate, "");

  const second = await startBridgeProgram(dataDir, settings);
  const failed = (await taskInState(second, "fail", "failed")) as { result: Record<string, unknown> };
  expect(failed.result).toMatchObject({ errorCode: "bridge_restarted", costUsd: 0.75 });
  const retried = (await taskInState(second, "retry", "completed")) as { result: Record<string, unknown> };
  // Its children have run twice.
  expect(retried.result).toMatchObject({ costUsd: 1.5 });
  expect(await budgetOf(second)).toMatchObject({ spentUsd: 2.25, reservedUsd: 0, estimatedUsd: 0 });
  const stats = (await (await second.call("GET", "/api/v2/stats?by=provider")).json()) as { total: object };
  expect(stats.total).toMatchObject({ costUsd: 2.25 });
});

test("the cost of a retried parent is unknown if a child of its first run has completed without a cost", async () => {
  const dataDir = await temporaryDirectory();
  const gate = path.join(dataDir, "gate");
  const settings = { BRIDGE_ADAPTERS: `command,${familyAdapter}`, ...shellCommand(script), BRIDGE_COMMAND_ENV: "GATE", GATE: gate };
  const first = await startBridgeProgram(dataDir, settings);
  for (const [taskId, message] of Object.entries({ known: "0.25,0.5 gate", unknown: "+0.25,0.5 gate" }))
    expect((await dispatchTask(first, { taskId, agentId: taskId, onInterrupt: "retry", provider: "family", message })).status).toBe(202);
  const gated = async () => {
    const { data } = (await (await first.call("GET", "/api/v2/tasks?provider=command&state=running")).json()) as {
      data: { costUsd: unknown }[];
    };
    return data.map(({ costUsd }) => costUsd);
  };
  await expect.poll(gated).toEqual([0.5, 0.5]);
  first.signal("SIGKILL");
  await first.exited;
  await writeFile(gate, "");

  const second = await startBridgeProgram(dataDir, settings);
  const known = (await taskInState(second, "known", "completed")) as { result: Record<string, unknown> };
  expect(known.result).toMatchObject({ costUsd: 1.5 });
  const unknown = (await taskInState(second, "unknown", "completed")) as { result: Record<string, unknown> };
  expect(unknown.result).not.toHaveProperty("costUsd");
});
