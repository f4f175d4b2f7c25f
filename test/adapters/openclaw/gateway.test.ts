import { lookup } from "node:dns";
import { once } from "node:events";
import { describe, expect, onTestFinished, test } from "vitest";
import { WebSocketServer } from "ws";
import type { HostLookup } from "#contract";
import { createGateway } from "../../../adapters/openclaw/gateway.ts";
import type { GatewayError } from "../../../adapters/openclaw/gateway-error.ts";
import { until } from "../../support/until.ts";
import { startFakeGateway } from "./fake-gateway.ts";

function connectTo({ url, token }: { url: string; token?: string | undefined }, find: HostLookup = lookup) {
  const lines: string[] = [];
  const log = (fields: object, message: string) => void lines.push(`${message} ${JSON.stringify(fields)}`);
  const gateway = createGateway({ url, token, lookup: find, logger: { debug: log, info: log, warn: log, error: log } });
  onTestFinished(() => gateway.close());
  return { gateway, lines };
}
const refusal = (promise: Promise<unknown>) =>
  promise.then(
    () => expect.fail("it was answered"),
    (error: GatewayError) => error,
  );

describe("createGateway", () => {
  test("createGateway resolves the host with Bridge's lookup", async () => {
    const fake = await startFakeGateway();
    const names: string[] = [];
    const { gateway } = connectTo({ ...fake, url: fake.url.replace("127.0.0.1", "gateway.example") }, (hostname, { all }, done) => {
      names.push(hostname);
      if (all) done(null, [{ address: "127.0.0.1", family: 4 }]);
      else done(null, "127.0.0.1", 4);
    });
    await gateway.waitForConnection();
    expect(names).toEqual(["gateway.example"]);
  });

  test("createGateway performs the handshake and reads the methods and scopes of the gateway", async () => {
    const fake = await startFakeGateway({ without: ["tasks.list"] });
    const { gateway } = connectTo(fake);
    expect(gateway.state).toBe("connecting");
    expect(await gateway.waitForConnection()).toMatchObject({ version: "2026.9.6", bootId: expect.stringMatching(/./) });
    expect([gateway.state, gateway.hasMethod("agent"), gateway.hasMethod("tasks.list")]).toEqual(["connected", true, false]);
    expect(fake.calls[0]?.params).toMatchObject({
      minProtocol: 4,
      maxProtocol: 4,
      role: "operator",
      caps: ["tool-events", "exec-approvals"],
    });
  });

  test("createGateway rejects a call with the gateway's error and stays connected", async () => {
    const { gateway } = connectTo(await startFakeGateway());
    await gateway.waitForConnection();
    expect(await refusal(gateway.call("nothing.such"))).toMatchObject({ code: "INVALID_REQUEST", message: "unknown method: nothing.such" });
    expect(await refusal(gateway.call("tasks.list", { odd: 1 }))).toMatchObject({ message: expect.stringContaining("'odd'") });
    expect(await gateway.call("tasks.list")).toEqual({ tasks: [] });
  });

  test("createGateway reconnects after a disconnect, rejects pending calls and keeps its listeners", async () => {
    const fake = await startFakeGateway();
    const { gateway } = connectTo(fake);
    const received: string[] = [];
    gateway.onEvent(({ event }) => received.push(event));
    await gateway.waitForConnection();
    const asked = refusal(
      gateway.call("agent", { message: '{"hang":true}', idempotencyKey: "r", sessionKey: "k" }, { onAccepted: () => {} }),
    );
    await expect.poll(() => received).toContain("agent");
    fake.disconnectAll();
    expect(await asked).toMatchObject({ code: "DISCONNECTED", retryable: true });
    expect(await refusal(gateway.call("tasks.list"))).toMatchObject({ code: "DISCONNECTED" });
    expect(gateway.failure).not.toBeNull();
    await gateway.waitForConnection();
    fake.emit("health", { ok: true });
    await expect.poll(() => received).toContain("health");
    expect(gateway.failure).toBeNull();
  });

  test("createGateway distinguishes a wrong token from a missing gateway, and does not log the token", async () => {
    const fake = await startFakeGateway({ token: "right" });
    const wrong = connectTo({ url: fake.url, token: "wrong-token-4711" });
    await wrong.gateway.waitForAttempt();
    expect(wrong.gateway.failure).toMatchObject({ code: "INVALID_REQUEST", details: { code: "AUTH_TOKEN_MISMATCH" }, retryable: false });
    const unreachable = connectTo({ url: "ws://127.0.0.1:9", token: "wrong-token-4711" });
    await unreachable.gateway.waitForAttempt();
    expect(unreachable.gateway.failure).toMatchObject({
      code: "DISCONNECTED",
      message: expect.stringContaining("ECONNREFUSED"),
      retryable: true,
    });
    expect(wrong.lines).toHaveLength(1);
    expect([...wrong.lines, ...unreachable.lines].join()).not.toContain("4711");
  });

  test("createGateway closes a connection on which the gateway stopped sending", async () => {
    const fake = await startFakeGateway({ tickIntervalMs: 40 });
    const { gateway } = connectTo(fake);
    await gateway.waitForConnection();
    expect(await until(() => gateway.failure?.message.includes("sent nothing") === true, 2_000)).toBe(true);
  });

  test("limits the size of a call and aborts it with its signal", async () => {
    const fake = await startFakeGateway({ maxPayload: 2_000 });
    const { gateway } = connectTo(fake);
    await gateway.waitForConnection();
    const hang = { message: '{"hang":true}', idempotencyKey: "r", sessionKey: "k" };
    expect(await refusal(gateway.call("agent", { ...hang, idempotencyKey: "x".repeat(2_000) }))).toMatchObject({ code: "TOO_LARGE" });
    const stop = new AbortController();
    const given = refusal(gateway.call("agent", hang, { signal: stop.signal, onAccepted: () => stop.abort() }));
    expect(await given).toMatchObject({ code: "ABORTED" });
    expect(await refusal(gateway.call("agent", { ...hang, idempotencyKey: "s" }, { signal: stop.signal }))).toMatchObject({
      code: "ABORTED",
    });
  });

  test("createGateway rejects a call without a response after its time limit", async () => {
    const server = new WebSocketServer({ port: 0, host: "127.0.0.1" });
    await once(server, "listening");
    onTestFinished(() => void server.close());
    server.on("connection", (socket) => {
      socket.send('{"type":"event","event":"connect.challenge","payload":{}}');
      socket.on("message", (data) => {
        const { id, method } = JSON.parse(data.toString());
        const hello = {
          server: { version: "1", bootId: "b" },
          features: { methods: [] },
          auth: {},
          policy: { maxPayload: 1_000, tickIntervalMs: 30_000 },
        };
        if (method === "connect") socket.send(JSON.stringify({ type: "res", id, ok: true, payload: hello }));
        if (method === "garbage") socket.send("{");
      });
    });
    const { port } = server.address() as { port: number };
    const { gateway } = connectTo({ url: `ws://127.0.0.1:${port}` });
    await gateway.waitForConnection();
    expect(await refusal(gateway.call("quiet", {}, { timeoutMs: 20 }))).toMatchObject({
      code: "TIMEOUT",
      message: expect.stringContaining("quiet"),
    });
    expect(await refusal(gateway.call("garbage"))).toMatchObject({ code: "DISCONNECTED", message: expect.stringContaining("protocol") });
  });

  test("createGateway ignores frames after an invalid one, and redacts the token in errors of the gateway", async () => {
    const fake = await startFakeGateway({
      override: ({ method }, answer, socket) => {
        const frame = (event: string) => JSON.stringify({ type: "event", event, payload: null });
        if (method === "echo") answer({ refusal: { code: "UNAVAILABLE", message: `${"x".repeat(100)} secret ${"x".repeat(1_000_000)}` } });
        if (method === "odd") answer({ refusal: "no" });
        if (method === "break") {
          for (const text of [frame("before"), '{"type":', frame("after")]) socket.send(text);
        }
        if (method === "leave") socket.close(1011, "bye, secret");
        return ["echo", "odd", "break", "leave"].includes(method);
      },
    });
    const { gateway, lines } = connectTo(fake);
    const received: string[] = [];
    gateway.onEvent(({ event }) => received.push(event));
    await gateway.waitForConnection();
    const echoed = await refusal(gateway.call("echo"));
    expect([echoed.code, echoed.message.length, echoed.message.includes("secret")]).toEqual(["UNAVAILABLE", 2_000, false]);
    expect(await refusal(gateway.call("odd"))).toMatchObject({ code: "UNAVAILABLE", message: expect.stringContaining("unknown format") });
    expect(await refusal(gateway.call("leave"))).toMatchObject({ code: "DISCONNECTED", message: expect.stringContaining("bye") });
    await gateway.waitForConnection();
    expect(await refusal(gateway.call("break"))).toMatchObject({ code: "DISCONNECTED", message: expect.stringContaining("protocol") });
    await gateway.waitForConnection();
    expect(received).toEqual(["before"]);
    expect(lines.join()).not.toContain("secret");
  });

  test.each([
    ["of another protocol", { protocol: 5 }, "INVALID_HELLO"],
    ["without its methods", { features: {} }, "INVALID_HELLO"],
    ["without its limits", { policy: {} }, "INVALID_HELLO"],
    ["with an excessive tick interval", { policy: { maxPayload: 1_000, tickIntervalMs: 1e13 } }, null],
  ])("createGateway handles a handshake response %s", async (_, odd, code) => {
    const hello = {
      ...{ server: { version: "1" }, features: { methods: [] }, auth: {}, policy: { maxPayload: 1_000, tickIntervalMs: 1_000 } },
      ...odd,
    };
    const fake = await startFakeGateway({
      override: ({ method }, answer) => {
        if (method === "connect") answer({ payload: hello });
        return method === "connect";
      },
    });
    const { gateway } = connectTo(fake);
    await gateway.waitForAttempt();
    expect(gateway.failure?.code ?? null).toBe(code);
    if (code === null) expect(await until(() => gateway.failure !== null, 200)).toBe(false);
  });

  test("createGateway does not reconnect after close() and rejects waiting callers", async () => {
    const fake = await startFakeGateway();
    const { gateway } = connectTo({ url: "ws://127.0.0.1:9" });
    const waiting = refusal(gateway.waitForConnection());
    await gateway.close();
    expect(await waiting).toMatchObject({ code: "ABORTED" });
    const other = connectTo(fake).gateway;
    await other.waitForConnection();
    await other.close();
    expect([other.state, (await refusal(other.call("tasks.list"))).code]).toEqual(["closed", "DISCONNECTED"]);
  });
});
