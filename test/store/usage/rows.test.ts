import { describe, expect, test } from "vitest";
import type { ExecutionResult } from "#contract";
import type { NewTask } from "../../../src/store/tasks/interface.ts";
import { createUsageRollup, HOUR_MS, type TaskEnd } from "../../../src/store/usage/rows.ts";
import type { Task } from "../../../src/task.ts";
import { newFinish, newTask } from "../../conformance/store/fixtures.ts";

const now = 500_000 * HOUR_MS + 5_000;

interface EndFields extends Partial<Omit<TaskEnd, "task" | "finish">> {
  task?: Partial<Task> & Pick<Partial<NewTask>, "request">;
  result?: Partial<ExecutionResult>;
  state?: "completed" | "failed" | "cancelled";
  hasChildren?: boolean;
}

function endOf({ task = {}, result = {}, state = "completed", hasChildren = false, ...end }: EndFields = {}): TaskEnd {
  const { parent: _, needs: __, ...fields } = newTask();
  const stored = {
    ...fields,
    seq: 1,
    parentSeq: null,
    parentTaskId: null,
    state: "running",
    node: null,
    restarts: 0,
    createdAt: 1,
  } as const;
  const finish = newFinish({ state, hasChildren });
  return {
    task: { ...stored, startedAt: now - 2_000, finishedAt: null, result: null, ...task },
    from: "running",
    now,
    ...end,
    finish: { ...finish, result: { ...finish.result, ...result } },
  };
}

const usage = { inputTokens: 10, outputTokens: 4, cacheReadTokens: 3 };
const withLabels = (labels: Record<string, string>) => ({ task: { request: { ...newTask().request, labels } } });
const sumOne = (fields: EndFields) => createUsageRollup().sum([endOf(fields)]).usage[0];

const probe = { agentId: "bridge-doctor", taskId: "doctor-0b9c1a7e-6a0f-4f3b-9a68-1f2d3c4b5a69" };

test("a probe of brg doctor adds nothing", () => {
  expect(createUsageRollup().sum([endOf({ task: probe })])).toEqual({ usage: [], labels: [] });
});

test("a task of a caller who uses the agent of probes counts", () => {
  for (const taskId of ["nightly", "doctor-nightly"]) expect(sumOne({ task: { ...probe, taskId } })).toMatchObject({ completed: 1 });
});

test("a probe adds what it has used", () => {
  expect(sumOne({ task: probe, result: { usage, costUsd: 0.5 } })).toMatchObject({ cost_micros: 500_000, input_tokens: 10 });
  expect(sumOne({ task: probe, result: { costUsd: 0.5 } })).toMatchObject({ cost_micros: 500_000, completed: 1 });
});

test("the attempts of a task add what they have used to their own adapters, and the task counts for the last one", () => {
  const attempt = { startedAt: "2026-01-01T00:00:00.000Z", reason: null, model: null } as const;
  const attempts = [
    {
      ...attempt,
      number: 1,
      provider: "first",
      errorCode: "rate_limited" as const,
      usage: { inputTokens: 4, outputTokens: 1 },
      costUsd: 0.25,
    },
    { ...attempt, number: 2, provider: "skipped", startedAt: null, errorCode: null, usage: null, costUsd: null },
    { ...attempt, number: 3, provider: "second", errorCode: null, usage: { inputTokens: 6, outputTokens: 3 }, costUsd: 0.5 },
  ];
  const result = { model: "large", usage: { inputTokens: 10, outputTokens: 4 }, costUsd: 0.75, attempts };
  expect(createUsageRollup().sum([endOf({ task: { provider: "first" }, result })]).usage).toEqual([
    expect.objectContaining({
      provider: "first",
      model: "",
      completed: 0,
      failed: 0,
      input_tokens: 4,
      output_tokens: 1,
      cost_micros: 250_000,
    }),
    expect.objectContaining({ provider: "second", model: "large", completed: 1, input_tokens: 6, output_tokens: 3, cost_micros: 500_000 }),
  ]);
});

describe("what a task adds", () => {
  test.each<[string, EndFields, object]>([
    [
      "known usage and cost",
      { result: { usage, costUsd: 0.0015 } },
      { input_tokens: 10, cost_micros: 1500, usage_unknown: 0, cost_unknown: 0 },
    ],
    ["neither", {}, { input_tokens: 0, cost_micros: 0, usage_unknown: 1, cost_unknown: 1, completed: 1, duration_ms: 2_000 }],
    ["a cost of 0", { result: { usage, costUsd: 0 } }, { cost_micros: 0, cost_unknown: 0 }],
    [
      "a cancellation in the queue",
      { from: "queued", state: "cancelled" },
      { cancelled: 1, usage_unknown: 0, cost_unknown: 0, duration_ms: 0 },
    ],
    ["a cancellation in the queue after a first run", { from: "queued", state: "cancelled", task: { restarts: 1 } }, { cost_unknown: 1 }],
    ["an adapter that is offline", { state: "failed", result: { errorCode: "adapter_offline" } }, { failed: 1, cost_unknown: 0 }],
    ["a failure of the model", { state: "failed", result: { errorCode: "model_error" } }, { failed: 1, cost_unknown: 1 }],
    [
      "a parent",
      { hasChildren: true, result: { usage, costUsd: 9 } },
      { completed: 1, input_tokens: 0, cost_micros: 0, cost_unknown: 0, duration_ms: 0 },
    ],
    ["a clock that was set back", { task: { startedAt: now + 1 } }, { duration_ms: 0 }],
    [
      "fractions",
      { result: { usage: { ...usage, inputTokens: 1.6 }, costUsd: 1e-7 } },
      { input_tokens: 2, cost_micros: 0, cost_unknown: 0 },
    ],
    ["absurd numbers", { result: { usage: { ...usage, inputTokens: 1e300 }, costUsd: 1e300 } }, { input_tokens: 1e12, cost_micros: 1e12 }],
    ["the actual model", { result: { model: "actual" } }, { hour: 500_000, provider: "command", agent_id: "agent", model: "actual" }],
    ["no model", {}, { model: "" }],
    ["a model that is long and not text", { result: { model: `\0\ud800${"x".repeat(300)}` } }, { model: `\ufffd\ufffd${"x".repeat(126)}` }],
  ])("%s", (_, fields, expected) => {
    expect(sumOne(fields)).toMatchObject(expected);
  });

  test("the requested model counts if the result has none", () => {
    expect(sumOne({ task: { request: { ...newTask().request, model: "requested" } } })).toMatchObject({ model: "requested" });
  });
});

test("the ends of one transaction become one row for each key, in a fixed order", () => {
  const agents = ["b", "a", "b", "c", "a", "b"];
  const { usage: rows } = createUsageRollup().sum(agents.map((agentId) => endOf({ task: { agentId }, result: { costUsd: 1 } })));
  expect(rows.map(({ agent_id, completed, cost_micros }) => [agent_id, completed, cost_micros])).toEqual([
    ["a", 2, 2e6],
    ["b", 3, 3e6],
    ["c", 1, 1e6],
  ]);
});

test("a label of a parent counts its result, which contains what its child tasks used, because they have no labels", () => {
  const { labels } = createUsageRollup().sum([
    endOf({ ...withLabels({ team: "docs" }), hasChildren: true, result: { usage, costUsd: 9 } }),
  ]);
  expect(labels).toMatchObject([{ value: "docs", input_tokens: 10, cost_micros: 9e6 }]);
});

test("a task counts once for each of its labels", () => {
  const rollup = createUsageRollup();
  const { labels, usage: rows } = rollup.sum([endOf(withLabels({ team: "docs", stage: "test" })), endOf(withLabels({ team: "docs" }))]);
  expect(labels.map(({ name, value, completed }) => [name, value, completed])).toEqual([
    ["stage", "test", 1],
    ["team", "docs", 2],
  ]);
  expect(rows).toHaveLength(1);
});

describe("the number of rows of an hour is limited", () => {
  test("the number of rows of an hour is limited for agents and models, first by leaving out the agent and then the model, without losing a task", () => {
    const rollup = createUsageRollup();
    const rows = new Map<string, number>();
    for (let number = 0; number < 1_000; number += 1)
      for (const { agent_id, model, completed } of rollup.sum([endOf({ task: { agentId: `a${number}` }, result: { model: `m${number}` } })])
        .usage)
        rows.set(`${agent_id} ${model}`, (rows.get(`${agent_id} ${model}`) ?? 0) + completed);
    expect(rows.size).toBe(251);
    expect([rows.get("a199 m199"), rows.get("* m200"), rows.get("* *")]).toEqual([1, 1, 750]);
    // What is known keeps its row, other tenants have theirs, and the next hour begins anew.
    const agentOf = (fields: EndFields) => rollup.sum([endOf({ ...fields, result: { model: "m0" } })]).usage[0]?.["agent_id"];
    expect(agentOf({ task: { agentId: "a0" } })).toBe("a0");
    expect(agentOf({ task: { agentId: "new" } })).toBe("*");
    expect(agentOf({ task: { agentId: "new", tenant: "other" } })).toBe("new");
    expect(agentOf({ task: { agentId: "new" }, now: now + HOUR_MS })).toBe("new");
  });

  test("the number of rows of an hour is limited for labels, first by leaving out the value and then the name", () => {
    const rollup = createUsageRollup();
    const rows = new Set<string>();
    for (let number = 0; number < 1_000; number += 1)
      for (const { name, value } of rollup.sum([endOf(withLabels({ [`n${number}`]: "1", ticket: `${number}` }))]).labels)
        rows.add(`${name}=${value}`);
    expect(rows.size).toBe(251);
    expect([rows.has("ticket=5"), rows.has("ticket=*"), rows.has("*=*"), rows.has("ticket=999")]).toEqual([true, true, true, false]);
  });
});
