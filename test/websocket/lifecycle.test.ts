import { createHash } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { request } from "node:http";
import path from "node:path";
import { expect, test } from "vitest";
import { startBridge } from "../support/start-bridge.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";
import { eventually } from "./eventually.ts";
import { openSocket } from "./socket-client.ts";

const sha256 = (token: string) => createHash("sha256").update(token).digest("hex");

test("while Bridge drains, open sockets reject new runs and support all other ops", async () => {
  const bridge = await startBridge({ BRIDGE_DRAIN_SECONDS: "30" });
  const options = { headers: { authorization: "Bearer secret-alpha" } };
  const client = await openSocket(`${bridge.url}/ws/bridge`, options);
  const work = { agent: "writer", input: "wait", provider: "memory", taskId: "t" };
  await client.ask("agent.run", work);
  await eventually(async () => (await client.ask("agent.status", { runId: "t" })).payload.phase).toBe("running");
  const closed = bridge.close();

  expect(await client.ask("agent.run", { ...work, taskId: "u" })).toMatchObject({ status: 503, payload: { error: "draining" } });
  // As over HTTP, a repeated run returns the accepted one.
  expect(await client.ask("agent.run", work)).toMatchObject({ status: 200, payload: { runId: "t" } });
  expect((await client.ask("agent.status", { runId: "t" })).payload.phase).toBe("running");
  const late = await openSocket(`${bridge.url}/ws/bridge`, options);
  expect(await late.closed).toEqual({ code: 4503, reason: "bridge-stopped" });
  expect((await client.ask("agent.cancel", { runId: "t" })).payload).toEqual({ cancelled: true });
  expect(await client.closed).toEqual({ code: 1001, reason: "bridge-stopped" });
  await closed;
});

test("a ticket opens a socket, and revoking the token closes the sockets of both", async () => {
  const file = path.join(await temporaryDirectory(), "tokens.json");
  const entry = (name: string, scopes: string[]) => ({ name, tenant: "alpha", sha256: sha256(`secret-${name}`), scopes });
  await writeFile(file, JSON.stringify([entry("alpha", ["read"]), entry("scraper", ["metrics"])]));
  const bridge = await startBridge({ BRIDGE_TOKENS_FILE: file });
  const endpoint = `${bridge.url}/ws/bridge`;
  const byToken = await openSocket(endpoint, { headers: { authorization: "Bearer secret-alpha" } });
  const { body } = await bridge.call("POST", "/api/v2/events/ticket");
  const byTicket = await openSocket(`${endpoint}?ticket=${body.ticket}`, { origin: "https://dashboard.example" });
  const other = await openSocket(endpoint, { headers: { authorization: "Bearer secret-scraper" } });
  for (const client of [byToken, byTicket]) expect((await client.ask("workspace.list")).status).toBe(200);
  expect((await byTicket.ask("agent.run", { agent: "a", input: "b" })).status).toBe(403);

  await writeFile(file, JSON.stringify([entry("scraper", ["metrics"])]));
  for (const client of [byToken, byTicket]) expect(await client.closed).toEqual({ code: 4401, reason: "token-withdrawn" });
  expect((await other.ask("no.such")).status).toBe(404);
  await bridge.close();
});

test("a dispatch over HTTP that offers HTTP/2 keeps its body", async () => {
  const bridge = await startBridge();
  const { hostname, port } = new URL(bridge.url);
  const body = JSON.stringify({ provider: "memory", agentId: "writer", message: "Hello." });
  const status = await new Promise((resolve, reject) => {
    const headers = {
      authorization: "Bearer secret-alpha",
      "content-type": "application/json",
      "content-length": Buffer.byteLength(body),
      connection: "Upgrade, HTTP2-Settings",
      upgrade: "h2c",
      "http2-settings": "AAMAAABkAAQAoAAAAAIAAAAA",
    };
    request({ hostname, port, method: "POST", path: "/api/v2/dispatch", headers }, (response) => {
      response.resume();
      resolve(response.statusCode);
    })
      .once("error", reject)
      .end(body);
  });
  expect(status).toBe(202);
  await bridge.close();
});
