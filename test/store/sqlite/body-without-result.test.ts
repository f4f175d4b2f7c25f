import path from "node:path";
import SqliteDatabase from "better-sqlite3";
import { expect, onTestFinished, test } from "vitest";
import type { ExecutionResult } from "#contract";
import { buildFinish } from "../../../src/results/build-finish.ts";
import { insertResult, removeResult } from "../../../src/store/sqlite/body-without-result.ts";
import { openStore } from "../../../src/store/sqlite/open-store.ts";
import type { Task } from "../../../src/task.ts";
import { newTask } from "../../conformance/store.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";

test.each([
  ["that contains the result", '{"id":1,"a":"😀","b":2,"end":0}', '{"a":"😀","b":2}', '{"id":1,,"end":0}', '{"result":8}'],
  ["with other text at this position", '{"id":1,"a":2,"end":0}', '{"a":1}', '{"id":1,"a":2,"end":0}', null],
])("a body %s is restored unchanged", (_, body, resultJson, stored, gaps) => {
  expect(removeResult(body, 8, resultJson)).toEqual({ body: stored, gaps });
  if (gaps !== null) expect(insertResult(stored, gaps, resultJson)).toBe(body);
});

const callbackUrl = "http://receiver.test/hook";
const result: ExecutionResult = {
  // Not in the order of the callback's fields.
  connection: "in-process",
  output: `"quoted" \u0000 \ud800 😀 ${"long ".repeat(1000)}`,
  conversationMessages: [{ role: "user", content: "do it" }],
  durationMs: 5,
  status: "ok",
};

test.each([
  ["is stored once, in the task", {}, true],
  ["is stored in both if the callback omits the conversation", { callbackConversation: false }, false],
])("a result %s, and every attempt reads the same body", async (_, fields, isShared) => {
  const file = path.join(await temporaryDirectory(), "bridge.db");
  let store = openStore({ file });
  onTestFinished(() => store.close());
  await store.insertTaskIfAbsent(newTask({ request: { ...newTask().request, callbackUrl, metadata: { ticket: 7 }, ...fields } }));
  const task = (await store.startNextTaskIfQueued({
    provider: "command",
    tenant: "default",
    kind: "dispatched",
    exceptAgents: [],
  })) as Task;
  const finish = buildFinish(task, result);
  const ended = (await store.finishTaskIfRunning(task, finish)) as Task;
  const expected = finish.callback?.(ended.finishedAt as number).body;
  const readBody = async () => (await store.listDueCallbacks({ tenant: "default", origin: "http://receiver.test" }, 1))[0]?.body;
  expect(await readBody()).toBe(expected);
  expect(JSON.parse(String(expected))).toMatchObject({ output: result.output, metadata: { ticket: 7 } });
  await store.settleCallbackIfPending(task, { state: "dead", nextInMs: null, lastStatus: 500, lastError: null, event: null });
  await store.close();

  const database = new SqliteDatabase(file, { readonly: true });
  const stored = String(database.prepare("SELECT body FROM callback").pluck().get());
  database.close();
  expect(stored.includes("long long")).toBe(!isShared);

  store = openStore({ file });
  await store.redeliverCallbackIfDead(task.seq);
  expect(await readBody()).toBe(expected);
});
