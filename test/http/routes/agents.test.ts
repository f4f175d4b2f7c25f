import { afterAll, beforeAll, expect, test } from "vitest";
import { type Bridge, expectProblem, startBridge } from "../../support/start-bridge.ts";

let bridge: Bridge;
const waited = { headers: { prefer: "wait=20" } };
beforeAll(async () => {
  bridge = await startBridge();
  for (const agentId of ["writer", "auditor", "writer"]) await bridge.dispatch({ agentId }, waited);
  await bridge.dispatch({ agentId: "writer", provider: "narrow", taskId: "newest" }, waited);
  await bridge.dispatch({ agentId: "foreign" }, { token: "beta" });
});
afterAll(() => bridge.close());

test("the list has every agent with its newest adapter, its number of tasks and its last activity", async () => {
  const { status, body } = await bridge.call("GET", "/api/v2/agents", { token: "reader" });
  const { finishedAt, node } = (await bridge.call("GET", "/api/v2/tasks/newest")).body;
  expect([status, body.meta]).toEqual([200, { nextCursor: null }]);
  expect(body.data).toEqual([
    { agentId: "auditor", provider: "memory", tasks: 1, lastActivityAt: expect.any(String), node },
    { agentId: "writer", provider: "narrow", tasks: 3, lastActivityAt: finishedAt, node },
  ]);
});

test("the list is paginated by name", async () => {
  const first = (await bridge.call("GET", "/api/v2/agents?limit=1")).body;
  expect(first.data.map(({ agentId }: { agentId: string }) => agentId)).toEqual(["auditor"]);
  const second = (await bridge.call("GET", `/api/v2/agents?limit=1&cursor=${first.meta.nextCursor}`)).body;
  expect(second.data.map(({ agentId }: { agentId: string }) => agentId)).toEqual(["writer"]);
  expect(second.meta).toEqual({ nextCursor: null });
});

test("the list contains no agents of other tenants", async () => {
  const { body } = await bridge.call("GET", "/api/v2/agents", { token: "beta" });
  expect(body.data.map(({ agentId }: { agentId: string }) => agentId)).toEqual(["foreign"]);
});

test.each(["limit=0", "cursor=?", "agentId=writer"])("the list rejects ?%s", async (query) => {
  expectProblem(await bridge.call("GET", `/api/v2/agents?${query}`), "invalid_request");
});
