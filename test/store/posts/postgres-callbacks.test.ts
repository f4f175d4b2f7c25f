import { describe, expect, test } from "vitest";
import type { CallbackSettlement } from "../../../src/store/posts/interface.ts";
import { newFinish } from "../../conformance/store/fixtures.ts";
import { accept, openWrites, typesOf, type WritingNode } from "../../support/postgres/open-writes.ts";

const pending: CallbackSettlement = { state: "pending", nextInMs: 5_000, lastStatus: 503, lastError: "bu\0sy", event: null };
const delivered: CallbackSettlement = {
  ...{ state: "delivered", nextInMs: null, lastStatus: 200, lastError: null },
  event: (attempts) => ({ type: "callback.delivered", data: JSON.stringify({ attempts }) }),
};
const dead: CallbackSettlement = { ...delivered, state: "dead", event: () => ({ type: "callback.dead", data: "{}" }) };

async function endedTask(store: WritingNode, taskId = "task-1") {
  const task = await accept(store, { taskId });
  await store.finishTaskIfRunning(task, newFinish({}, "http://receiver.test/"));
  return task;
}

test.each([
  ["pending", 2, 2, pending, 3],
  ["pending", 2, 2, delivered, 3],
  ["pending", 2, 2, dead, 3],
  ["pending", 2, 1, delivered, null],
  ["pending", 2, 3, delivered, null],
  ["dead", 2, 2, delivered, null],
  ["delivered", 2, 2, dead, null],
] as const)(
  "a %s callback after %i POSTs, posted after %i: the settlement %j returns %j",
  async (state, stored, posted, settlement, expected) => {
    const { database, store } = await openWrites();
    const task = await endedTask(store);
    const columns = { pending: "next_at = 1", dead: "next_at = NULL", delivered: "next_at = NULL, body = NULL" }[state];
    await database.query(`UPDATE callback SET state = $1, attempts = $2, ${columns}`, [state, stored]);
    const [before] = await database.query("SELECT * FROM callback");
    expect(await store.settleCallbackIfPending({ task, attempts: posted }, settlement)).toBe(expected);
    const [after] = await database.query<Record<string, unknown>>("SELECT * FROM callback");
    if (expected === null) {
      expect(after).toEqual(before);
      return;
    }
    expect(after).toMatchObject({ state: settlement.state, attempts: expected, last_status: settlement.lastStatus });
    expect(after?.["last_error"]).toBe(settlement.lastError === null ? null : "bu\ufffdsy");
    if (settlement.state === "pending") expect(Number(after?.["next_at"]) - Number(after?.["updated_at"])).toBe(5_000);
    expect(after?.["body"] === null).toBe(settlement.state === "delivered");
    expect(await database.query("SELECT task FROM callback_dedup")).toHaveLength(settlement.state === "delivered" ? 1 : 0);
    const event = settlement.state === "pending" ? [] : [`callback.${settlement.state}`];
    expect(await typesOf(database, task)).toEqual(["execution.started", "execution.completed", ...event]);
  },
);

test("of several nodes that settle one POST, one counts it, however the settlements meet", async () => {
  const { database, store, other, hold } = await openWrites();
  const task = await endedTask(store);
  const posted = { task, attempts: 0 };
  const settled = await Promise.all([store, other, store, other].map((node) => node.settleCallbackIfPending(posted, pending)));
  expect(settled.filter((attempts) => attempts !== null)).toEqual([1]);
  const held = await hold("UPDATE callback SET attempts = 2");
  const late = store.settleCallbackIfPending({ task, attempts: 1 }, delivered);
  await held.blocks();
  await held.commit();
  expect(await late).toBeNull();
  expect(await database.query("SELECT state, attempts FROM callback")).toEqual([{ state: "pending", attempts: 2 }]);
});

describe("a redelivery", () => {
  test("a redelivery starts a new round for a dead callback only, once", async () => {
    const { database, store } = await openWrites();
    const task = await endedTask(store);
    expect(await store.redeliverCallbackIfDead(task.seq)).toBeNull();
    await store.settleCallbackIfPending({ task, attempts: 0 }, dead);
    const [first, second] = await Promise.all([store.redeliverCallbackIfDead(task.seq), store.redeliverCallbackIfDead(task.seq)]);
    expect(first).toMatchObject({ task: { taskId: "task-1" }, state: "pending", attempts: 1, nextAttemptAt: expect.any(Number) });
    expect(second).toBeNull();
    expect(await database.query("SELECT round_start, body IS NULL AS empty FROM callback")).toEqual([{ round_start: 1, empty: false }]);
    expect(await store.redeliverCallbackIfDead(task.seq + 1)).toBeNull();
  });
});
