import { once } from "node:events";
import { request } from "node:http";
import SqliteDatabase from "better-sqlite3";
import { expect, onTestFinished, test, vi } from "vitest";
import { startBridge } from "../support/start-bridge.ts";

const CLIENTS = 64;

test("the dispatches of clients that connect at the same time share commits", async () => {
  const prepare = vi.spyOn(SqliteDatabase.prototype, "prepare");
  onTestFinished(() => prepare.mockRestore());
  const bridge = await startBridge();
  onTestFinished(() => bridge.close());
  const index = prepare.mock.calls.findIndex(([sql]) => sql === "COMMIT");
  const commit = vi.spyOn(prepare.mock.results[index]?.value, "run");
  const answers = Array.from({ length: CLIENTS }, async () => {
    const headers = { authorization: "Bearer secret-alpha", "content-type": "application/json" };
    const sent = request(`${bridge.url}/api/v2/dispatch`, { method: "POST", headers, agent: false });
    sent.end(JSON.stringify({ agentId: "a", provider: "memory", message: "wait" }));
    const [response] = await once(sent, "response");
    response.resume();
    return response.statusCode;
  });
  expect(new Set(await Promise.all(answers))).toEqual(new Set([202]));
  // Node accepts one connection per turn of the event loop. Without postponed commits, each of these turns would end with a commit.
  expect(commit.mock.calls.length).toBeLessThan(CLIENTS / 4);
});
