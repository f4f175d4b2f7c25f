import { existsSync } from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Connection } from "#contract";
import { type CellBench, markedProcesses, openCellBench } from "./table/cell-bench.ts";
import { expectProcessesEnded } from "./table/processes.ts";
import type { Runtime } from "./table/runtimes.ts";

/** An approval, as the API returns it. */
interface ListedApproval {
  approvalId: string;
  taskId: string;
  toolCallId: string;
  state: string;
  decidedBy: string | null;
  reason: string | null;
}

/** The connections that support approvals, and whether the model receives the reason of a rejection. */
const asking: [Runtime, Connection, { takesReason: boolean }][] = [
  ["claude", "acp", { takesReason: false }],
  ["claude-agent-sdk", "in-process", { takesReason: true }],
  ["gemini", "acp", { takesReason: false }],
  ["opencode", "http-api", { takesReason: true }],
];
const reason = "because it is the reason 4711";

describe.each(asking)("%s over %s requests an approval before a tool call", (runtime, connection, { takesReason }) => {
  let bench: CellBench;
  beforeAll(async () => {
    bench = await openCellBench(runtime, connection, { BRIDGE_APPROVAL_SECONDS: "90" });
  });
  afterAll(() => bench?.close());

  const list = async (query = ""): Promise<ListedApproval[]> => {
    const { data } = (await (await bench.bridge.call("GET", `/api/v2/approvals${query}`)).json()) as { data: ListedApproval[] };
    return data;
  };
  const decide = (approvalId: string, decision: string) =>
    bench.bridge.call("POST", `/api/v2/approvals/${approvalId}`, { decision, reason });
  const ran = (name: string) => existsSync(path.join(bench.workspace, `${name}.txt`));

  /** Dispatches a task whose model calls a command. Resolves when the task waits for the decision. */
  async function ask(name: string): Promise<ListedApproval> {
    const command = `sh -c 'echo ran > ${name}.txt'`;
    const message = bench.model.scenario([{ say: "May I?", tools: [{ kind: "shell", command }] }, { text: "I have tried." }]);
    const taskId = await bench.dispatch({ taskId: name, message, profile: "modify", approvals: "ask" });
    let asked: ListedApproval | undefined;
    const pending = async () => {
      asked = (await list("?state=pending")).find((one) => one.taskId === taskId);
      return asked !== undefined;
    };
    await expect.poll(pending, { timeout: 60_000, interval: 50, message: `${name} asks` }).toBe(true);
    expect(JSON.stringify(asked)).toContain(`echo ran > ${name}.txt`);
    expect(ran(name)).toBe(false);
    return asked as ListedApproval;
  }

  /** Checks the events of the one tool call: invoked, approval requested, approval resolved, completed. */
  async function expectCallEvents(approval: ListedApproval, decision: "approve" | "reject"): Promise<void> {
    const events = await bench.events(approval.taskId);
    const ofCall = events.filter(({ data }) => data["toolCallId"] === approval.toolCallId);
    expect(ofCall.map(({ type }) => type)).toEqual([
      ...["tool.invoked", "tool.approval_requested", "tool.approval_resolved"],
      "tool.completed",
    ]);
    expect(ofCall[2]?.data).toMatchObject({ approvalId: approval.approvalId, decision });
    expect(ofCall[3]?.data).toMatchObject({ isError: decision === "reject" });
  }

  test("an approved call runs, and one of two concurrent decisions is accepted", async () => {
    const asked = await ask("approved");
    const answers = await Promise.all([decide(asked.approvalId, "approve"), decide(asked.approvalId, "approve")]);
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409]);
    expect(await bench.ended("approved")).toMatchObject({ state: "completed", result: { output: "I have tried." } });
    expect(ran("approved")).toBe(true);
    await expectCallEvents(asked, "approve");
    expect(await bench.leftovers()).toEqual([]);
  });

  test("a rejected call does not run, and the model receives the rejection and continues", async () => {
    const asked = await ask("rejected");
    expect((await decide(asked.approvalId, "reject")).status).toBe(200);
    expect(await bench.ended("rejected")).toMatchObject({ state: "completed", result: { output: "I have tried." } });
    expect(ran("rejected")).toBe(false);
    await expectCallEvents(asked, "reject");
    const received = JSON.stringify(bench.model.requests.at(-1)?.body);
    expect(received).toMatch(/refused permission|canceled by the user|rejected permission/);
    expect(received.includes(reason)).toBe(takesReason);
    expect(await bench.leftovers()).toEqual([]);
  });

  test("a task that is canceled while it waits leaves no process, and its approval is rejected", async () => {
    const asked = await ask("stopped");
    expect(markedProcesses(bench.dataDir, "stopped")).not.toEqual([]);
    await bench.cancel("stopped");
    await expectProcessesEnded(bench, "stopped");
    expect(await bench.ended("stopped")).toMatchObject({ state: "cancelled", result: { errorCode: "cancelled" } });
    expect(ran("stopped")).toBe(false);
    expect(await list("?limit=1")).toMatchObject([
      { approvalId: asked.approvalId, state: "rejected", decidedBy: "bridge", reason: expect.stringContaining("canceled") },
    ]);
    expect(await bench.leftovers()).toEqual([]);
  });

  test("a Bridge that is killed while the task waits rejects the approval at its next start, and leaves no process", async () => {
    const asked = await ask("orphaned");
    await bench.crash({ BRIDGE_APPROVAL_SECONDS: "1" });
    expect(await bench.ended("orphaned")).toMatchObject({ state: "failed", result: { errorCode: "bridge_restarted" } });
    await expectProcessesEnded(bench, "orphaned");
    expect(ran("orphaned")).toBe(false);
    expect(await list("?limit=1")).toMatchObject([
      { approvalId: asked.approvalId, state: "rejected", decidedBy: "bridge", reason: expect.stringMatching(/restart/i) },
    ]);
    expect((await decide(asked.approvalId, "approve")).status).toBe(409);
    expect(ran("orphaned")).toBe(false);
    expect(await bench.leftovers()).toEqual([]);
  });

  test("a call without a decision does not run after the time limit, and the task continues", async () => {
    const asked = await ask("expired");
    expect(await bench.ended("expired")).toMatchObject({ state: "completed", result: { output: "I have tried." } });
    expect(ran("expired")).toBe(false);
    await expectCallEvents(asked, "reject");
    expect(await list("?limit=1")).toMatchObject([
      { approvalId: asked.approvalId, state: "rejected", decidedBy: "bridge", reason: expect.stringContaining("No decision was made") },
    ]);
    expect(await bench.leftovers()).toEqual([]);
  });
});
