import { describe, expect, test } from "vitest";
import type { NewApproval } from "../../../src/store/approvals/interface.ts";
import type { DueCallback } from "../../../src/store/posts/interface.ts";
import { newFinish } from "../../conformance/store/fixtures.ts";
import { accept, openWrites, typesOf, type WritingNode } from "../../support/postgres/open-writes.ts";

const approval: NewApproval = {
  ...{ approvalId: "apr-1", toolCallId: "call", toolName: "shell", shownInput: '{"input":1}', expiresInMs: 60_000 },
  event: () => ({ type: "tool.approval_requested", data: "{}" }),
};
const text = { type: "assistant.text", data: '{"content":"x"}' } as const;
const chunks = { text: 1, first: 1, chunks: ["x"], bytes: 1 };

type Run = (store: WritingNode, task: Awaited<ReturnType<typeof accept>>) => Promise<unknown>;
const operations: Record<string, Run> = {
  finishTaskIfQueued: (store, task) => store.finishTaskIfQueued(task, newFinish({ state: "failed" })),
  finishTaskIfRunning: (store, task) => store.finishTaskIfRunning(task, newFinish()),
  requeueTaskIfRunning: (store, task) => store.requeueTaskIfRunning(task),
  appendEventsIfRunning: (store, task) => store.appendEventsIfRunning(task, [text]),
  insertApprovalIfRunning: (store, task) => store.insertApprovalIfRunning(task, approval),
  requestStopIfRunning: (store, task) => store.requestStopIfRunning(task, { code: "cancelled", reason: "r" }),
};

const states = {
  queued: "state = 'queued', started_at = NULL",
  running: "state = 'running'",
  "queued again": "state = 'queued', started_at = NULL, restarts = 1",
  "running again": "state = 'running', restarts = 1",
  "running, with a stop request": "state = 'running', stop_code = 'cancelled', stop_reason = 'r'",
  failed: "state = 'failed', finished_at = 1, result = '{}'",
};

/** The operations that change a task in this state, by the run that their caller knows. */
const allowed: Record<keyof typeof states, [first: string[], second: string[]]> = {
  queued: [["finishTaskIfQueued"], []],
  running: [
    ["finishTaskIfRunning", "requeueTaskIfRunning", "appendEventsIfRunning", "insertApprovalIfRunning", "requestStopIfRunning"],
    ["requestStopIfRunning"],
  ],
  "queued again": [[], ["finishTaskIfQueued"]],
  "running again": [
    ["requestStopIfRunning"],
    ["finishTaskIfRunning", "appendEventsIfRunning", "insertApprovalIfRunning", "requestStopIfRunning"],
  ],
  "running, with a stop request": [
    ["finishTaskIfRunning", "appendEventsIfRunning", "insertApprovalIfRunning", "requestStopIfRunning"],
    ["requestStopIfRunning"],
  ],
  failed: [[], []],
};

const cases = Object.keys(states).flatMap((state) => [0, 1].map((restarts) => [state as keyof typeof states, restarts] as const));

test.each(cases)("in the state %s, a caller that knows run %i makes only the allowed changes", async (state, restarts) => {
  const { database, store } = await openWrites();
  for (const [name, run] of Object.entries(operations)) {
    const task = await accept(store, { taskId: name });
    await database.query(`UPDATE task SET ${states[state]} WHERE seq = $1`, [task.seq]);
    const [before] = await database.query("SELECT * FROM task WHERE seq = $1", [task.seq]);
    const isAllowed = allowed[state][restarts]?.includes(name) === true;
    const output = await run(store, { ...task, restarts });
    expect([name, output !== null && output !== false]).toEqual([name, isAllowed]);
    if (isAllowed) continue;
    expect(await database.query("SELECT * FROM task WHERE seq = $1", [task.seq])).toEqual([before]);
    expect(await typesOf(database, task)).toEqual(["execution.started"]);
  }
});

describe("the end of a task", () => {
  test("the end of a task stores state, result, events, rejected approvals, callback and resume token together", async () => {
    const { database, store } = await openWrites();
    const announced: DueCallback[] = [];
    store.onCallback((callback) => announced.push(callback));
    const task = await accept(store);
    await store.insertApprovalIfRunning(task, approval);
    await store.insertApprovalIfRunning(task, { ...approval, approvalId: "apr-2" });
    const result = { status: "error", error: "broken \0", durationMs: 5, connection: "in-process", resumeToken: "to\0ken" } as const;
    const ended = await store.finishTaskIfRunning(task, newFinish({ state: "failed", result }, "http://receiver.test/hook"));
    expect(ended).toMatchObject({ state: "failed", result, finishedAt: expect.any(Number) });
    expect(await typesOf(database, task)).toEqual([
      "execution.started",
      ...["tool.approval_requested", "tool.approval_requested", "tool.approval_resolved", "tool.approval_resolved"],
      "execution.completed",
    ]);
    expect(await database.query("SELECT id, state, decided_by, reason FROM approval ORDER BY seq")).toEqual([
      { id: "apr-1", state: "rejected", decided_by: "bridge", reason: "broken \ufffd" },
      { id: "apr-2", state: "rejected", decided_by: "bridge", reason: "broken \ufffd" },
    ]);
    const [stored] = await database.query<{ result: string; finished_at: string }>("SELECT result, finished_at FROM task");
    expect(JSON.parse(String(stored?.result))).toEqual(result);
    expect(Number(stored?.finished_at)).toBe(ended?.finishedAt);
    expect(await database.query("SELECT state, attempts, body, next_at FROM callback")).toEqual([
      { state: "pending", attempts: 0, body: `{"finishedAt":${ended?.finishedAt}}`, next_at: String(ended?.finishedAt) },
    ]);
    expect(announced).toMatchObject([{ task: { taskId: "task-1" }, body: `{"finishedAt":${ended?.finishedAt}}`, attempts: 0 }]);
    expect(await database.query("SELECT token, used_at FROM resume_token")).toEqual([
      { token: "to\ufffdken", used_at: String(ended?.finishedAt) },
    ]);
  });

  test("before its start stores its start, too, unless it has started before", async () => {
    const { database, store } = await openWrites();
    const task = await accept(store, {}, false);
    await store.finishTaskIfQueued(task, newFinish({ state: "cancelled" }));
    expect(await typesOf(database, task)).toEqual(["execution.started", "execution.completed"]);
    const again = await accept(store, { taskId: "again" });
    expect(await store.requeueTaskIfRunning(again)).toBe(true);
    await store.finishTaskIfQueued({ ...again, restarts: 1 }, newFinish({ state: "cancelled" }));
    expect(await typesOf(database, again)).toEqual(["execution.started", "execution.completed"]);
  });

  test("the end of a task is stored once, however many callers end the task at once, and with the ends of other tasks", async () => {
    const { database, store, other } = await openWrites();
    const tasks = await Promise.all(Array.from({ length: 20 }, (_, index) => accept(store, { taskId: `t${index}` })));
    const token = { ...newFinish().result, resumeToken: "shared" };
    const ends = await Promise.all(
      tasks.flatMap((task) =>
        [store, store, other].map((node) => node.finishTaskIfRunning(task, newFinish({ result: token }, "http://receiver.test/"))),
      ),
    );
    expect(ends.filter((end) => end !== null)).toHaveLength(tasks.length);
    for (const task of tasks) expect(await typesOf(database, task)).toEqual(["execution.started", "execution.completed"]);
    expect(await database.query("SELECT count(*) AS count FROM callback")).toEqual([{ count: "20" }]);
    expect(await database.query("SELECT token FROM resume_token")).toEqual([{ token: "shared" }]);
    expect([...store.faults, ...other.faults]).toEqual([]);
  });

  test("the end of a task is stored once if a batch contains several ends of the task", async () => {
    const { database, store } = await openWrites();
    const task = await accept(store);
    const ends = await Promise.all([store.finishTaskIfRunning(task, newFinish()), store.finishTaskIfRunning(task, newFinish())]);
    expect(ends).toEqual([expect.objectContaining({ state: "completed" }), null]);
    expect(await typesOf(database, task)).toEqual(["execution.started", "execution.completed"]);
  });

  test("the end of a task that violates a constraint fails alone", async () => {
    const { database, store } = await openWrites();
    const [queued, running] = [await accept(store, { taskId: "queued" }, false), await accept(store, { taskId: "running" })];
    const [failed, ended] = await Promise.allSettled([
      store.finishTaskIfQueued(queued, newFinish()),
      store.finishTaskIfRunning(running, newFinish()),
    ]);
    expect([failed.status, ended.status]).toEqual(["rejected", "fulfilled"]);
    expect(await database.query("SELECT id, state FROM task ORDER BY seq")).toEqual([
      { id: "queued", state: "queued" },
      { id: "running", state: "completed" },
    ]);
  });

  test("the end of a task does not end the next run, which another transaction has just started", async () => {
    const { database, store, hold } = await openWrites();
    const task = await accept(store);
    const held = await hold("UPDATE task SET restarts = 1, node = 'n2' WHERE id = 'task-1'");
    const ended = store.finishTaskIfRunning(task, newFinish());
    await held.blocks();
    await held.commit();
    expect(await ended).toBeNull();
    expect(await database.query("SELECT state, node FROM task")).toEqual([{ state: "running", node: "n2" }]);
    expect(await typesOf(database, task)).toEqual(["execution.started"]);
  });

  test("the end of a task keeps the long texts of the result, and removes those of an earlier attempt to end the task", async () => {
    const { database, store } = await openWrites();
    const [kept, unused] = [await accept(store, { taskId: "kept" }), await accept(store, { taskId: "unused" })];
    for (const task of [kept, unused]) await store.insertChunks(task, chunks);
    const storedResult = { json: "{}", gaps: [{ at: 1, text: { kept: 1, chunks: 1 } }] };
    await store.finishTaskIfRunning(kept, newFinish({ storedResult }));
    await store.finishTaskIfRunning(unused, newFinish());
    expect(await database.query("SELECT task, json FROM text_chunk")).toEqual([{ task: String(kept.seq), json: "x" }]);
  });
});

test("a node that has lost a task changes no long text of its next run", async () => {
  const { database, store } = await openWrites();
  const task = await accept(store);
  await database.query("UPDATE task SET restarts = 1");
  const next = { ...task, restarts: 1 };
  await store.insertChunks(next, chunks);
  await store.insertChunks(task, { ...chunks, text: 2 });
  await store.deleteChunks(task);
  expect(await database.query("SELECT text FROM text_chunk")).toEqual([{ text: 1 }]);
  await store.deleteChunks(next);
  expect(await database.query("SELECT text FROM text_chunk")).toEqual([]);
});

test("a task is queued again once: its pending approvals are rejected, and its events continue", async () => {
  const { database, store } = await openWrites();
  const task = await accept(store);
  await store.insertApprovalIfRunning(task, approval);
  const requeued = await Promise.all([store.requeueTaskIfRunning(task), store.requeueTaskIfRunning(task)]);
  expect(requeued).toEqual([true, false]);
  const claimed = await store.startNextTaskIfQueued({ provider: "command", tenant: "default", kind: "dispatched", exceptAgents: [] });
  expect(claimed).toMatchObject({ seq: task.seq, restarts: 1, state: "running" });
  expect(await typesOf(database, task)).toEqual([
    ...["execution.started", "tool.approval_requested", "tool.approval_resolved", "execution.progress"],
  ]);
  expect(await database.query("SELECT reason FROM approval")).toMatchObject([{ reason: expect.stringContaining("starts again") }]);
});

test("the first stop request of a task is kept, and passed on each time", async () => {
  const { database, store } = await openWrites();
  const task = await accept(store);
  await store.requestStopIfRunning(task, { code: "cancelled", reason: "first \0" });
  await store.requestStopIfRunning(task, { code: "timeout", reason: "second" });
  const stop = { code: "cancelled", reason: "first \ufffd" };
  expect(store.stops).toEqual([stop, stop]);
  expect(await database.query("SELECT stop_code AS code, stop_reason AS reason FROM task")).toEqual([stop]);
});
