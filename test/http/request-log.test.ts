import { readFile } from "node:fs/promises";
import path from "node:path";
import { expect, test } from "vitest";
import { startBridgeProgram } from "../support/bridge-program.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";

test("with BRIDGE_LOG_REQUESTS, each request is one line with its route and without ids, queries and secrets", async () => {
  const dataDir = await temporaryDirectory();
  const bridge = await startBridgeProgram(dataDir, { BRIDGE_LOG_REQUESTS: "true" });
  const lines = () => bridge.log.filter(({ msg }) => msg === "request");
  await bridge.call("GET", "/api/v2/tasks/secret-id?ticket=secret-ticket", undefined, { "x-request-id": "first" });
  await fetch(`${bridge.url}/api/v2/tasks`, { headers: { authorization: "Bearer secret-token" } });
  await fetch(`${bridge.url}/secret-path`);
  await expect.poll(() => lines().length).toBe(3);
  expect(lines()[0]).toMatchObject({
    level: 30,
    method: "GET",
    route: "/api/v2/tasks/:taskId",
    status: expect.any(Number),
    ms: expect.any(Number),
    principal: expect.any(String),
    tenant: "default",
    requestId: "first",
    isComplete: true,
  });
  expect(lines()[1]).toMatchObject({ route: "/api/v2/tasks", status: 401, principal: null, tenant: null });
  expect(lines()[2]).toMatchObject({ route: null, status: 404 });
  const controller = new AbortController();
  await bridge.call("GET", "/readyz");
  const token = (await readFile(path.join(dataDir, "token"), "utf8")).trim();
  const headers = { authorization: `Bearer ${token}` };
  await fetch(`${bridge.url}/api/events?types=secret-type`, { headers }).then(({ body }) => body?.cancel());
  await fetch(`${bridge.url}/api/events`, { headers, signal: controller.signal });
  controller.abort();
  await expect.poll(() => lines().filter(({ route }) => route === "/api/events")).toHaveLength(2);
  expect(lines().find(({ route, status }) => route === "/api/events" && status === 200)).toMatchObject({ isComplete: false });
  expect(JSON.stringify(bridge.log)).not.toContain("secret-");
});

test("without the setting, no request is logged, and a start logs its configuration without secrets", async () => {
  const secret = `whsec_${Buffer.alloc(32, 7).toString("base64")}`;
  const bridge = await startBridgeProgram(await temporaryDirectory(), { BRIDGE_RETENTION_DAYS: "3", BRIDGE_CALLBACK_SECRETS: secret });
  await bridge.call("GET", "/api/v2/tasks");
  await expect.poll(() => bridge.log.some(({ msg }) => msg === "configuration")).toBe(true);
  expect(bridge.log.find(({ msg }) => msg === "configuration")).toMatchObject({
    adapters: ["command"],
    host: "127.0.0.1",
    sandbox: "off",
    auth: expect.any(Array),
    settings: { BRIDGE_RETENTION_DAYS: "3", BRIDGE_CALLBACK_SECRETS: "***" },
  });
  bridge.signal("SIGTERM");
  expect(await bridge.exited).toBe(0);
  expect(bridge.log.filter(({ msg }) => msg === "request")).toEqual([]);
  expect(JSON.stringify(bridge.log)).not.toContain(secret);
});
