import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { type ClientRequest, get, Agent as HttpAgent } from "node:http";
import { connect, type Socket } from "node:net";
import path from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { WebSocket } from "ws";
import { MAX_BYTES_PER_TENANT } from "../../src/access/client-memory.ts";
import { type BridgeProgram, dispatchTask, startBridgeProgram, taskInState } from "../support/bridge-program.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";

const MIB = 1024 ** 2;
const RUNS = 8;
const EVENTS = 30;
const RESULT_TEXT_LENGTH = 3_900_000;
/** Memory that the connections themselves, and what the garbage collector has not freed yet, may add to the documented limit. */
const OTHER_BYTES = 192 * MIB;

/** Starts a Bridge with a small heap and two tenants. */
async function startSmallBridge() {
  const dataDir = await temporaryDirectory();
  const entryOf = (tenant: string) => ({
    name: tenant,
    tenant,
    sha256: createHash("sha256").update(`token-of-${tenant}`).digest("hex"),
    scopes: ["dispatch", "read", "approve"],
  });
  const tokensFile = path.join(dataDir, "tokens.json");
  await writeFile(tokensFile, JSON.stringify([entryOf("hostile"), entryOf("other")]));
  const agent = path.join(dataDir, "agent.mjs");
  await writeFile(agent, agentSource);
  const bridge = await startBridgeProgram(dataDir, {
    BRIDGE_COMMAND: JSON.stringify([process.execPath, agent]),
    BRIDGE_TOKENS_FILE: tokensFile,
    NODE_OPTIONS: "--max-old-space-size=256",
  });
  const as = (tenant: string) => ({
    call: (method: string, target: string, body?: unknown) =>
      bridge.call(method, target, body, { authorization: `Bearer token-of-${tenant}` }),
  });
  return { bridge, as };
}

type SmallBridge = Awaited<ReturnType<typeof startSmallBridge>>;

/** Checks that Bridge lives and runs tasks of the other tenant. */
async function expectService({ bridge, as }: SmallBridge, tasks: number): Promise<void> {
  for (let count = 0; count < tasks; count += 1) {
    const { status } = await dispatchTask(as("other"), { agentId: "b", taskId: `other-${count}`, message: "nothing" });
    expect(status).toBe(202);
    await taskInState(as("other"), `other-${count}`, "completed");
  }
  expect(await Promise.race([bridge.exited, "running"])).toBe("running");
}

test("clients of one tenant that read nothing cannot exhaust the memory of Bridge, whatever they ask for", async () => {
  const small = await startSmallBridge();
  const { bridge, as } = small;
  const runIds = Array.from({ length: RUNS }, (_, index) => `events-${index}`);
  for (const taskId of runIds) await dispatchTask(as("hostile"), { agentId: "a", taskId, message: "events" });
  await dispatchTask(as("hostile"), { agentId: "a", taskId: "result", message: "result" });
  for (const taskId of [...runIds, "result"]) await taskInState(as("hostile"), taskId, "completed");
  const before = memoryBytes(bridge, "VmRSS");
  // Resets the peak to the current use.
  await writeFile(`/proc/${bridge.pid}/clear_refs`, "5");

  const clients = openUnreadClients(bridge, runIds);
  onTestFinished(() => clients.close());
  await clients.opened;
  await expectService(small, 20);
  expect((memoryBytes(bridge, "VmHWM") - before) / MIB).toBeLessThan((MAX_BYTES_PER_TENANT + OTHER_BYTES) / MIB);
});

test("the values of many bodies that wait for a check cannot exhaust the memory of Bridge", async () => {
  const small = await startSmallBridge();
  // The check of such a schema takes about 50 ms, and each body takes 20 times its size as values.
  const properties = Object.fromEntries(Array.from({ length: 1200 }, (_, index) => [`p${index}`, { type: "string", pattern: "^(a+)+$" }]));
  const inputSchema = { type: "object", examples: Array.from({ length: 45_000 }, () => ({})) };
  const body = { agentId: "a", message: "x", outputSchema: { type: "object", properties }, tools: [{ name: "t", inputSchema }] };
  const frame = JSON.stringify({ op: "agent.run", payload: body });
  const json = JSON.stringify(body);
  const { port } = new URL(small.bridge.url);
  const head = [
    "POST /api/v2/dispatch/check HTTP/1.1",
    "host: localhost",
    "authorization: Bearer token-of-hostile",
    "content-type: application/json",
    `content-length: ${json.length}`,
  ];
  const connections: Socket[] = [];
  const sockets: WebSocket[] = [];
  onTestFinished(() => {
    for (const connection of connections) connection.destroy();
    for (const socket of sockets) socket.terminate();
  });
  for (let count = 0; count < 800; count += 1) {
    const connection = connect(Number(port), "127.0.0.1");
    connection.on("error", () => {}).pause();
    connection.write(`${head.join("\r\n")}\r\n\r\n${json}`);
    connections.push(connection);
  }
  for (let count = 0; count < 20; count += 1) {
    const socket = new WebSocket(`${small.bridge.url.replace("http", "ws")}/ws/bridge`, {
      headers: { authorization: "Bearer token-of-hostile" },
    });
    socket.on("error", () => {});
    socket.once("open", () => {
      socket.pause();
      for (let sent = 0; sent < 16; sent += 1) socket.send(frame);
    });
    sockets.push(socket);
  }
  await expectService(small, 20);
});

const agentSource = `
let message = "";
for await (const chunk of process.stdin) message += chunk;
if (message.includes("events")) for (let count = 0; count < ${EVENTS}; count += 1) console.log(JSON.stringify({ type: "text", text: "\\u20ac".repeat(80000) }));
else if (message.includes("result")) console.log(JSON.stringify({ type: "result", status: "ok", outputs: { text: "x".repeat(${RESULT_TEXT_LENGTH}) } }));
`;

/** Reads the resident memory of the process, now or at its peak. */
const memoryBytes = ({ pid }: BridgeProgram, field: "VmRSS" | "VmHWM"): number =>
  Number(new RegExp(`^${field}:\\s+(\\d+) kB`, "m").exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) * 1024;

/** Opens every kind of connection on which Bridge sends much, and reads nothing. */
function openUnreadClients({ url }: BridgeProgram, runIds: readonly string[]) {
  const headers = { authorization: "Bearer token-of-hostile" };
  const sockets: WebSocket[] = [];
  const requests: ClientRequest[] = [];
  const agent = new HttpAgent({ keepAlive: false, maxSockets: Number.POSITIVE_INFINITY });

  const openSocket = (frames: readonly object[]): Promise<void> =>
    new Promise((resolve) => {
      const socket = new WebSocket(`${url.replace("http", "ws")}/ws/bridge`, { headers });
      sockets.push(socket);
      socket.on("error", () => resolve());
      socket.once("open", () => {
        socket.pause();
        for (const frame of frames) socket.send(JSON.stringify(frame));
        resolve();
      });
    });
  const request = (target: string, more: Record<string, string> = {}): void => {
    const sent = get(new URL(target, url), { agent, headers: { ...headers, ...more } });
    sent.on("error", () => {});
    sent.on("response", (response) => {
      response.on("error", () => {});
      response.pause();
    });
    requests.push(sent);
  };

  const follows = runIds.map((runId) => ({ op: "agent.events", payload: { runId } }));
  const results = Array.from({ length: 16 }, () => ({ op: "agent.result", payload: { runId: "result" } }));
  const opened = Promise.all([
    ...Array.from({ length: 300 }, () => openSocket(follows)),
    ...Array.from({ length: 60 }, () => openSocket(results)),
  ]).then(() => {});
  for (let count = 0; count < 100; count += 1) {
    const runId = runIds[count % runIds.length] as string;
    request(`/api/v2/tasks/${runId}/events`, { accept: "text/event-stream" });
    request(`/api/v2/tasks/${runId}/events?limit=200`);
    request("/api/v2/tasks/result");
    request("/api/v2/tasks?limit=200", { prefer: "wait=30" });
    request("/openapi.yaml");
  }
  return {
    opened,
    close() {
      for (const socket of sockets) socket.terminate();
      for (const sent of requests) sent.destroy();
      agent.destroy();
    },
  };
}
