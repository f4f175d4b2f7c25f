import { randomUUID } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Bridge, expectProblem, startBridge } from "../support/start-bridge.ts";
import { startReceiver } from "../support/start-receiver.ts";
import { askUntil } from "../support/until.ts";

// Requests alpha's resources with beta's token on every route.
let bridge: Bridge;
let receiver: Awaited<ReturnType<typeof startReceiver>>;
let lastEventId = "";
let directory: string;
/** A dead delivery of alpha's webhook. */
let deliveryId = "";
const done = randomUUID();
const running = randomUUID();

beforeAll(async () => {
  receiver = await startReceiver((response) => {
    response.statusCode = 500;
    response.end();
  });
  directory = await mkdtemp(path.join(tmpdir(), "bridge-tenants-"));
  const file = path.join(directory, "webhooks.json");
  const secrets = [`whsec_${Buffer.alloc(32).toString("base64")}`];
  await writeFile(file, JSON.stringify([{ name: "hook", tenant: "alpha", url: receiver.origin, types: ["execution.completed"], secrets }]));
  bridge = await startBridge({ BRIDGE_WEBHOOKS_FILE: file, BRIDGE_PUBLIC_URL: "https://bridge.example" });
  await bridge.dispatch({ taskId: done, callbackUrl: receiver.origin, agentId: "shared", labels: { team: "docs" } });
  await askUntil(
    () => bridge.call("GET", `/api/v2/tasks/${done}`),
    ({ body }) => body.callback?.state === "dead",
  );
  await bridge.dispatch({ taskId: running, message: "wait", agentId: "shared" });
  await askUntil(
    () => bridge.call("GET", `/api/v2/tasks/${running}`),
    ({ body }) => body.state === "running",
  );
  const dead = await askUntil(
    () => bridge.call("GET", "/api/v2/webhooks/hook/deliveries?state=dead"),
    ({ body }) => body.data.length === 1,
  );
  deliveryId = dead.body.data[0].deliveryId;
  lastEventId = (await bridge.call("GET", `/api/v2/tasks/${done}/events`)).body.data.at(-1).id;
});
afterAll(async () => {
  await bridge.close();
  await receiver.close();
  await rm(directory, { recursive: true });
});

const asBeta = (method: string, target: string, headers: Record<string, string> = {}) =>
  bridge.call(method, target, { token: "beta", headers });

test.each([
  ["GET", () => `/api/v2/tasks/${done}`],
  ["GET", () => `/api/v2/tasks/${running}`],
  ["GET", () => `/api/v2/tasks/${done}/request`],
  ["DELETE", () => `/api/v2/tasks/${done}`],
  ["DELETE", () => `/api/v2/tasks/${running}`],
  ["POST", () => `/api/v2/tasks/${done}/cancel`],
  ["POST", () => `/api/v2/tasks/${running}/cancel`],
  ["GET", () => `/api/v2/tasks/${done}/events`],
  ["GET", () => `/api/v2/tasks/${done}/events?after=${lastEventId}`],
  ["GET", () => `/api/v2/tasks/${done}/files`],
  ["GET", () => `/api/v2/tasks/${running}/files/any`],
  ["GET", () => `/api/v2/callbacks/${done}`],
  ["GET", () => `/api/v2/callbacks/${running}`],
  ["GET", () => `/api/v2/tasks/${done}/diff`],
  ["GET", () => `/api/v2/tasks/${done}/patch`],
  ["POST", () => `/api/v2/callbacks/${done}/redeliver`],
  ["POST", () => `/api/v2/callbacks/${running}/redeliver`],
  ["GET", () => "/api/v2/webhooks/hook/deliveries"],
  ["GET", () => "/api/v2/webhooks/hook/deliveries?state=dead"],
  ["POST", () => `/api/v2/webhooks/hook/deliveries/${deliveryId}/redeliver`],
  ["POST", () => "/api/v2/webhooks/hook/redeliver"],
])("%s of another tenant's task results in 404: row %#", async (method, target) => {
  const refused = await asBeta(method, target());
  expectProblem(refused, "not_found");
  const missing = await asBeta(method, target().replace(/[0-9a-f]{8}-[0-9a-f-]{27}/, randomUUID()));
  expect(refused.body.detail).toBe(missing.body.detail);
});

test("the stream of another tenant's task results in 404", async () => {
  expectProblem(await asBeta("GET", `/api/v2/tasks/${done}/events`, { accept: "text/event-stream" }), "not_found");
});

test.each([
  "/api/v2/tasks",
  "/api/v2/tasks?agentId=shared",
  "/api/v2/tasks?state=running",
  "/api/v2/tasks?callback=dead",
  "/api/v2/tasks?root=*",
  "/api/v2/tasks?label=team=docs",
  "/api/v2/tasks?q=hello",
  "/api/v2/tasks?createdAfter=2020-01-01T00:00:00Z",
  "/api/v2/tasks?finishedAfter=2020-01-01T00:00:00Z",
  "/api/v2/agents",
  "/api/v2/callbacks",
  "/api/v2/callbacks?state=dead",
  "/api/v2/webhooks",
  "/api/v2/workspaces",
])("%s returns nothing of another tenant", async (target) => {
  expect((await asBeta("GET", target)).body).toEqual({ data: [], meta: { nextCursor: null } });
});

test("a redelivery of all dead callbacks to an origin leaves those of another tenant dead", async () => {
  const { status, body } = await bridge.call("POST", "/api/v2/callbacks/redeliver", { token: "beta", body: { origin: receiver.origin } });
  expect([status, body]).toEqual([202, { redelivered: 0, nextCursor: null }]);
  expect((await bridge.call("GET", `/api/v2/callbacks/${done}`)).body).toMatchObject({ state: "dead", history: [{ number: 1 }] });
});

test("what needs a person contains nothing of another tenant, and no other tenant acknowledges it", async () => {
  const ofBeta = (await asBeta("GET", "/api/v2/attention")).body;
  expect(ofBeta.data.filter(({ kind }: { kind: string }) => kind !== "adapter")).toEqual([]);
  expect([ofBeta.counts.callback, ofBeta.counts.delivery, ofBeta.receivers]).toEqual([0, 0, []]);
  const acknowledge = (body: object) => bridge.call("POST", "/api/v2/attention/acknowledge", { token: "beta", body });
  expectProblem(await acknowledge({ kind: "callback", id: done }), "not_found");
  expectProblem(await acknowledge({ kind: "delivery", id: deliveryId }), "not_found");
  expect((await acknowledge({ kind: "callback", receiver: receiver.origin })).body).toEqual({ acknowledged: 0, hasMore: false });
  expect((await acknowledge({ kind: "delivery", all: true })).body).toEqual({ acknowledged: 0, hasMore: false });
  expect((await bridge.call("GET", "/api/v2/attention")).body.counts).toMatchObject({ callback: 1, delivery: 1 });
});

test("the sums of usage contain nothing of another tenant", async () => {
  for (const by of ["hour", "day", "provider", "agent", "model", "label"]) {
    const { total, data } = (await asBeta("GET", `/api/v2/stats?by=${by}`)).body;
    expect([by, total.tasks, data.filter(({ tasks }: { tasks: number }) => tasks > 0)]).toEqual([by, 0, []]);
  }
});

test("parentTaskId and a cursor of another tenant's list return nothing of that tenant", async () => {
  const cursor = (await bridge.call("GET", "/api/v2/tasks?limit=1")).body.meta.nextCursor;
  expect(cursor).toEqual(expect.any(String));
  expect((await asBeta("GET", `/api/v2/tasks?cursor=${cursor}`)).body.data).toEqual([]);
  for (const filter of [`parentTaskId=${done}`, `root=${done}`, `idPrefix=${done.slice(0, 8)}`, `search=${done}`])
    expect((await asBeta("GET", `/api/v2/tasks?${filter}`)).body.data).toEqual([]);
});

test("the domains of another tenant's workspace contain only the built-in ones", async () => {
  const body = JSON.stringify({ custom_domains: [{ name: "secret-of-alpha", expert: "Alpha's Expert" }] });
  const file = "/api/v2/workspaces/shared/files/.bridge-settings.json";
  expect((await bridge.call("PUT", file, { body, headers: { "content-type": "text/plain" } })).status).toBe(201);
  expect((await bridge.call("GET", "/api/v2/domains?workspace=shared")).body.data).toHaveLength(27);
  expect((await asBeta("GET", "/api/v2/domains?workspace=shared")).body).toEqual((await asBeta("GET", "/api/v2/domains")).body);
  expect((await bridge.call("DELETE", file)).status).toBe(204);
});

test("two tenants' workspaces of the same name have separate files and lists", async () => {
  const file = "/api/v2/workspaces/shared/files/a.md";
  const put = (token: "alpha" | "beta", headers = {}) =>
    bridge.call("PUT", file, { token, body: token, headers: { "content-type": "text/plain", ...headers } });
  expect((await put("alpha")).status).toBe(201);
  expectProblem(await asBeta("DELETE", file), "not_found");
  expectProblem(await put("beta", { "if-match": "*" }), "stale_write");
  expect((await put("beta", { "if-none-match": "*" })).status).toBe(201);
  expect((await asBeta("DELETE", file)).status).toBe(204);
  expect((await bridge.call("DELETE", file)).status).toBe(204);
});

describe("the stream of all events", () => {
  test.each([
    ["from the first event", () => ({ "last-event-id": lastEventId.replace(/-\d+$/, "-0") }), ""],
    ["after another tenant's event", () => ({ "last-event-id": lastEventId }), ""],
    ["filtered by another tenant's task", () => ({ "last-event-id": lastEventId.replace(/-\d+$/, "-0") }), `?taskId=${done}`],
    ["after an unknown event", () => ({ "last-event-id": "unknown-7" }), ""],
  ])("the stream contains no events of another tenant, %s", async (_, headers, query) => {
    const response = await fetch(`${bridge.url}/api/events${query}`, {
      headers: { authorization: "Bearer secret-beta", accept: "text/event-stream", ...headers() },
    });
    expect(response.status).toBe(200);
    // The tenant's own event follows all events that a leak could replay.
    const own = randomUUID();
    await bridge.dispatch({ taskId: own, agentId: "shared" }, { token: "beta" });
    let seen = "";
    const wanted = query === "" ? own : "retry:";
    for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
      seen += chunk;
      if (seen.includes(wanted)) break;
    }
    expect(seen).toContain(wanted);
    for (const foreign of [done, running]) expect(seen).not.toContain(foreign);
  });
});

test("the requests of the other tenant do not affect alpha's task", async () => {
  expect((await bridge.call("GET", `/api/v2/tasks/${running}`)).body.state).toBe("running");
  expect((await bridge.call("GET", `/api/v2/callbacks?state=dead`)).body.data).toHaveLength(1);
  expect((await bridge.call("GET", "/api/v2/webhooks/hook/deliveries?state=dead")).body.data).toMatchObject([{ deliveryId }]);
});
