import { randomUUID } from "node:crypto";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createCommandAdapter } from "../../../adapters/command/index.ts";
import { type Bridge, expectProblem, startBridge } from "../../support/start-bridge.ts";
import { startReceiver } from "../../support/start-receiver.ts";
import { askUntil } from "../../support/until.ts";

let bridge: Bridge;
beforeAll(async () => {
  bridge = await startBridge();
});
afterAll(() => bridge.close());

const waited = { headers: { prefer: "wait=20" } };
const get = (taskId: string) => bridge.call("GET", `/api/v2/tasks/${taskId}`);
const remove = (taskId: string) => bridge.call("DELETE", `/api/v2/tasks/${taskId}`);
const isRunning = (taskId: string) =>
  askUntil(
    () => get(taskId),
    ({ body }) => body.state === "running",
  );

describe("deleting a task", () => {
  test("a deleted task is removed from every route, and a second deletion results in 404", async () => {
    const taskId = randomUUID();
    await bridge.dispatch({ taskId, agentId: "deleted", message: "look" }, waited);
    const { status, text } = await remove(taskId);
    expect([status, text]).toEqual([204, ""]);
    expectProblem(await get(taskId), "not_found");
    expectProblem(await remove(taskId), "not_found");
    for (const route of ["events", "files", "files/a.md"])
      expectProblem(await bridge.call("GET", `/api/v2/tasks/${taskId}/${route}`), "not_found");
    expectProblem(await bridge.call("POST", `/api/v2/tasks/${taskId}/cancel`), "not_found");
    expectProblem(await bridge.call("POST", `/api/v2/callbacks/${taskId}/redeliver`), "not_found");
    expect((await bridge.call("GET", "/api/v2/tasks?agentId=deleted")).body.data).toEqual([]);
    expect(bridge.log.some((line) => line.includes('"msg":"task deleted"') && line.includes(taskId))).toBe(true);
  });

  test("deleting a task removes its long result and its events", async () => {
    const taskId = randomUUID();
    await bridge.dispatch({ taskId, message: "für 10 €\n".repeat(60_000) }, waited);
    expect((await remove(taskId)).status).toBe(204);
    expectProblem(await get(taskId), "not_found");
  });

  test("a dispatch with the id of a deleted task is a new task, and event streams report no gap", async () => {
    const [taskId, before] = [randomUUID(), randomUUID()];
    await bridge.dispatch({ taskId: before }, waited);
    const { body } = await bridge.call("GET", `/api/v2/tasks/${before}/events`);
    const lastEventId = body.data.at(-1).id as string;
    const first = await bridge.dispatch({ taskId, message: "First." }, waited);
    await remove(taskId);
    const second = await bridge.dispatch({ taskId, message: "Second." }, waited);
    expect([second.status, second.headers.has("idempotent-replayed")]).toEqual([200, false]);
    expect(second.body.result.output).toBe("Second.");
    expect(Date.parse(second.body.createdAt)).toBeGreaterThanOrEqual(Date.parse(first.body.finishedAt));

    const response = await fetch(`${bridge.url}/api/events?taskId=${taskId}`, {
      headers: { authorization: "Bearer secret-alpha", "last-event-id": lastEventId },
    });
    let seen = "";
    for await (const piece of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
      seen += piece;
      if (seen.includes("event: execution.completed")) break;
    }
    expect(seen).not.toContain("stream.gap");
    expect(seen).not.toContain("First.");
    expect(seen).toContain("Second.");
  });

  test("a running or queued task is not deleted, and the error explains what to do", async () => {
    const [running, queued] = [randomUUID(), randomUUID()];
    await bridge.dispatch({ taskId: running, provider: "narrow", message: "wait" });
    await isRunning(running);
    await bridge.dispatch({ taskId: queued, provider: "narrow" });
    for (const taskId of [running, queued]) {
      const refused = await remove(taskId);
      expectProblem(refused, "invalid_state");
      expect(refused.body.detail).toContain("Cancel it first");
    }
    for (const taskId of [queued, running]) await bridge.call("POST", `/api/v2/tasks/${taskId}/cancel`);
    for (const taskId of [queued, running]) {
      await bridge.call("GET", `/api/v2/tasks/${taskId}`, waited);
      expect((await remove(taskId)).status).toBe(204);
    }
  });

  test("a task with a pending callback is not deleted; later its callback is deleted too, and a new task of the same id gets another webhook-id", async () => {
    const taskId = randomUUID();
    let answer = (): void => {};
    const receiver = await startReceiver((response) => {
      answer = () => response.end();
    });
    const run = async () => {
      const posts = receiver.posts.length;
      await bridge.dispatch({ taskId, callbackUrl: receiver.origin }, waited);
      await askUntil(
        async () => receiver.posts.length,
        (count) => count > posts,
      );
    };
    await run();
    const refused = await remove(taskId);
    expectProblem(refused, "invalid_state");
    expect(refused.body.detail).toContain("callback");
    answer();
    await askUntil(
      () => get(taskId),
      ({ body }) => body.callback.state === "delivered",
    );
    expect((await remove(taskId)).status).toBe(204);
    const listed = (await bridge.call("GET", "/api/v2/callbacks")).body.data as { taskId: string }[];
    expect(listed.filter((callback) => callback.taskId === taskId)).toEqual([]);
    await run();
    answer();
    const ids = receiver.posts.map(({ headers }) => headers["webhook-id"]);
    expect(ids).toHaveLength(2);
    expect(new Set(ids).size).toBe(2);
    await receiver.close();
  });

  test("deleting a task of another tenant results in 404, and the route requires the scope dispatch", async () => {
    const taskId = randomUUID();
    await bridge.dispatch({ taskId }, waited);
    expectProblem(await bridge.call("DELETE", `/api/v2/tasks/${taskId}`, { token: "beta" }), "not_found");
    expectProblem(await bridge.call("DELETE", `/api/v2/tasks/${taskId}`, { token: "reader" }), "scope_missing");
    expect((await get(taskId)).status).toBe(200);
    const unknown = await bridge.call("DELETE", `/api/v2/tasks/${taskId}?force=true`);
    expectProblem(unknown, "invalid_request");
    expect((await bridge.call("DELETE", `/api/v2/tasks/${taskId}`, { token: "dispatcher" })).status).toBe(204);
  });

  test("exactly one of many concurrent requests deletes the task", async () => {
    const taskId = randomUUID();
    await bridge.dispatch({ taskId }, waited);
    const answers = await Promise.all(Array.from({ length: 10 }, () => remove(taskId)));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([204, ...Array(9).fill(404)]);
  });

  test("deletions count towards the rate limit", async () => {
    const limited = await startBridge({ BRIDGE_RATE_LIMIT: "3" });
    const file = "/api/v2/workspaces/a/files/b";
    expectProblem(await limited.call("DELETE", "/api/v2/tasks/none"), "not_found");
    expect((await limited.call("PUT", file, { body: "x" })).status).toBe(201);
    expect((await limited.call("DELETE", file)).status).toBe(204);
    for (const [method, target] of [
      ["DELETE", "/api/v2/tasks/none"],
      ["PUT", file],
      ["DELETE", file],
    ] as const)
      expectProblem(await limited.call(method, target, method === "PUT" ? { body: "x" } : {}), "too_many_requests");
    expect((await limited.call("GET", "/api/v2/workspaces")).status).toBe(200);
    await limited.close();
  });
});

test("a task with the id of a deleted one starts only after all data of the deleted task is removed", async () => {
  const root = await mkdtemp(path.join(tmpdir(), "bridge-test-"));
  // The agent leaves a large TMPDIR, whose removal takes longer than ending the task.
  const script = `for (let n = 0; n < 300; n += 1) require("node:fs").writeFileSync(process.env.TMPDIR + "/" + n, "");`;
  const commanding = await startBridge(
    { BRIDGE_DATA_DIR: path.join(root, "data"), BRIDGE_COMMAND: JSON.stringify([process.execPath, "-e", script]) },
    { adapters: [{ provider: "command", adapter: createCommandAdapter() }] },
  );
  try {
    for (let round = 0; round < 2; round += 1) {
      const { body } = await commanding.dispatch({ provider: "command", taskId: "again", agentId: "a", message: "Fill." }, waited);
      expect(body.result).toMatchObject({ status: "ok" });
      expect((await commanding.call("DELETE", "/api/v2/tasks/again")).status).toBe(204);
      expect(await readdir(path.join(root, "data/tmp"))).toEqual([]);
    }
  } finally {
    await commanding.close();
    await rm(root, { recursive: true, force: true });
  }
});
