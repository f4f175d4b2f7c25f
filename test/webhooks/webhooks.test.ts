import { randomUUID } from "node:crypto";
import { rename, writeFile } from "node:fs/promises";
import path from "node:path";
import { createBridgeClient, verifyWebhook, type WebhookBody } from "bridge-client";
import { expect, onTestFinished, test } from "vitest";
import { type Bridge, expectProblem, startBridge } from "../support/start-bridge.ts";
import { type Answer, startReceiver } from "../support/start-receiver.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";
import { askUntil } from "../support/until.ts";

const secret = `whsec_${Buffer.alloc(32, 7).toString("base64")}`;
const publicUrl = "https://bridge.example/agents/";

/** A webhook of the file, without the fields that are the same in all tests. */
interface Entry {
  name: string;
  path?: string;
  [field: string]: unknown;
}

/** Starts a receiver and a Bridge with webhooks that lead to it. */
async function startWithWebhooks(entries: readonly Entry[], answer?: Answer) {
  const receiver = await startReceiver(answer);
  onTestFinished(receiver.close);
  const file = path.join(await temporaryDirectory(), "webhooks.json");
  const write = async (webhooks: readonly Entry[]) => {
    const whole = webhooks.map(({ path: end = webhooks.length > 1 ? "/many" : "/hook", ...entry }) => ({
      ...{ tenant: "alpha", secrets: [secret], url: `${receiver.origin}${end}` },
      ...entry,
    }));
    await writeFile(`${file}.new`, JSON.stringify(whole));
    await rename(`${file}.new`, file);
  };
  await write(entries);
  const bridge = await startBridge({ BRIDGE_WEBHOOKS_FILE: file, BRIDGE_PUBLIC_URL: publicUrl });
  onTestFinished(() => bridge.close());
  const received = (at = "/hook") =>
    receiver.posts.filter((post) => post.path === at).map(({ body }) => JSON.parse(body.toString()) as WebhookBody);
  return { bridge, receiver, write, received };
}

const dispatch = async (bridge: Bridge, body: Record<string, unknown> = {}, token: "alpha" | "beta" = "alpha"): Promise<string> => {
  const taskId = randomUUID();
  await bridge.dispatch({ taskId, ...body }, { token });
  return taskId;
};

test("a webhook gets approvals, ends, dead callbacks and offline adapters: signed, thin, and with links to the console", async () => {
  const refusing = await startReceiver((response) => response.writeHead(410).end());
  onTestFinished(refusing.close);
  const { bridge, receiver, received } = await startWithWebhooks([{ name: "oncall", headers: { authorization: "Bearer x" } }]);
  const labels = { team: "docs" };
  const asked = await dispatch(bridge, { message: "ask", approvals: "ask", labels });
  await expect.poll(() => received()).toContainEqual(expect.objectContaining({ type: "tool.approval_requested" }));
  const [{ approvalId }] = (await bridge.call("GET", "/api/v2/approvals?state=pending")).body.data;
  await bridge.call("POST", `/api/v2/approvals/${approvalId}`, { body: { decision: "reject" } });
  const failed = await dispatch(bridge, { message: "fail", callbackUrl: refusing.origin });
  await expect.poll(() => received().length).toBe(5);
  const links = {
    approvals: `${publicUrl}ui/approvals`,
    task: (id: string) => `${publicUrl}ui/tasks/${id}`,
    adapters: `${publicUrl}ui/adapters`,
  };
  const of = (taskId: string, title: string) => ({ taskId, agentId: "writer", provider: "memory", title });
  const data = Object.fromEntries(received().map((body) => [`${body.type} ${body.data.taskId ?? body.data.provider}`, body.data]));
  expect(data).toEqual({
    "adapter.offline absent": { provider: "absent", node: expect.any(String), url: links.adapters },
    [`tool.approval_requested ${asked}`]: { ...of(asked, "ask"), approvalId, url: links.approvals },
    [`execution.completed ${asked}`]: { ...of(asked, "ask"), url: links.task(asked) },
    [`execution.failed ${failed}`]: { ...of(failed, "fail"), errorCode: "model_error", url: links.task(failed) },
    [`callback.dead ${failed}`]: { ...of(failed, "fail"), url: links.task(failed) },
  });
  for (const { headers, body } of receiver.posts) {
    expect(headers).toMatchObject({ authorization: "Bearer x", "content-type": "application/json" });
    expect(headers).not.toHaveProperty("idempotency-key");
    expect(await verifyWebhook(headers, body, [secret])).toEqual(JSON.parse(body.toString()));
    expect(await verifyWebhook(headers, body, [secret.replace("B", "C")])).toBeNull();
  }
  expect(new Set(receiver.posts.map(({ headers }) => headers["webhook-id"])).size).toBe(5);
});

test("webhooks get only events of their tenant, their types and their filter", async () => {
  const types = ["execution.completed"];
  const { bridge, received } = await startWithWebhooks([
    { name: "alpha", path: "/alpha", types },
    { name: "beta", path: "/beta", types, tenant: "beta" },
    { name: "starts", path: "/starts", types: ["execution.started"] },
    { name: "label", path: "/label", types, filter: { labels: { team: "docs" } } },
    { name: "agent", path: "/agent", types, filter: { agentId: "reader" } },
    { name: "narrow", path: "/narrow", types, filter: { provider: "narrow" } },
  ]);
  const [plain, labeled, reader, narrow, foreign, last] = [
    await dispatch(bridge),
    await dispatch(bridge, { labels: { team: "docs" } }),
    await dispatch(bridge, { agentId: "reader" }),
    await dispatch(bridge, { provider: "narrow" }),
    await dispatch(bridge, {}, "beta"),
    await dispatch(bridge, { agentId: "reader", labels: { team: "docs" }, provider: "narrow" }),
  ];
  const of = (at: string) => new Set(received(at).map(({ data }) => data.taskId));
  const all = new Set([plain, labeled, reader, narrow, last]);
  await expect
    .poll(() => [of("/alpha"), of("/starts"), of("/beta"), of("/label"), of("/agent"), of("/narrow")])
    .toEqual([all, all, new Set([foreign]), new Set([labeled, last]), new Set([reader, last]), new Set([narrow, last])]);
  expect(received("/alpha")).toHaveLength(5);
});

test("a new webhook of the file gets the events that follow, and a removed one gets none", async () => {
  const types = ["execution.completed"];
  const { bridge, write, received } = await startWithWebhooks([{ name: "first", types }]);
  const before = await dispatch(bridge);
  await expect.poll(() => received().map(({ data }) => data.taskId)).toEqual([before]);
  await write([{ name: "second", types, path: "/second" }]);
  await askUntil(
    () => bridge.call("GET", "/api/v2/webhooks"),
    ({ body }) => body.data[0].name === "second",
  );
  // The position of the new webhook is stored a moment later.
  await expect
    .poll(async () => {
      await dispatch(bridge);
      return received("/second").length;
    })
    .toBeGreaterThan(0);
  expect(received("/second").map(({ data }) => data.taskId)).not.toContain(before);
  expect(received()).toHaveLength(1);
});

test("the routes list the webhooks of the tenant without secrets, and redeliver dead deliveries only", async () => {
  let status = 500;
  const types = ["execution.completed"];
  const entry = {
    name: "oncall",
    types,
    path: "/secret-topic",
    headers: { authorization: "Bearer secret" },
    filter: { labels: { a: "b" } },
  };
  const { bridge, received, receiver } = await startWithWebhooks([entry], (response) => response.writeHead(status).end());
  await dispatch(bridge, { labels: { a: "b" } });
  const list = "/api/v2/webhooks";
  const dead = await askUntil(
    () => bridge.call("GET", list),
    ({ body }) => body.data[0].dead === 1,
  );
  expect(dead.body.data).toEqual([{ name: "oncall", origin: receiver.origin, types, filter: { labels: { a: "b" } }, pending: 0, dead: 1 }]);
  const deliveries = `${list}/oncall/deliveries`;
  const [delivery] = (await bridge.call("GET", `${deliveries}?state=dead`)).body.data;
  expect(delivery).toMatchObject({ type: "execution.completed", state: "dead", attempts: 1, lastStatus: 500, lastError: "http_500" });
  const redeliver = `${deliveries}/${delivery.deliveryId}/redeliver`;
  for (const target of [deliveries, `${deliveries}?state=dead`])
    expectProblem(await bridge.call("GET", target, { token: "beta" }), "not_found");
  expectProblem(await bridge.call("POST", redeliver, { token: "beta" }), "not_found");
  expect((await bridge.call("GET", list, { token: "beta" })).body.data).toEqual([]);
  expectProblem(await bridge.call("POST", redeliver, { token: "reader" }), "scope_missing");
  expectProblem(await bridge.call("POST", `${deliveries}/msg_absent/redeliver`), "not_found");
  expectProblem(await bridge.call("GET", `${list}/absent/deliveries`), "not_found");

  status = 204;
  const client = createBridgeClient({ url: bridge.url, token: "secret-alpha" });
  expect(await client.webhooks.redeliver("oncall", delivery.deliveryId)).toMatchObject({ state: "pending", attempts: 1 });
  await expect.poll(() => received("/secret-topic").length).toBe(2);
  await askUntil(
    () => bridge.call("GET", deliveries),
    ({ body }) => body.data[0].state === "delivered",
  );
  expectProblem(await bridge.call("POST", redeliver), "already_delivered");
  const delivered: unknown[] = [];
  for await (const { name } of client.webhooks.list())
    for await (const { attempts } of client.webhooks.listDeliveries(name, { state: "delivered" })) delivered.push([name, attempts]);
  expect(delivered).toEqual([["oncall", 2]]);
  const [first, second] = receiver.posts;
  expect([second?.headers["webhook-id"], second?.body]).toEqual([first?.headers["webhook-id"], first?.body]);
  expect(bridge.log.join("\n")).not.toMatch(/secret-topic|Bearer secret|whsec_/);
});

test("all dead deliveries of a webhook are redelivered, page by page, and those of another one are not", async () => {
  let status = 500;
  const types = ["execution.completed"];
  const { bridge, received } = await startWithWebhooks(
    [
      { name: "oncall", types, path: "/oncall" },
      { name: "chat", types, path: "/chat" },
    ],
    (response) => response.writeHead(status).end(),
  );
  const ids: string[] = [];
  for (let number = 0; number < 3; number += 1) ids.push(await dispatch(bridge));
  const counts = async () => {
    const { data } = (await bridge.call("GET", "/api/v2/webhooks")).body;
    return Object.fromEntries(data.map(({ name, dead }: { name: string; dead: number }) => [name, dead]));
  };
  await expect.poll(counts).toEqual({ chat: 3, oncall: 3 });
  const first = await bridge.call("GET", "/api/v2/webhooks/oncall/deliveries?state=dead&limit=2");
  const second = await bridge.call("GET", `/api/v2/webhooks/oncall/deliveries?state=dead&limit=2&cursor=${first.body.meta.nextCursor}`);
  expect([...first.body.data, ...second.body.data].map(({ taskId }) => taskId).toSorted()).toEqual(ids.toSorted());
  expect(second.body.meta.nextCursor).toBeNull();

  status = 204;
  expectProblem(await bridge.call("POST", "/api/v2/webhooks/oncall/redeliver", { token: "beta" }), "not_found");
  expectProblem(await bridge.call("POST", "/api/v2/webhooks/absent/redeliver"), "not_found");
  expectProblem(await bridge.call("POST", "/api/v2/webhooks/oncall/redeliver", { body: { cursor: "x" } }), "invalid_request");
  const redelivered = await bridge.call("POST", "/api/v2/webhooks/oncall/redeliver");
  expect([redelivered.status, redelivered.body]).toEqual([202, { redelivered: 3, nextCursor: null }]);
  await expect.poll(counts).toEqual({ chat: 3, oncall: 0 });
  await expect.poll(() => received("/oncall").length).toBe(6);
  const client = createBridgeClient({ url: bridge.url, token: "secret-alpha" });
  expect(await client.webhooks.redeliverAll("oncall")).toBe(0);
  expect(await client.webhooks.redeliverAll("chat")).toBe(3);
});

test("BRIDGE_WEBHOOKS_FILE needs BRIDGE_PUBLIC_URL", async () => {
  await expect(startBridge({ BRIDGE_WEBHOOKS_FILE: "webhooks.json" })).rejects.toThrow(
    "BRIDGE_PUBLIC_URL: must be set with BRIDGE_WEBHOOKS_FILE",
  );
});
