import { existsSync } from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Connection } from "#contract";
import { type CellBench, markedProcesses, openCellBench } from "./table/cell-bench.ts";
import { expectGone } from "./table/processes.ts";
import type { Runtime } from "./table/runtimes.ts";

/** What the API tells of a question. */
interface Told {
  approvalId: string;
  taskId: string;
  toolCallId: string;
  state: string;
  decidedBy: string | null;
  reason: string | null;
}

/** Those that can ask; where the runtime takes a reason, its model hears it. */
const asking: [Runtime, Connection, { takesReason: boolean }][] = [
  ["claude", "acp", { takesReason: false }],
  ["claude-agent-sdk", "in-process", { takesReason: true }],
  ["gemini", "acp", { takesReason: false }],
  ["opencode", "http-api", { takesReason: true }],
];
const LIMIT_MS = 120_000;
const reason = "because it is the reason 4711";

describe.each(asking)("%s over %s asks before a tool call", (runtime, connection, { takesReason }) => {
  let bench: CellBench;
  beforeAll(async () => {
    bench = await openCellBench(runtime, connection, { BRIDGE_APPROVAL_SECONDS: "90" });
  }, LIMIT_MS);
  afterAll(() => bench?.close(), LIMIT_MS);

  const list = async (query = ""): Promise<Told[]> => {
    const { data } = (await (await bench.bridge.call("GET", `/api/v2/approvals${query}`)).json()) as { data: Told[] };
    return data;
  };
  const decide = (approvalId: string, decision: string) =>
    bench.bridge.call("POST", `/api/v2/approvals/${approvalId}`, { decision, reason });
  const ran = (name: string) => existsSync(path.join(bench.workspace, `${name}.txt`));

  /** Dispatches a task whose model wants to run a command; resolves when it waits for the answer. */
  async function ask(name: string): Promise<Told> {
    const command = `sh -c 'echo ran > ${name}.txt'`;
    const message = bench.model.scenario([{ say: "May I?", tools: [{ kind: "shell", command }] }, { text: "I have tried." }]);
    const taskId = await bench.dispatch({ taskId: name, message, profile: "modify", approvals: "ask" });
    let asked: Told | undefined;
    const pending = async () => {
      asked = (await list("?state=pending")).find((one) => one.taskId === taskId);
      return asked !== undefined;
    };
    await expect.poll(pending, { timeout: 60_000, interval: 50, message: `${name} asks` }).toBe(true);
    expect(JSON.stringify(asked)).toContain(`echo ran > ${name}.txt`);
    expect(ran(name)).toBe(false);
    return asked as Told;
  }

  /** The story of the one call: told, asked, answered, ended. */
  async function expectStory(told: Told, decision: "approve" | "reject"): Promise<void> {
    const events = await bench.events(told.taskId);
    const ofCall = events.filter(({ data }) => data["toolCallId"] === told.toolCallId);
    expect(ofCall.map(({ type }) => type)).toEqual([
      ...["tool.invoked", "tool.approval_requested", "tool.approval_resolved"],
      "tool.completed",
    ]);
    expect(ofCall[2]?.data).toMatchObject({ approvalId: told.approvalId, decision });
    expect(ofCall[3]?.data).toMatchObject({ isError: decision === "reject" });
  }

  test("yes: it runs; of two clients at the same moment one decides", { timeout: LIMIT_MS }, async () => {
    const asked = await ask("approved");
    const answers = await Promise.all([decide(asked.approvalId, "approve"), decide(asked.approvalId, "approve")]);
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409]);
    expect(await bench.ended("approved")).toMatchObject({ state: "completed", result: { output: "I have tried." } });
    expect(ran("approved")).toBe(true);
    await expectStory(asked, "approve");
    expect(await bench.leftovers()).toEqual([]);
  });

  test("no: it does not run, the model hears that and goes on", { timeout: LIMIT_MS }, async () => {
    const asked = await ask("rejected");
    expect((await decide(asked.approvalId, "reject")).status).toBe(200);
    expect(await bench.ended("rejected")).toMatchObject({ state: "completed", result: { output: "I have tried." } });
    expect(ran("rejected")).toBe(false);
    await expectStory(asked, "reject");
    const heard = JSON.stringify(bench.model.requests.at(-1)?.body);
    expect(heard).toMatch(/refused permission|canceled by the user|rejected permission/);
    expect(heard.includes(reason)).toBe(takesReason);
    expect(await bench.leftovers()).toEqual([]);
  });

  test("a task that is cancelled meanwhile is gone, and its question is closed", { timeout: LIMIT_MS }, async () => {
    const asked = await ask("stopped");
    expect(markedProcesses(bench.dataDir, "stopped")).not.toEqual([]);
    await bench.cancel("stopped");
    await expectGone(bench, "stopped");
    expect(await bench.ended("stopped")).toMatchObject({ state: "cancelled", result: { errorCode: "cancelled" } });
    expect(ran("stopped")).toBe(false);
    expect(await list("?limit=1")).toMatchObject([
      { approvalId: asked.approvalId, state: "rejected", decidedBy: "bridge", reason: expect.stringContaining("cancelled") },
    ]);
    expect(await bench.leftovers()).toEqual([]);
  });

  test("a Bridge that is killed meanwhile has said no when it is back, and left nothing running", { timeout: LIMIT_MS }, async () => {
    const asked = await ask("orphaned");
    await bench.crash({ BRIDGE_APPROVAL_SECONDS: "1" });
    expect(await bench.ended("orphaned")).toMatchObject({ state: "failed", result: { errorCode: "bridge_restarted" } });
    await expectGone(bench, "orphaned");
    expect(ran("orphaned")).toBe(false);
    expect(await list("?limit=1")).toMatchObject([
      { approvalId: asked.approvalId, state: "rejected", decidedBy: "bridge", reason: expect.stringMatching(/restart/i) },
    ]);
    expect((await decide(asked.approvalId, "approve")).status).toBe(409);
    expect(ran("orphaned")).toBe(false);
    expect(await bench.leftovers()).toEqual([]);
  });

  test("nobody answers: it does not run, and the task goes on", { timeout: LIMIT_MS }, async () => {
    const asked = await ask("expired");
    expect(await bench.ended("expired")).toMatchObject({ state: "completed", result: { output: "I have tried." } });
    expect(ran("expired")).toBe(false);
    await expectStory(asked, "reject");
    expect(await list("?limit=1")).toMatchObject([
      { approvalId: asked.approvalId, state: "rejected", decidedBy: "bridge", reason: expect.stringContaining("No decision was made") },
    ]);
    expect(await bench.leftovers()).toEqual([]);
  });
});
