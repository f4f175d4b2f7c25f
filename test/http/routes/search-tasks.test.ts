import { afterAll, beforeAll, expect, test } from "vitest";
import { type Bridge, expectProblem, startBridge } from "../../support/start-bridge.ts";

let bridge: Bridge;
const waited = { headers: { prefer: "wait=20" } };
beforeAll(async () => {
  bridge = await startBridge();
  await bridge.dispatch({ taskId: "seen-1", message: "look", model: "large", labels: { team: "docs", "a/b": "x=y" } }, waited);
  await bridge.dispatch({ taskId: "seen-2", message: "Hello,\nyou.", model: "large" }, waited);
  await bridge.dispatch({ taskId: "failed-1", message: "fail" }, waited);
});
afterAll(() => bridge.close());

const list = async (query: string) => (await bridge.call("GET", `/api/v2/tasks?${query}`)).body;
const ids = async (query: string) => (await list(query)).data.map(({ taskId }: { taskId: string }) => taskId);

test("tasks have a title, a model, usage, cost and an error code, in lists and alone", async () => {
  const usage = { inputTokens: 5, outputTokens: 3, thinkingTokens: 1, cacheReadTokens: 2, cacheWriteTokens: 0 };
  const unknown = { usage: null, costUsd: null };
  const expected = [
    { taskId: "failed-1", title: "fail", model: null, ...unknown, errorCode: "model_error" },
    { taskId: "seen-2", title: "Hello,", model: "large", ...unknown, errorCode: null },
    // The adapter reports this model for the message `look`.
    { taskId: "seen-1", title: "look", model: "small", usage, costUsd: 0.25, errorCode: null },
  ];
  expect((await list("")).data).toMatchObject(expected);
  for (const task of expected) expect((await bridge.call("GET", `/api/v2/tasks/${task.taskId}`)).body).toMatchObject(task);
});

test.each([
  ["errorCode=model_error", ["failed-1"]],
  ["idPrefix=seen-", ["seen-2", "seen-1"]],
  ["q=HELLO", ["seen-2"]],
  ["label=team=docs", ["seen-1"]],
  ["label=a/b=x%3Dy&label=team=docs", ["seen-1"]],
  ["label=team=other", []],
  ["label=team=%00", []],
  ["q=%00", []],
  ["search=seen-1", ["seen-1"]],
  ["search=SEEN-", []],
  ["search=hello", ["seen-2"]],
  ["search=team=do", ["seen-1"]],
  ["search=%00", []],
  ["search=%F0%9F%98%80", []],
  ["root=*", ["failed-1", "seen-2", "seen-1"]],
  ["root=seen-1", ["seen-1"]],
  ["callback=dead", []],
  ["createdAfter=2020-01-01T00:00:00%2B01:00&state=completed", ["seen-2", "seen-1"]],
  ["createdBefore=2020-01-01T00:00:00Z", []],
  ["finishedAfter=2020-01-01T00:00:00Z&state=failed&root=*", ["failed-1"]],
  ["finishedAfter=2020-01-01T00:00:00Z&finishedBefore=2020-01-02T00:00:00Z", []],
])("a list contains the tasks that match %s", async (query, expected) => {
  expect(await ids(query)).toEqual(expected);
});

test("a task has its labels, in lists and alone", async () => {
  const labels = { team: "docs", "a/b": "x=y" };
  expect((await list("idPrefix=seen-1")).data).toMatchObject([{ labels }]);
  expect((await bridge.call("GET", "/api/v2/tasks/seen-1")).body.labels).toEqual(labels);
  expect((await bridge.call("GET", "/api/v2/tasks/seen-2")).body.labels).toEqual({});
});

test.each<[Record<string, unknown>, string, string]>([
  [{ "-a": "b" }, "labels.-a", "letter or digit"],
  [{ "a=b": "c" }, "labels.a=b", "1 to 63"],
  [{ ["a".repeat(64)]: "b" }, `labels.${"a".repeat(64)}`, "1 to 63"],
  [{ a: "" }, "labels.a", "1 to 128 characters"],
  [{ a: "b".repeat(129) }, "labels.a", "1 to 128 characters"],
  [{ a: "b\n" }, "labels.a", "control characters"],
  [{ a: 7 }, "labels.a", "string"],
  [Object.fromEntries(Array.from({ length: 17 }, (_, index) => [`l${index}`, "x"])), "labels", "at most 16 members; got 17"],
])("a dispatch with invalid labels is rejected with their name and the remedy: %j", async (labels, path, remedy) => {
  const refused = await bridge.dispatch({ labels });
  expectProblem(refused, "invalid_request");
  expect(refused.body.errors).toEqual([{ path, message: expect.stringContaining(remedy) }]);
});

test("a search continues at its cursor", async () => {
  const first = await list("root=*&limit=2");
  expect(first.data).toHaveLength(2);
  const second = await list(`root=*&limit=2&cursor=${first.meta.nextCursor}`);
  expect(second.data.map(({ taskId }: { taskId: string }) => taskId)).toEqual(["seen-1"]);
  expect(second.meta).toEqual({ nextCursor: null });
});

test.each([
  ["errorCode=none", "errorCode", "timeout"],
  ["callback=lost", "callback", "dead"],
  ["createdAfter=yesterday", "createdAfter", "2026-11-22T09:30:00Z"],
  ["createdBefore=2026-11-22T09:30:00", "createdBefore", "time zone"],
  ["idPrefix=a/b", "idPrefix", "A-Z"],
  ["root=a b", "root", "taskId"],
  ["label=team", "label.0", "name=value"],
  ["label=a=b&label=team", "label.1", "name=value"],
  [`q=${"x".repeat(201)}`, "q", "200"],
  [`search=${"x".repeat(201)}`, "search", "200"],
  ["search=", "search", "at least 1"],
])("an invalid filter is rejected with its name and the remedy: %s", async (query, path, remedy) => {
  const refused = await bridge.call("GET", `/api/v2/tasks?${query}`);
  expectProblem(refused, "invalid_request");
  expect(refused.body.errors).toEqual([{ path, message: expect.stringContaining(remedy) }]);
});
