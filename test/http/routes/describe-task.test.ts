import { expect, test } from "vitest";
import { describeTask, taskSchema } from "../../../src/http/routes/describe-task.ts";
import type { TaskSnapshot } from "../../../src/queries/task-reader.ts";
import type { Task } from "../../../src/task.ts";
import { storedTask } from "../../support/stored-task.ts";

const now = Date.parse("2026-01-02T03:04:05.678Z");
const base = storedTask({ provider: "memory", state: "queued", createdAt: now - 100_000, startedAt: null });
const running: Task = { ...base, state: "running", startedAt: now - 90_000 };
const snapshot = (task: Task, silentMs: number | null): TaskSnapshot => ({
  task,
  summary: {
    title: "Look.",
    model: "small",
    costUsd: 0.5,
    costSource: "runtime",
    usage: null,
    errorCode: null,
    attempts: [],
    labels: { a: "b" },
  },
  lastProgressAt: now,
  silentMs,
  callback: null,
  isApprovalPending: false,
  repository: null,
  childCount: 2,
  queuedBecause: task.state === "queued" ? "slot" : null,
  waitingForBudgets: [],
  node: null,
});

test.each<[string, TaskSnapshot, string | null]>([
  ["queued", snapshot(base, null), "queue"],
  ["queued, a quota is reached", { ...snapshot(base, null), queuedBecause: "quota" }, "quota"],
  ["queued again after an interruption", snapshot({ ...base, restarts: 1, startedAt: now - 80_000 }, 70_000), "queue"],
  ["running, an event just now", snapshot(running, 0), null],
  ["running, an event 30 s ago", snapshot(running, 30_000), null],
  ["running, an event more than 30 s ago", snapshot(running, 30_001), "runtime"],
  ["running, a tool call waits for an approval", { ...snapshot(running, 60_000), isApprovalPending: true }, "approval"],
  [
    "ended",
    snapshot({ ...running, state: "completed", finishedAt: now, result: { status: "ok", durationMs: 1, connection: "cli" } }, 60_000),
    null,
  ],
])("waitingOn is correct for a task in this state: %s", (_, given, waitingOn) => {
  expect(describeTask(given).waitingOn).toBe(waitingOn);
});

test("a task matches its schema and contains neither its request nor its owner", () => {
  const task: Task = {
    ...running,
    state: "failed",
    finishedAt: now,
    parentTaskId: "p1",
    request: { ...base.request, metadata: { a: 1 }, systemPrompt: "secret" },
    result: {
      status: "error",
      errorCode: "timeout",
      error: "Too slow.",
      durationMs: 5,
      connection: "acp",
      usage: { inputTokens: 1, outputTokens: 2 },
    },
  };
  const callback = {
    task,
    url: "https://r.example/",
    state: "dead",
    attempts: 4,
    nextAttemptAt: null,
    lastStatus: 500,
    lastError: "http_500",
    updatedAt: now,
  } as const;
  const described = describeTask({ ...snapshot(task, 0), callback, node: "n1" });
  expect(taskSchema.parse(described)).toEqual({
    taskId: "t1",
    parentTaskId: "p1",
    provider: "memory",
    agentId: "a",
    state: "failed",
    waitingOn: null,
    queuedBecause: null,
    waitingForBudgets: [],
    node: "n1",
    title: "Look.",
    model: "small",
    costUsd: 0.5,
    costSource: "runtime",
    usage: null,
    errorCode: null,
    attempts: [],
    labels: { a: "b" },
    createdAt: "2026-01-02T03:02:25.678Z",
    startedAt: "2026-01-02T03:02:35.678Z",
    finishedAt: "2026-01-02T03:04:05.678Z",
    lastProgressAt: "2026-01-02T03:04:05.678Z",
    result: task.result,
    callback: { state: "dead", url: "https://r.example/", attempts: 4, nextAttemptAt: null, lastStatus: 500, lastError: "http_500" },
    metadata: { a: 1 },
    childCount: 2,
    repository: null,
  });
});
