import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { BridgeError } from "../../src/errors.ts";
import { createRunFollower, MAX_FOLLOWED_PER_TENANT } from "../../src/websocket/run-follower.ts";
import { newFinish } from "../conformance/store/fixtures.ts";
import { openLog, startTask } from "../events/log-fixture.ts";
import { type Bridge, startBridge, type TokenName } from "../support/start-bridge.ts";
import { askUntil } from "../support/until.ts";
import { openSocket, type SocketAnswer, type SocketClient } from "./socket-client.ts";

const logger = { error: vi.fn() };

interface Pushed {
  op: string;
  payload: { runId: string; event: { id: string; type: string; taskId: string; data: unknown } | null; error?: string };
}
const pushesOf = (client: SocketClient): Pushed[] =>
  (client.answers as (SocketAnswer | Pushed)[]).filter((message): message is Pushed => "op" in message);
const typesOf = (client: SocketClient, runId: string) =>
  pushesOf(client).flatMap(({ payload }) => (payload.runId === runId ? [payload.event?.type] : []));

describe("over a real socket", () => {
  let bridge: Bridge;
  beforeAll(async () => {
    bridge = await startBridge();
  });
  afterAll(() => bridge.close());

  async function connect(token: TokenName = "alpha"): Promise<SocketClient> {
    const client = await openSocket(`${bridge.url}/ws/bridge`, { headers: { authorization: `Bearer secret-${token}` } });
    onTestFinished(() => client.close());
    return client;
  }
  const whole = { agent: "writer", input: "Hello.", provider: "memory" };
  const isOver = (client: SocketClient, runId: string) =>
    askUntil(
      async () => typesOf(client, runId).at(-1),
      (type) => type === "execution.completed" || type === "execution.failed",
    );

  test("a run that is started with events pushes all events, in the format of the event stream, after the response", async () => {
    const client = await connect();
    const { payload } = await client.ask("agent.run", { ...whole, input: "look", events: true });
    expect(payload).toEqual({ runId: expect.any(String), status: "started" });
    await isOver(client, payload.runId);
    expect(client.answers[0]?.payload).toEqual(payload);
    const { body } = await bridge.call("GET", `/api/v2/tasks/${payload.runId}/events`);
    expect(pushesOf(client).map(({ payload }) => payload.event)).toEqual(body.data);
    for (const push of pushesOf(client)) expect(Object.keys(push)).toEqual(["op", "payload"]);
  });

  test("a run that is started without events pushes nothing", async () => {
    const client = await connect();
    for (const more of [{}, { events: false }]) {
      const { payload } = await client.ask("agent.run", { ...whole, ...more });
      await client.ask("agent.result", { runId: payload.runId, waitSeconds: 20 });
    }
    expect(pushesOf(client)).toEqual([]);
  });

  test("after a reconnect a client continues after the last event that it received", async () => {
    const first = await connect();
    const taskId = randomUUID();
    await first.ask("agent.run", { ...whole, input: "work", taskId, events: true });
    await askUntil(
      async () => typesOf(first, taskId),
      (types) => types.includes("tool.invoked"),
    );
    const lastId = pushesOf(first).at(-1)?.payload.event?.id;
    await first.close();
    const second = await connect();
    await second.ask("agent.cancel", { runId: taskId });
    expect(await second.ask("agent.events", { runId: taskId, after: lastId })).toMatchObject({
      status: 200,
      payload: { runId: taskId, following: true },
    });
    await isOver(second, taskId);
    const { body } = await bridge.call("GET", `/api/v2/tasks/${taskId}/events`);
    const seen = [...pushesOf(first), ...pushesOf(second)].map(({ payload }) => payload.event);
    expect(seen).toEqual(body.data);
    // Nothing follows the last event.
    await second.ask("agent.events", { runId: taskId, after: body.data.at(-1).id });
    await second.ask("agent.events", { runId: taskId });
    await askUntil(
      async () => pushesOf(second).length,
      (count) => count >= body.data.length + 1,
    );
    expect(typesOf(second, taskId).filter((type) => type === "execution.started")).toHaveLength(1);
  });

  test("starting the same run again with events follows the existing run", async () => {
    const [first, second] = [await connect(), await connect()];
    const taskId = randomUUID();
    for (const client of [first, second])
      expect((await client.ask("agent.run", { ...whole, taskId, events: true })).payload).toEqual({ runId: taskId, status: "started" });
    await Promise.all([isOver(first, taskId), isOver(second, taskId)]);
    expect(typesOf(second, taskId)).toEqual(typesOf(first, taskId));
  });

  test("nothing is pushed for another tenant's run or to a token without the scope read", async () => {
    const [alpha, beta, dispatcher] = [await connect(), await connect("beta"), await connect("dispatcher")];
    const { payload } = await alpha.ask("agent.run", { ...whole, events: true });
    await isOver(alpha, payload.runId);
    expect(await beta.ask("agent.events", { runId: payload.runId })).toMatchObject({ status: 404, payload: { error: "run-not-found" } });
    const taskId = randomUUID();
    expect(await dispatcher.ask("agent.run", { ...whole, taskId, events: true })).toMatchObject({
      status: 403,
      payload: { error: "scope_missing" },
    });
    expect((await bridge.call("GET", `/api/v2/tasks/${taskId}`)).status).toBe(404);
    expect([pushesOf(beta), pushesOf(dispatcher)]).toEqual([[], []]);
  });

  test.each([
    [{ ...whole, events: "yes" }, "agent.run", "events"],
    [{ runId: "a", after: "nonsense" }, "agent.events", "after"],
    [{ runId: "a", after: "unknown-1" }, "agent.events", "after"],
    [{ runId: "a", before: "unknown-1" }, "agent.events", "before"],
  ])("the payload %j is rejected with the name of the field", async (payload, op, path) => {
    const client = await connect();
    const { status, payload: refused } = await client.ask(op, payload);
    expect([status, refused.error, refused.detail.errors.map((fault: { path: string }) => fault.path)]).toEqual([
      400,
      "invalid-request",
      [path],
    ]);
  });

  test("a client that does not read delays neither the run nor other clients, and receives everything when it continues", async () => {
    const [slow, quick] = [await connect(), await connect()];
    const taskId = randomUUID();
    // 3 MB of text exceed the buffers of the connection while the client does not read.
    const message = "0123456789".repeat(90_000);
    slow.socket.pause();
    slow.socket.send(
      JSON.stringify({ requestId: "run", op: "agent.run", payload: { ...whole, input: message, stdin: message, taskId, events: true } }),
    );
    await askUntil(
      () => bridge.call("GET", `/api/v2/tasks/${taskId}`),
      ({ status }) => status === 200,
    );
    await quick.ask("agent.events", { runId: taskId });
    await isOver(quick, taskId);
    slow.socket.resume();
    await isOver(slow, taskId);
    expect(pushesOf(slow).map(({ payload }) => payload.event?.id)).toEqual(pushesOf(quick).map(({ payload }) => payload.event?.id));
  });
});

describe("the follower", () => {
  /** A channel whose client receives a message when `take` is called. */
  function openChannel() {
    const controller = new AbortController();
    const pushed: Pushed["payload"][] = [];
    const pages: number[] = [];
    let taking = (): void => {};
    const channel = {
      signal: controller.signal,
      async push(_bytes: number, read: () => Promise<readonly string[]>) {
        const messages = await read();
        pages.push(messages.length);
        pushed.push(...messages.map((json) => (JSON.parse(json) as Pushed).payload));
        if (messages.length > 0)
          await new Promise<void>((resolve) => {
            taking = resolve;
          });
      },
    };
    return { channel, pushed, pages, take: () => taking(), close: () => controller.abort() };
  }

  test("the follower reads the next page only when the client has received the previous one", async () => {
    const { store, eventLog } = await openLog();
    const follower = createRunFollower({ store, eventLog, logger });
    const task = await startTask(store);
    await store.appendEventsIfRunning(
      task,
      Array.from({ length: 200 }, () => ({ type: "execution.progress" as const, data: "{}" })),
    );
    await store.finishTaskIfRunning(task, newFinish());
    const { channel, pushed, pages, take, close } = openChannel();
    follower.follow(task, { channel, after: null });
    for (const length of [50, 100, 150, 200, 202]) {
      await vi.waitFor(() => expect(pushed).toHaveLength(length), { interval: 1 });
      take();
    }
    close();
    expect(pages).toEqual([50, 50, 50, 50, 2]);
    expect(pushed.map(({ event }) => Number(event?.id.split("-")[1]))).toEqual(Array.from({ length: 202 }, (_, index) => index + 1));
  });

  test("the follower reports the deletion of a run and stops", async () => {
    const { store, eventLog } = await openLog();
    const follower = createRunFollower({ store, eventLog, logger });
    const task = await startTask(store);
    await store.finishTaskIfRunning(task, newFinish());
    const { channel, pushed, take } = openChannel();
    follower.follow(task, { channel, after: null });
    await vi.waitFor(() => expect(pushed).toHaveLength(2));
    const another = openChannel();
    await store.deleteTaskIfEnded(task.tenant, task.taskId);
    follower.follow(task, { channel: another.channel, after: null });
    await vi.waitFor(() => expect(another.pushed).toEqual([{ runId: task.taskId, event: null, error: "run-not-found" }]));
    for (const release of [take, another.take]) release();
  });

  test("the follower sends all events of a run again, with new ids, when the epoch of the log changes", async () => {
    const { store, eventLog } = await openLog();
    let epoch = "before";
    const changingStore = {
      ...store,
      get epoch() {
        return epoch;
      },
    };
    const follower = createRunFollower({ store: changingStore, eventLog, logger });
    const task = await startTask(store);
    const pushed: string[] = [];
    const controller = new AbortController();
    const channel = {
      signal: controller.signal,
      push: async (_bytes: number, read: () => Promise<readonly string[]>) =>
        void pushed.push(...(await read()).map((json) => (JSON.parse(json) as Pushed).payload.event?.id ?? "")),
    };
    follower.follow(task, { channel, after: null });
    await vi.waitFor(() => expect(pushed).toEqual(["before-1"]));
    epoch = "after";
    await store.finishTaskIfRunning(task, newFinish());
    await vi.waitFor(() => expect(pushed).toEqual(["before-1", "after-1", "after-2"]));
    controller.abort();
  });

  test("the follower continues after the database did not answer", async () => {
    const { store, eventLog } = await openLog();
    const task = await startTask(store);
    await store.finishTaskIfRunning(task, newFinish());
    let failures = 0;
    const readTaskEvents: typeof store.readTaskEvents = async (...query) => {
      failures += 1;
      if (failures === 1) throw new BridgeError("storage_unavailable", "The database is away.");
      return store.readTaskEvents(...query);
    };
    const follower = createRunFollower({ store: { ...store, readTaskEvents }, eventLog, logger });
    const { channel, pushed } = openChannel();
    follower.follow(task, { channel, after: null });
    await vi.waitFor(() => expect(pushed).toHaveLength(2));
    expect(logger.error).not.toHaveBeenCalled();
  });

  test("the follower limits the runs of a tenant and releases those of closed channels", async () => {
    const { store, eventLog } = await openLog();
    const follower = createRunFollower({ store, eventLog, logger });
    const task = await startTask(store);
    const channels = Array.from({ length: MAX_FOLLOWED_PER_TENANT }, openChannel);
    for (const { channel } of channels) follower.follow(task, { channel, after: { epoch: store.epoch, number: store.lastEventNumber() } });
    const { tenant } = task;
    expect(() => follower.checkCanFollow(tenant)).toThrow(expect.objectContaining({ code: "overloaded" }));
    follower.checkCanFollow("another");
    // A dispatch that was accepted meanwhile must be followed, because an error would suggest that it did not start.
    const late = openChannel();
    channels.push(late);
    follower.follow(task, { channel: late.channel, after: { epoch: store.epoch, number: store.lastEventNumber() } });
    for (const { close } of channels) close();
    await vi.waitFor(() => follower.checkCanFollow(tenant));
    expect(logger.error).not.toHaveBeenCalled();
  });
});
