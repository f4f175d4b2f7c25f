import { mkdirSync } from "node:fs";
import path from "node:path";
import { type CouncilReport, createSpending, shareEvenly } from "bridge-council";
import { expect, onTestFinished, test } from "vitest";
import type { AdapterConfig, ExecutionAdapter } from "#contract";
import { createDeepCouncilAdapter } from "../../../adapters/council/index.ts";
import { createAdapterConfig } from "../../conformance/adapter-config.ts";
import { startTask } from "../../runtimes/start-task.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";

const outputs = [{ type: "finding", severity: "HIGH", title: "Tokens never expire", description: "They do not." }];
const cross_domain_signals = Array.from({ length: 20 }, (_, index) => ({ domain: `field ${index}`, reason: "It may matter." }));

/** Answers in prose first, so that the question is repeated, and then requests many domains. */
const greedy = (message: string): string =>
  message.includes("contained no valid JSON") ? JSON.stringify({ outputs, cross_domain_signals }) : "Well, let me think about that.";

test("extra questions of one runtime do not use up the share of another or of the debate", async () => {
  const root = await temporaryDirectory();
  const runChild: AdapterConfig["runChild"] = async ({ provider, message }) => {
    for (let turn = 0; turn < (provider === "modest" ? 50 : 1); turn += 1) await new Promise(setImmediate);
    const output = provider === "greedy" ? greedy(message) : JSON.stringify({ outputs });
    return { status: "ok", output, durationMs: 1, connection: "cli" };
  };
  const capabilities = { sessionResume: false } as never;
  const adapter = createDeepCouncilAdapter() as Required<ExecutionAdapter>;
  onTestFinished(() => adapter.shutdown());
  await adapter.initialize(
    createAdapterConfig(root, {
      // The plan: two rounds of three roles for each runtime, and two rounds of three roles in the debate.
      settings: { maxRuns: 18 },
      runChild,
      describeProvider: () => ({ health: "healthy", connection: "cli", path: null, detail: null, capabilities, timeoutMultiplier: 1 }),
    }),
  );
  const directories = { workspace: root, cwd: root, home: path.join(root, "home"), tmp: path.join(root, "tmp") };
  mkdirSync(directories.home);
  const bridgeInput = {
    scope: "login.ts",
    task_description: "Review it.",
    task_type: "review",
    domains: ["security"],
    providers: ["greedy", "modest"],
  };
  const { result } = await startTask(adapter, directories, { bridgeInput }).done;
  const report = result.outputs as unknown as CouncilReport;
  const lost = (roles: readonly { answered: boolean; reason: string | null }[] = []) => roles.filter(({ answered }) => !answered);
  expect(lost(report.bridge_reports.find(({ bridge }) => bridge === "modest")?.roles)).toEqual([]);
  expect(report.roles.length).toBeGreaterThan(0);
  expect(lost(report.roles).filter(({ reason }) => reason?.includes("no further run is allowed"))).toEqual([]);
});

test("a share is the plan plus an even part of the rest, and released questions are available to all", () => {
  const all = createSpending(20);
  const [left, right] = shareEvenly(all, [4, 10]);
  const takes = (of: { take(): boolean } | undefined): number => {
    let taken = 0;
    while (of?.take() === true) taken += 1;
    return taken;
  };
  expect([left?.left, right?.left, all.left]).toEqual([7, 13, 0]);
  expect(right?.take()).toBe(true);
  right?.release();
  // The other share also gets the released questions.
  expect(takes(left)).toBe(19);
  expect([takes(all), all.runs, all.left]).toEqual([0, 20, 0]);

  const tight = createSpending(3);
  const [first, second] = shareEvenly(tight, [2, 2]);
  expect([takes(first), takes(second), tight.runs]).toEqual([2, 1, 3]);
});
