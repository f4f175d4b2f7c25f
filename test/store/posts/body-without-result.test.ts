import path from "node:path";
import SqliteDatabase from "better-sqlite3";
import { expect, onTestFinished, test } from "vitest";
import type { ExecutionResult } from "#contract";
import { buildFinish } from "../../../src/results/build-finish.ts";
import { openStore } from "../../../src/store/open-sqlite.ts";
import { insertResult, storeWithoutResult } from "../../../src/store/posts/callback-rows.ts";
import type { Task } from "../../../src/task.ts";
import { newTask, started } from "../../conformance/store/fixtures.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";

test("a body without the result is restored unchanged", () => {
  const [head, tail] = ['{"id":1,', ',"end":0}'];
  const resultJson = '{"a":"😀","b":2}';
  const { body, gaps } = storeWithoutResult({ resultJson, body: `${head}${tail}`, at: head.length });
  expect({ body, gaps }).toEqual({ body: '{"id":1,,"end":0}', gaps: '{"result":8}' });
  expect(insertResult(body, String(gaps), resultJson)).toBe('{"id":1,"a":"😀","b":2,"end":0}');
});

const callbackUrl = "http://receiver.test/hook";
const result: ExecutionResult = {
  // The fields have another order than those of the callback.
  connection: "in-process",
  output: `"quoted" \u0000 \ud800 😀 ${"long ".repeat(1000)}`,
  conversationMessages: [{ role: "user", content: "do it" }],
  durationMs: 5,
  status: "ok",
};

test.each([
  ["is stored once, in the task", {}, {}, true],
  ["is stored in both if the callback omits the conversation", { callbackConversation: false }, {}, false],
  ["is stored in both if the texts differ", {}, { storedResult: { json: JSON.stringify(result), gaps: [] } }, false],
])("a result %s, and every attempt reads the same body", async (_, fields, finishFields, isShared) => {
  const file = path.join(await temporaryDirectory(), "bridge.db");
  let store = openStore({ file });
  onTestFinished(() => store.close());
  const task = await started(store, { request: { ...newTask().request, callbackUrl, metadata: { ticket: 7 }, ...fields } });
  const finish = { ...buildFinish(task, result), ...finishFields };
  const ended = (await store.finishTaskIfRunning(task, finish)) as Task;
  const expected = finish.callback?.(ended.finishedAt as number).body;
  const readBody = async () => (await store.listDueCallbacks({ tenant: "default", receiver: "http://receiver.test" }, 1))[0]?.body;
  expect(await readBody()).toBe(expected);
  expect(JSON.parse(String(expected))).toMatchObject({ output: result.output?.toWellFormed(), metadata: { ticket: 7 } });
  await store.settleCallbackIfPending(
    { task, attempts: 0 },
    { state: "dead", nextInMs: null, lastStatus: 500, lastError: null, event: null },
  );
  await store.close();

  const database = new SqliteDatabase(file, { readonly: true });
  const stored = String(database.prepare("SELECT body FROM callback").pluck().get());
  database.close();
  expect(stored.includes("long long")).toBe(!isShared);

  store = openStore({ file });
  await store.redeliverCallbackIfDead(task.seq);
  expect(await readBody()).toBe(expected);
});
