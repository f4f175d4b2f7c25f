import { describe, expect, test } from "vitest";
import type { ExecutionResult } from "#contract";
import type { ReceivedCallback } from "../crash/callback-receiver.ts";
import type { JournalEntry } from "../crash/installation.ts";
import type { DispatchedTask } from "../crash/orchestrator.ts";
import type { StoredEventRow, StoredTask } from "../crash/stored-state.ts";
import { type ClusterEvidence, checkCluster } from "./cluster-checker.ts";
import { checkSample } from "./sampler.ts";

const result = { status: "ok", output: "done", durationMs: 5, connection: "cli" } as unknown as ExecutionResult;
const failure = { status: "error", errorCode: "bridge_restarted", error: "Bridge restarted." } as unknown as ExecutionResult;

/** The evidence of a run without violations: two completed tasks of one agent, one after the other. */
function createEvidence() {
  const tasks: StoredTask[] = [1, 2].map((seq) => ({
    seq,
    key: `default/task-${seq}`,
    tenant: "default",
    taskId: `task-${seq}`,
    parentId: null,
    state: "completed",
    restarts: 0,
    result: structuredClone(result),
  }));
  const types = ["execution.started", "execution.progress", "execution.completed", "callback.delivered"];
  const events: StoredEventRow[] = tasks.flatMap(({ seq, tenant }) =>
    types.map((type, index) => ({ number: (seq - 1) * types.length + index + 1, task: seq, tenant, type, data: "{}" })),
  );
  const dispatched = new Map<string, DispatchedTask>(
    tasks.map(({ key, taskId }) => [
      key,
      {
        tenant: { tenant: "default", token: "" },
        taskId,
        body: { taskId, agentId: "agent-1", message: "quick 1", onInterrupt: "fail" },
        accepted: true,
        cancelled: false,
        ended: true,
      },
    ]),
  );
  const followed = events.map(({ number, task, type }) => ({ id: `e-${number}`, type, taskId: `task-${task}`, data: {} }));
  const callbacks: ReceivedCallback[] = tasks.map(({ key, taskId, seq }) => ({
    key,
    webhookId: `id-${seq}`,
    body: JSON.stringify({ ...result, taskId, agentId: "agent-1", provider: "command", metadata: {}, finishedAt: "now" }),
    order: seq * 2,
  }));
  const entry = (pid: number, at: number, word: JournalEntry["word"] = "start"): JournalEntry => ({ word, pid, at, dataDir: "/n1" });
  return {
    stored: {
      integrity: [] as string[],
      lastNumber: events.length,
      tasks,
      events,
      callbacks: new Map(tasks.map(({ seq }) => [seq, { state: "delivered", attempts: 1 }])),
    },
    dispatched,
    followers: [{ tenant: "default", events: followed }],
    callbacks,
    deliveredSeenAt: new Map(tasks.map(({ key, seq }) => [key, seq * 2 + 1])),
    journals: new Map(tasks.map(({ key, seq }) => [key, [entry(seq, seq), entry(seq, seq + 0.5, "beat")]])),
    results: new Map<string, unknown>(tasks.map((task) => [task.key, task.result])),
    sampled: { count: 1, violations: new Set<string>() },
    leftProcesses: [] as number[],
    minCompleted: 0.6,
  };
}

type PlainEvidence = ReturnType<typeof createEvidence>;

const checkOf = (evidence: PlainEvidence): string[] => checkCluster(evidence as unknown as ClusterEvidence);

/** A violation of each kind, and what the checker reports. */
const plants: Readonly<Record<string, [plant: (evidence: PlainEvidence) => void, report: RegExp]>> = {
  "an accepted task that is not stored": [
    ({ stored }) => {
      stored.tasks.pop();
      stored.events.splice(4);
      stored.lastNumber = 4;
    },
    /default\/task-2 was accepted and is not stored/,
  ],
  "a task without a dispatch": [({ dispatched }) => dispatched.delete("default/task-2"), /task-2 was never dispatched/],
  "a task that has not ended": [({ stored }) => change(stored.tasks, 1, { state: "running", result: null }), /task-2 is still running/],
  "a task that ended without a reason": [
    ({ stored }) => change(stored.tasks, 1, { state: "failed", result: { ...failure, errorCode: "adapter_error" } as ExecutionResult }),
    /task-2 \(quick\) ended failed adapter_error/,
  ],
  "a second terminal event": [
    ({ stored }) => change(stored.events, 1, { type: "execution.failed" }),
    /task-1 is completed and has 2 terminal events/,
  ],
  "an event after the terminal event": [
    ({ stored }) => {
      change(stored.events, 1, { type: "execution.completed" });
      change(stored.events, 2, { type: "execution.progress" });
    },
    /has 1 terminal events; the last event is execution\.progress/,
  ],
  "an event before execution.started": [
    ({ stored }) => {
      change(stored.events, 0, { type: "execution.progress" });
      change(stored.events, 1, { type: "execution.started" });
    },
    /task-1 does not have exactly one start event as its first event/,
  ],
  "a second execution.started": [
    ({ stored }) => change(stored.events, 1, { type: "execution.started" }),
    /task-1 does not have exactly one start event as its first event/,
  ],
  "a hole in the numbers": [({ stored }) => change(stored.events, 7, { number: 9 }), /after 7 comes 9/],
  "an event that a follower did not receive": [({ followers }) => followers[0]?.events.splice(3, 1), /the log differ from event 4 on/],
  "an event that a follower received twice": [
    ({ followers }) => followers[0]?.events.splice(3, 0, followers[0].events[2] as PlainEvidence["followers"][0]["events"][0]),
    /sent event 3 after 3/,
  ],
  "an event with another content than the stored one": [
    ({ stored }) => change(stored.events, 1, { data: '{"step":1}' }),
    /differ from event 2 on/,
  ],
  "a result of the API that differs from the stored one": [
    ({ results }) => results.set("default/task-1", { ...result, output: "other" }),
    /the API returns a result of default\/task-1 that differs/,
  ],
  "a callback with another result": [
    ({ callbacks }) => change(callbacks, 0, { body: (callbacks[0] as ReceivedCallback).body.replace("done", "other") }),
    /the callback of default\/task-1 contains a result that differs/,
  ],
  "a callback that did not arrive": [({ callbacks }) => callbacks.pop(), /the callback of default\/task-2 was not received/],
  "a callback after its delivery": [({ deliveredSeenAt }) => deliveredSeenAt.set("default/task-2", 3), /task-2 was posted again after its/],
  "a callback with two ids": [
    ({ callbacks }) => callbacks.push({ ...(callbacks[1] as ReceivedCallback), webhookId: "id-3" }),
    /the attempts of the callback of default\/task-2 have different ids/,
  ],
  "a callback whose outcome is missing": [
    ({ stored }) => change(stored.events, 3, { type: "execution.progress" }),
    /task-1 has 0 events for the outcome of its callback/,
  ],
  "a second start": [
    ({ journals }) => journals.get("default/task-1")?.push({ word: "start", pid: 9, at: 1.6, dataDir: "/n1" }),
    /task-1 was started 2 times/,
  ],
  "a third start with retry": [
    ({ journals, dispatched }) => {
      const task = dispatched.get("default/task-1") as DispatchedTask;
      dispatched.set("default/task-1", { ...task, body: { ...task.body, onInterrupt: "retry" } });
      for (const at of [1.6, 1.7]) journals.get("default/task-1")?.push({ word: "start", pid: at * 10, at, dataDir: "/n1" });
    },
    /task-1 was started 3 times/,
  ],
  "a completed task that never started": [({ journals }) => journals.delete("default/task-1"), /task-1 is completed but was never started/],
  "two processes of a task at once": [
    ({ journals }) => journals.get("default/task-1")?.push({ word: "start", pid: 9, at: 1.4, dataDir: "/n1" }),
    /two processes of default\/task-1 were running at once/,
  ],
  "processes of an agent on two nodes at once": [
    ({ journals }) => journals.set("default/task-2", [{ word: "start", pid: 2, at: 1.2, dataDir: "/n2" }]),
    /default\/task-1 and default\/task-2 of the agent default\/agent-1 were running on two nodes at once/,
  ],
  "what the sampler found": [({ sampled }) => sampled.violations.add("slots: 5"), /slots: 5/],
  "a sampler that never looked": [
    ({ sampled }) => {
      sampled.count = 0;
    },
    /running tasks were never sampled/,
  ],
  "a process that is left": [({ leftProcesses }) => leftProcesses.push(77), /the runtime 77 is left/],
  "a run in which too few tasks completed": [
    ({ stored }) => change(stored.tasks, 1, { state: "failed", result: failure }),
    /only 1 of 2 tasks completed/,
  ],
};

function change<Row extends object>(rows: Row[], index: number, fields: Partial<Row>): void {
  rows[index] = { ...(rows[index] as Row), ...fields };
}

describe("the checker of the cluster test", () => {
  test("the checker of the cluster test finds nothing in a run without violations", () => {
    expect(checkOf(createEvidence())).toEqual([]);
  });

  test.each(Object.entries(plants))("the checker of the cluster test finds %s", (_, [plant, report]) => {
    const evidence = createEvidence();
    plant(evidence);
    expect(checkOf(evidence)).toContainEqual(expect.stringMatching(report));
  });
});

describe("one look at the running tasks", () => {
  const row = { node: "n1", provider: "command", tenant: "default", agent: "a", running: 2 };

  test("one look at the running tasks finds nothing if the nodes keep their limits", () => {
    expect(checkSample([row, { ...row, agent: "b" }, { ...row, node: "n2", agent: "c", running: 4 }], 4)).toEqual([]);
  });

  test("one look at the running tasks finds more running tasks than slots", () => {
    expect(checkSample([row, { ...row, agent: "b", running: 3 }], 4)).toEqual([expect.stringMatching(/5 tasks of command on n1/)]);
  });

  test("one look at the running tasks finds an agent on two nodes", () => {
    expect(checkSample([row, { ...row, node: "n2" }], 4)).toEqual([expect.stringMatching(/default\/a was running on n1 and n2/)]);
  });
});
