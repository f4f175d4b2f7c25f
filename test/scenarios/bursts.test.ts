import { createHash } from "node:crypto";
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { connect, type Socket } from "node:net";
import path from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { type BridgeProgram, dispatchTask, shellCommand, startBridgeProgram } from "../support/bridge-program.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";

const TASKS = 200;
const BURST = 400;
const BODIES = 60;

test("many reads of a tenant at the same moment do not delay the dispatch of another tenant until all are answered", async () => {
  const bridge = await startForTwoTenants();
  const many = {
    call: (method: string, route: string, body?: unknown) => bridge.call(method, route, body, { authorization: "Bearer token-of-many" }),
  };
  for (let count = 0; count < TASKS; count += 1) await dispatchTask(many, { agentId: "a", taskId: `t-${count}`, message: "go" });

  const request = (host: string) => `GET /api/v2/tasks?limit=200 HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer token-of-many\r\n\r\n`;
  expect(await placeOfDispatch(bridge, request, BURST)).toBeLessThan(BURST / 2);
});

test("many large bodies of a tenant at the same moment do not delay the dispatch of another tenant", async () => {
  const bridge = await startForTwoTenants();
  const metadata = Object.fromEntries(Array.from({ length: 15_000 }, (_, index) => [`name-${index}`, index]));
  const body = JSON.stringify({ agentId: "a", message: "go", metadata });
  const request = (host: string) => formatPost("/api/v2/dispatch/check", { host, token: "token-of-many", body });
  expect(await placeOfDispatch(bridge, request, BODIES)).toBeLessThan(BODIES / 2);
});

async function startForTwoTenants(): Promise<BridgeProgram> {
  const dataDir = await temporaryDirectory();
  const entryOf = (name: string) => ({
    name,
    tenant: name,
    sha256: createHash("sha256").update(`token-of-${name}`).digest("hex"),
    scopes: ["dispatch", "read"],
  });
  const tokensFile = path.join(dataDir, "tokens.json");
  await writeFile(tokensFile, JSON.stringify([entryOf("many"), entryOf("other")]));
  return await startBridgeProgram(dataDir, { ...shellCommand("true"), BRIDGE_TOKENS_FILE: tokensFile, BRIDGE_LOG_REQUESTS: "true" });
}

/**
 * Sends a request many times at the same moment, and then the dispatch of another tenant. Returns how many Bridge answered before it, by
 * its log: a busy client could read the answers in another order.
 */
async function placeOfDispatch(bridge: BridgeProgram, request: (host: string) => string, count: number): Promise<number> {
  const { hostname, port, host } = new URL(bridge.url);
  const sockets = await Promise.all(Array.from({ length: count + 1 }, () => open(hostname, Number(port))));
  // Bridge accepts connections one after the other, so a request on the last one could wait for those on the others.
  await Promise.all(sockets.map((socket) => ask(socket, `GET /healthz HTTP/1.1\r\nHost: ${host}\r\n\r\n`)));
  const earlier = bridge.log.length;
  const answered = sockets.slice(0, count).map((socket) => ask(socket, request(host)));
  const body = JSON.stringify({ agentId: "b", message: "go" });
  const dispatched = ask(sockets[count] as Socket, formatPost("/api/v2/dispatch", { host, token: "token-of-other", body }));
  await Promise.all([...answered, dispatched]);
  const answeredTenants = () =>
    bridge.log.slice(earlier).flatMap(({ msg, route, tenant }) => (msg === "request" && route !== "/healthz" ? [tenant] : []));
  await expect.poll(() => answeredTenants().length, { timeout: 30_000 }).toBe(count + 1);
  return answeredTenants().indexOf("other");
}

/** Sends a request, and waits for the beginning of its answer. */
async function ask(socket: Socket, request: string): Promise<void> {
  socket.write(request);
  await once(socket, "data");
}

const formatPost = (target: string, { host, token, body }: { host: string; token: string; body: string }): string =>
  `POST ${target} HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${token}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;

async function open(host: string, port: number): Promise<Socket> {
  const socket = connect(port, host);
  onTestFinished(() => void socket.destroy());
  await once(socket, "connect");
  return socket;
}
