import { writeFile } from "node:fs/promises";
import path from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { startBridge } from "../../../test/support/start-bridge.ts";
import { temporaryDirectory } from "../../../test/support/temporary-directory.ts";
import { askUntil } from "../../../test/support/until.ts";
import { accessTo, runCommand, runOnTerminal, startOnTerminal } from "./start-cli.ts";

test("budgets lists and adjusts budgets, and dispatch sets the maximum of a task", async () => {
  const file = path.join(await temporaryDirectory(), "budgets.json");
  await writeFile(file, JSON.stringify([{ name: "day", scope: { tenant: "alpha" }, per: "day", maxCostUsd: 50 }]));
  const bridge = await startBridge({ BRIDGE_BUDGETS_FILE: file });
  onTestFinished(() => bridge.close());
  const run = (...args: string[]) => runCommand(args, { env: accessTo(bridge) });

  const listed = await run("budgets");
  expect(listed.stdout.split("\t").slice(0, 6)).toEqual(["day", "ok", "0", "0", "0", "50"]);
  const adjusted = await run("budgets", "adjust", "day", "42.5", "--reason", "A price was wrong.", "--json");
  expect(JSON.parse(adjusted.stdout)).toMatchObject([{ name: "day", spentUsd: 42.5, state: "warning" }]);
  const shown = await runOnTerminal(["budgets"], { env: accessTo(bridge) });
  expect(shown.shown).toMatch(/day.*#{8,9}-{1,2} 85 %/s);
  expect(await run("budgets", "adjust", "day", "1")).toMatchObject({ exitCode: 2, stderr: expect.stringContaining("--reason") });
  expect(await run("budgets", "adjust", "other", "1", "--reason", "x")).toMatchObject({ exitCode: 5 });

  await run(
    "dispatch",
    "-a",
    "writer",
    "-p",
    "memory",
    "--id",
    "capped",
    "--max-cost",
    "2.5",
    "--max-tokens",
    "1000",
    "--when-limited",
    "wait",
    "hello",
  );
  const { body } = await bridge.call("GET", "/api/v2/tasks/capped/request");
  expect(body.request).toMatchObject({
    budget: { maxCostUsd: 2.5, maxTokens: 1000, onReached: "stop", onUnknownCost: "reserve" },
    whenLimited: "wait",
  });
  expect((await run("dispatch", "-a", "writer", "--max-cost", "free", "x")).exitCode).toBe(2);
});

test("approve --raise and the answer y with an amount raise the maximum of a task", async () => {
  const bridge = await startBridge();
  onTestFinished(() => bridge.close());
  const env = accessTo(bridge);
  const listApprovals = async (taskId: string, state: string) =>
    (await bridge.call("GET", `/api/v2/approvals?state=${state}&taskId=${taskId}`)).body.data;
  const spend = (taskId: string) => bridge.dispatch({ taskId, message: "spend", budget: { maxCostUsd: 0.5, onReached: "ask" } });
  const outputOf = async (taskId: string) => {
    const isEnded = ({ body }: { body: { state: string } }) => body.state === "completed";
    return (await askUntil(() => bridge.call("GET", `/api/v2/tasks/${taskId}`), isEnded)).body.result.output;
  };

  await spend("raised-1");
  await expect.poll(() => listApprovals("raised-1", "pending")).toHaveLength(1);
  const [{ approvalId }] = await listApprovals("raised-1", "pending");
  expect(await runCommand(["approve", approvalId, "--raise", "free"], { env })).toMatchObject({ exitCode: 2 });
  const decided = await runCommand(["approve", approvalId, "--raise", "2.5"], { env });
  expect(decided).toMatchObject({ exitCode: 0, stdout: expect.stringMatching(/^raised by\t2\.5$/m) });
  expect(await listApprovals("raised-1", "approved")).toMatchObject([{ approvalId, raiseByUsd: 2.5, reason: null }]);
  expect(await outputOf("raised-1")).toBe("allowed");

  const terminal = await startOnTerminal(["approvals", "watch"], { env });
  expect(
    (await runCommand(["dispatch", "-a", "writer", "-p", "narrow", "--max-cost", "1", "--on-reached", "ask", "x"], { env })).stderr,
  ).toContain("--on-reached (budget.onReached)");
  const asking = ["--id", "asked-1", "--detach", "--max-cost", "0.5", "--on-reached", "ask", "spend"];
  expect(await runCommand(["dispatch", "-a", "writer", "-p", "memory", ...asking], { env })).toMatchObject({ exitCode: 0 });
  await terminal.waitFor(/has spent 0\.60 of 0\.50 USD/);
  terminal.type("y 2.5\n");
  await terminal.waitFor(/Approved\./);
  expect(await listApprovals("asked-1", "approved")).toMatchObject([{ raiseByUsd: 2.5, reason: null }]);
  expect(await outputOf("asked-1")).toBe("allowed");
});
