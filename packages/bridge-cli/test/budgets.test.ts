import { writeFile } from "node:fs/promises";
import path from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { startBridge } from "../../../test/support/start-bridge.ts";
import { temporaryDirectory } from "../../../test/support/temporary-directory.ts";
import { accessTo, runCli, runOnTerminal } from "./start-cli.ts";

test("budgets lists and adjusts budgets, and dispatch sets the maximum of a task", async () => {
  const file = path.join(await temporaryDirectory(), "budgets.json");
  await writeFile(file, JSON.stringify([{ name: "day", scope: { tenant: "alpha" }, per: "day", maxCostUsd: 50 }]));
  const bridge = await startBridge({ BRIDGE_BUDGETS_FILE: file });
  onTestFinished(() => bridge.close());
  const run = (...args: string[]) => runCli(args, { env: accessTo(bridge) });

  const listed = await run("budgets");
  expect(listed.stdout.split("\t").slice(0, 6)).toEqual(["day", "ok", "0", "0", "0", "50"]);
  const adjusted = await run("budgets", "adjust", "day", "42.5", "--reason", "A price was wrong.", "--json");
  expect(JSON.parse(adjusted.stdout)).toMatchObject([{ name: "day", spentUsd: 42.5, state: "warning" }]);
  const shown = await runOnTerminal(["budgets"], { env: accessTo(bridge) });
  expect(shown.shown).toMatch(/day.*#{8,9}-{1,2} 85 %/s);
  expect(await run("budgets", "adjust", "day", "1")).toMatchObject({ exitCode: 2, stderr: expect.stringContaining("--reason") });
  expect(await run("budgets", "adjust", "other", "1", "--reason", "x")).toMatchObject({ exitCode: 5 });

  await run("dispatch", "-a", "writer", "-p", "memory", "--id", "capped", "--max-cost", "2.5", "--max-tokens", "1000", "hello");
  const { body } = await bridge.call("GET", "/api/v2/tasks/capped/request");
  expect(body.request.budget).toEqual({ maxCostUsd: 2.5, maxTokens: 1000, onReached: "stop", onUnknownCost: "reserve" });
  expect((await run("dispatch", "-a", "writer", "--max-cost", "free", "x")).exitCode).toBe(2);
});
