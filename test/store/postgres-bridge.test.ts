import { statSync } from "node:fs";
import path from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { connect } from "../../src/store/engines/postgres/connection.ts";
import { checkVersion, shareSessions } from "../../src/store/engines/postgres/prepare-database.ts";
import { dispatchTask, shellCommand, startBridgeProgram, taskInState } from "../support/bridge-program.ts";
import { createDatabase } from "../support/postgres/create-database.ts";
import { startProxy } from "../support/postgres/proxy.ts";
import { startReceiver } from "../support/start-receiver.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";

test("a task that Bridge runs on PostgreSQL is streamed to its end, posts its callback, and is found after a restart", async () => {
  const receiver = await startReceiver();
  onTestFinished(receiver.close);
  const { urlAt, port, query } = await createDatabase({ isEmpty: true });
  const dataDir = await temporaryDirectory();
  const settings = { BRIDGE_DATABASE_URL: urlAt(port), ...shellCommand("echo one; echo two") };
  const bridge = await startBridgeProgram(dataDir, settings);
  const stream = await bridge.call("GET", "/api/events", undefined, { accept: "text/event-stream" });
  const accepted = await dispatchTask(bridge, { taskId: "t1", agentId: "writer", message: "go", callbackUrl: receiver.origin });
  expect(accepted.status).toBe(202);
  const followed = await bridge.call("GET", "/api/v2/tasks/t1/events", undefined, { accept: "text/event-stream" });
  const types = [...(await followed.text()).matchAll(/^event: (.+)$/gm)].map(([, type]) => type);
  expect([types[0], types.at(-1)]).toEqual(["execution.started", "execution.completed"]);
  await expect.poll(() => receiver.posts.length).toBe(1);
  expect(JSON.parse(String(receiver.posts[0]?.body))).toMatchObject({ taskId: "t1", status: "ok", output: "one\ntwo\n" });
  const callbackOf = async () => ((await taskInState(bridge, "t1", "completed")) as { callback: unknown }).callback;
  await expect.poll(callbackOf).toMatchObject({ state: "delivered", attempts: 1 });
  expect(await readUntil(stream, "callback.delivered")).toContain("event: execution.completed");
  const [{ count } = { count: 0 }] = await query<{ count: number }>("SELECT count(*)::int AS count FROM event");
  expect(count).toBeGreaterThan(3);

  bridge.signal("SIGTERM");
  expect(await bridge.exited).toBe(0);
  const again = await startBridgeProgram(dataDir, settings);
  expect(await taskInState(again, "t1", "completed")).toMatchObject({ result: { output: "one\ntwo\n" } });
  const repeat = await dispatchTask(again, { taskId: "t1", agentId: "writer", message: "go", callbackUrl: receiver.origin });
  expect([repeat.status, repeat.headers.get("idempotent-replayed")]).toEqual([202, "true"]);
  expect(receiver.posts).toHaveLength(1);
});

/** Reads a stream until it contains the text, and ends it. */
async function readUntil(stream: Response, text: string): Promise<string> {
  let read = "";
  for await (const chunk of (stream.body as ReadableStream<Uint8Array>).pipeThrough(new TextDecoderStream())) {
    read += chunk;
    if (read.includes(text)) return read;
  }
  throw new Error(`The stream ended without ${text}.`);
}

test("a task that was stored as running runs, even if the database became unavailable before its commit could be confirmed", async () => {
  const { urlAt, port } = await createDatabase({ isEmpty: true });
  const proxy = await startProxy(port);
  const bridge = await startBridgeProgram(await temporaryDirectory(), { BRIDGE_DATABASE_URL: urlAt(proxy.port), ...shellCommand("true") });
  const dispatch = async (taskId: string) => (await dispatchTask(bridge, { taskId, agentId: "writer", message: "go" })).status;
  expect(await dispatch("t0")).toBe(202);
  await taskInState(bridge, "t0", "completed");
  proxy.cutCommitsWhile(() => {
    proxy.refuse();
    return "reply";
  });
  // The write is rejected, and then a read finds the task.
  expect(await dispatch("t1")).toBe(202);
  proxy.pass();
  expect(await taskInState(bridge, "t1", "completed")).toMatchObject({ state: "completed" });
});

test("a start without a usable database fails with a message that states what the operator can fix, without the password", async () => {
  const { urlAt, port, query, name } = await createDatabase({ isEmpty: true });
  const role = `limited_${name}`;
  await query(`CREATE ROLE ${role} LOGIN`);
  onTestFinished(() => query(`DROP ROLE ${role}`).then(() => {}));
  await query("REVOKE CREATE ON SCHEMA public FROM public");
  const secret = "s3cret";
  const cases = [
    [urlAt(1), /the PostgreSQL server 127\.0\.0\.1:1 of BRIDGE_DATABASE_URL cannot be used: .*ECONNREFUSED.* Check the address/],
    [urlAt(port).replace(name, "absent"), /has no database absent\. Create it \(createdb absent\)/],
    [
      urlAt(port).replace("bridge@", `nobody:${secret}@`),
      /rejects the user nobody: .* Check the user and the password in BRIDGE_DATABASE_URL/,
    ],
    [urlAt(port).replace("bridge@", `${role}:${secret}@`), /has no permission to create tables .* Make the user its owner/],
  ] as const;
  for (const [url, words] of cases) {
    const failure = await startBridgeProgram(await temporaryDirectory(), { BRIDGE_DATABASE_URL: url }).then(
      () => "it started",
      (error: Error) => error.message,
    );
    expect(failure).toMatch(/^exit 1: Bridge cannot start: /);
    expect(failure).toMatch(words);
    expect(failure).not.toContain(secret);
    expect(failure).not.toContain("    at ");
  }
});

test("a program gets neither the URL of the database nor any other setting of Bridge in its environment", async () => {
  const { urlAt, port } = await createDatabase();
  const settings = { BRIDGE_DATABASE_URL: urlAt(port), BRIDGE_DATABASE_LISTEN_URL: urlAt(port), ...shellCommand("env; echo end") };
  const bridge = await startBridgeProgram(await temporaryDirectory(), settings);
  await dispatchTask(bridge, { taskId: "t1", agentId: "reader", message: "go" });
  const { result } = (await taskInState(bridge, "t1", "completed")) as { result: { output: string } };
  expect(result.output).toContain("PATH=");
  expect(result.output).not.toMatch(/postgres:|BRIDGE_(DATABASE|GATEWAY|COMMAND)/);
});

test("a server older than PostgreSQL 14 is rejected", () => {
  expect(() => checkVersion(130_012)).toThrow(/runs PostgreSQL 13, but Bridge needs version 14 or newer/);
  checkVersion(140_000);
});

test("a pooler that uses one session for two connections is recognized", async () => {
  const { urlAt, port } = await createDatabase();
  const [first, second] = [await connect({ url: urlAt(port) }), await connect({ url: urlAt(port) })];
  onTestFinished(() => {
    first.close();
    second.close();
  });
  expect(await shareSessions(first, second)).toBe(false);
  expect(await shareSessions(first, first)).toBe(true);
});

test("several Bridges share a database, and one that was killed starts again at once in its data directory", async () => {
  const { urlAt, port, query } = await createDatabase({ isEmpty: true });
  const settings = { BRIDGE_DATABASE_URL: urlAt(port), ...shellCommand("true") };
  const dataDir = await temporaryDirectory();
  const first = await startBridgeProgram(dataDir, { ...settings, BRIDGE_NODE_NAME: "first" });
  const second = await startBridgeProgram(await temporaryDirectory(), { ...settings, BRIDGE_NODE_NAME: "second" });
  for (const bridge of [first, second]) expect((await bridge.call("GET", "/readyz")).status).toBe(200);
  const before = await query<{ id: string; incarnation: string }>("SELECT id, incarnation FROM node WHERE name = 'first'");
  first.signal("SIGKILL");
  await first.exited;
  const again = await startBridgeProgram(dataDir, { ...settings, BRIDGE_NODE_NAME: "first" });
  expect((await again.call("GET", "/readyz")).status).toBe(200);
  const after = await query<{ id: string; incarnation: string }>("SELECT id, incarnation FROM node WHERE name = 'first'");
  expect([after.length, after[0]?.id]).toEqual([1, before[0]?.id]);
  expect(after[0]?.incarnation).not.toBe(before[0]?.incarnation);
  expect(statSync(path.join(dataDir, "node-id")).mode & 0o777).toBe(0o600);
  second.signal("SIGTERM");
  expect(await second.exited).toBe(0);
  expect(await query("SELECT state FROM node WHERE name = 'second'")).toEqual([{ state: "gone" }]);
});
