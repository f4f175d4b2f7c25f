import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { approvalSchema } from "../../../src/http/routes/describe-approval.ts";
import { pageSchema } from "../../../src/http/wire/pagination.ts";
import { type Bridge, expectProblem, startBridge, type TokenName } from "../../support/start-bridge.ts";
import { askUntil } from "../../support/until.ts";

let bridge: Bridge;
beforeAll(async () => {
  bridge = await startBridge({ BRIDGE_APPROVAL_SECONDS: "60" });
});
afterAll(() => bridge.close());

const list = (query = "", token: TokenName = "alpha") => bridge.call("GET", `/api/v2/approvals${query}`, { token });
const decide = (approvalId: string, body: unknown, token: TokenName = "alpha") =>
  bridge.call("POST", `/api/v2/approvals/${approvalId}`, { body, token });
const taskIn = (taskId: string, state: string) =>
  askUntil(
    () => bridge.call("GET", `/api/v2/tasks/${taskId}`),
    ({ body }) => body.state === state,
  );

/** Dispatches a task that requests an approval, and waits for the request. */
async function ask(taskId: string): Promise<string> {
  await bridge.dispatch({ taskId, message: "ask", approvals: "ask", profile: "modify" });
  const { body } = await askUntil(
    () => list("?state=pending"),
    ({ body }) => body.data.some((approval: { taskId: string }) => approval.taskId === taskId),
  );
  return body.data.find((approval: { taskId: string }) => approval.taskId === taskId).approvalId;
}

test("a task that requests an approval reports what it waits for and continues with the decision", async () => {
  const approvalId = await ask("t1");
  expect((await bridge.call("GET", "/api/v2/tasks/t1")).body).toMatchObject({ state: "running", waitingOn: "approval" });
  expect((await bridge.call("GET", "/api/v2/tasks?state=running")).body.data).toMatchObject([{ taskId: "t1", waitingOn: "approval" }]);
  const decided = await decide(approvalId, { decision: "approve", reason: "It is old." });
  expect(decided.status).toBe(200);
  expect(approvalSchema.parse(decided.body)).toMatchObject({
    ...{
      approvalId,
      taskId: "t1",
      agentId: "writer",
      provider: "memory",
      toolCallId: "call-1",
      toolName: "delete",
      input: { path: "a.md" },
    },
    ...{ state: "approved", decidedBy: "alpha", reason: "It is old." },
  });
  expect((await taskIn("t1", "completed")).body).toMatchObject({ waitingOn: null, result: { output: "approve" } });
  const events = (await bridge.call("GET", "/api/v2/tasks/t1/events")).body.data;
  expect(events.find(({ type }: { type: string }) => type === "tool.approval_resolved").data).toEqual({
    ...{ approvalId, kind: "tool", toolCallId: "call-1", decision: "approve", by: "alpha", reason: "It is old." },
  });
  expectProblem(await decide(approvalId, { decision: "approve", raiseByUsd: 1 }), "invalid_request");
  expectProblem(await decide(approvalId, { decision: "reject" }), "already_decided");
  const audit = () => bridge.log.map((line) => JSON.parse(line)).find(({ msg }) => msg === "approval decided");
  await vi.waitFor(() => expect(audit()).toBeDefined());
  expect(audit()).toMatchObject({ approvalId, taskId: "t1", tenant: "alpha", decidedBy: "alpha", state: "approved", reason: "It is old." });
});

test("only the first of two concurrent clients decides, and the other gets an error", async () => {
  const approvalId = await ask("t2");
  const answers = await Promise.all((["approve", "reject"] as const).map((decision) => decide(approvalId, { decision })));
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 409]);
  const won = answers[0]?.status === 200 ? "approve" : "reject";
  expect((await taskIn("t2", "completed")).body.result.output).toBe(won);
});

test("a canceled task no longer waits for an approval", async () => {
  const approvalId = await ask("t3");
  await bridge.call("POST", "/api/v2/tasks/t3/cancel");
  await taskIn("t3", "cancelled");
  expectProblem(await decide(approvalId, { decision: "approve" }), "already_decided");
  const [approval] = (await list("?state=rejected&limit=1")).body.data;
  expect(approval).toMatchObject({ approvalId, decidedBy: "bridge", reason: "The task was canceled." });
});

test("approvals are listed newest first, filtered by state and paginated", async () => {
  const all = pageSchema(approvalSchema).parse((await list()).body).data;
  expect(all.length).toBeGreaterThanOrEqual(3);
  const first = (await list("?limit=1")).body;
  const rest = (await list(`?cursor=${first.meta.nextCursor}`)).body;
  expect([...first.data, ...rest.data]).toEqual(all);
  expect(rest.meta.nextCursor).toBeNull();
  expect((await list("?state=approved")).body.data.every(({ state }: { state: string }) => state === "approved")).toBe(true);
});

test("approvals can be listed oldest first, with the title of their task", async () => {
  const newest = (await list()).body.data;
  const first = (await list("?order=oldest&limit=1")).body;
  const rest = (await list(`?order=oldest&cursor=${first.meta.nextCursor}`)).body;
  expect([...first.data, ...rest.data]).toEqual(newest.toReversed());
  expect(first.data).toMatchObject([{ taskId: "t1", title: "ask" }]);
  expect((await list("?order=oldest&state=approved")).body.data.every(({ state }: { state: string }) => state === "approved")).toBe(true);
  expectProblem(await list("?order=random"), "invalid_request");
});

test("the approvals of one task are listed, with the directory in which it works", async () => {
  const dispatched = { message: "ask", approvals: "ask", profile: "modify", agentId: "directory" };
  const files = [{ path: "site/a.md", content: "a" }];
  await bridge.dispatch({ ...dispatched, taskId: "in-site", metadata: { cwd: "site" }, files });
  await bridge.dispatch({ ...dispatched, taskId: "in-workspace" });
  const of = async (taskId: string) => {
    const { body } = await askUntil(
      () => list(`?taskId=${taskId}`),
      ({ body }) => body.data.length > 0,
    );
    return pageSchema(approvalSchema).parse(body).data;
  };
  const [inSite] = await of("in-site");
  const [inWorkspace] = await of("in-workspace");
  expect([inSite, inWorkspace]).toMatchObject([
    { taskId: "in-site", cwd: "site" },
    { taskId: "in-workspace", cwd: null },
  ]);
  const decided = (await decide(inSite?.approvalId as string, { decision: "approve" })).body;
  expect((await list("?taskId=in-site&state=pending&order=oldest")).body.data).toEqual([]);
  expect((await list("?taskId=in-site&state=approved&order=oldest")).body).toEqual({ data: [decided], meta: { nextCursor: null } });
  expect((await list("?taskId=unknown")).body.data).toEqual([]);
  expect((await list("?taskId=in-site", "beta")).body.data).toEqual([]);
  await decide(inWorkspace?.approvalId as string, { decision: "reject" });
  for (const taskId of ["in-site", "in-workspace"]) await taskIn(taskId, "completed");
});

test("approvals of another tenant result in 404, and each route requires its scope", async () => {
  const approvalId = await ask("t4");
  expect((await list("", "beta")).body.data).toEqual([]);
  expectProblem(await decide(approvalId, { decision: "approve" }, "beta"), "not_found");
  expectProblem(await decide(approvalId, { decision: "approve" }, "reader"), "scope_missing");
  expectProblem(await decide(approvalId, { decision: "approve" }, "dispatcher"), "scope_missing");
  expect((await list("", "reader")).status).toBe(200);
  expectProblem(await list("", "dispatcher"), "scope_missing");
  await decide(approvalId, { decision: "reject" });
  await taskIn("t4", "completed");
});

test.each([
  ["no decision", {}, "decision"],
  ["an unknown decision", { decision: "maybe" }, "decision"],
  ["an unknown field", { decision: "approve", by: "me" }, "by"],
  ["a too long reason", { decision: "approve", reason: "x".repeat(2_001) }, "reason"],
])("a decision with %s is rejected with the name of the field", async (_, body, path) => {
  const refused = await decide("apr_unknown", body);
  expectProblem(refused, "invalid_request");
  expect(refused.body.errors).toMatchObject([{ path }]);
});

test("an unknown approval results in 404 and an unknown state in 400", async () => {
  expectProblem(await decide("apr_unknown", { decision: "approve" }), "not_found");
  expectProblem(await list("?state=maybe"), "invalid_request");
});
