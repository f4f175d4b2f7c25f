import { writeFile } from "node:fs/promises";
import path from "node:path";
import { createParser } from "eventsource-parser";
import { Agent, fetch } from "undici";
import { describe, expect, onTestFinished, test } from "vitest";
import { type RawData, WebSocket } from "ws";
import { SHARED_TOKEN, shellCommand, startBridgeProgram } from "../support/bridge-program.ts";
import { createDatabase } from "../support/postgres/create-database.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";
import { askUntil } from "../support/until.ts";
import { loadBalancers, startLoadBalancer } from "./load-balancers.ts";

const EVENTS = 100;
const TASK = "long-1";
const terminal = /^execution\.(completed|failed)$/;
const headers = { authorization: `Bearer ${SHARED_TOKEN}` };

interface Event {
  id: string;
  type: string;
  data?: { step?: number };
}

/** Follows the events of the task until its end, and connects again after the last event id whenever its connection ends. */
interface Follower {
  events: Event[];
  /** How often a connection that had delivered events has ended before the task. */
  interruptions: number;
  ended: Promise<void>;
}

/** Follows with connections that `connect` opens; it resolves or rejects when the connection ends. */
function follow(connect: (after: string | undefined, onEvent: (event: Event) => void) => Promise<void>): Follower {
  const follower: Follower = { events: [], interruptions: 0, ended: Promise.resolve() };
  const hasEnded = (): boolean => terminal.test(follower.events.at(-1)?.type ?? "");
  follower.ended = (async () => {
    while (!hasEnded()) {
      const before = follower.events.length;
      await connect(follower.events.at(-1)?.id, (event) => follower.events.push(event)).catch(() => {});
      if (!hasEnded() && follower.events.length > before) follower.interruptions += 1;
    }
  })();
  return follower;
}

const followStream = (url: string, dispatcher: Agent) =>
  follow(async (after, onEvent) => {
    const accept = { accept: "text/event-stream", ...(after !== undefined && { "last-event-id": after }) };
    const response = await fetch(`${url}/api/v2/tasks/${TASK}/events`, { dispatcher, headers: { ...headers, ...accept } });
    if (!response.ok) throw new Error(String(response.status));
    const parser = createParser({
      onEvent({ data, event }) {
        if (event !== "heartbeat") onEvent(JSON.parse(data));
      },
    });
    for await (const chunk of response.body ?? []) parser.feed(Buffer.from(chunk).toString());
  });

const followSocket = (url: string) =>
  follow(
    (after, onEvent) =>
      new Promise((resolve) => {
        const socket = new WebSocket(`${url.replace("http", "ws")}/ws/bridge`, { headers, rejectUnauthorized: false });
        socket.once("open", () =>
          socket.send(JSON.stringify({ op: "agent.events", payload: { runId: TASK, ...(after !== undefined && { after }) } })),
        );
        socket.on("message", (data: RawData) => {
          const { op, payload } = JSON.parse(data.toString());
          if (op !== "agent.event") return;
          onEvent(payload.event);
          if (terminal.test(payload.event.type)) socket.close();
        });
        socket.on("error", () => {});
        socket.once("close", () => resolve());
      }),
  );

describe.each(Object.keys(loadBalancers))("deploy/%s", (name) => {
  test("the load balancer passes event streams and WebSockets to two nodes, and goes on when one of them is killed", async () => {
    const database = await createDatabase();
    const gate = path.join(await temporaryDirectory(), "gate");
    const emit = (from: number, to: number) => `for i in $(seq ${from} ${to}); do echo '{"type":"execution.progress","step":'$i'}'; done`;
    const script = `${emit(1, EVENTS / 2)}; while [ ! -e ${gate} ]; do sleep 0.1; done; ${emit(EVENTS / 2 + 1, EVENTS)}`;
    const start = async (node: string, more: Record<string, string>) =>
      startBridgeProgram(await temporaryDirectory(), {
        BRIDGE_DATABASE_URL: database.urlAt(database.port),
        BRIDGE_NODE_NAME: node,
        ...shellCommand(script),
        ...more,
      });
    const [runner, frontEnd] = await Promise.all([start("runner", {}), start("front", { BRIDGE_MAX_CONCURRENT: "0" })]);
    const url = await startLoadBalancer(
      name,
      [runner.url, frontEnd.url].map((address) => new URL(address).host),
    );
    const dispatcher = new Agent({ connect: { rejectUnauthorized: false } });
    onTestFinished(() => dispatcher.destroy());
    const dispatch = (taskId: string) =>
      fetch(`${url}/api/v2/dispatch`, {
        method: "POST",
        dispatcher,
        headers: { ...headers, "content-type": "application/json" },
        body: JSON.stringify({ taskId, agentId: "a", message: "m" }),
      }).then(({ status }) => status);
    await askUntil(
      () => dispatch(TASK),
      (status) => status === 202,
    );

    const followers = [1, 2, 3, 4].map(() => followStream(url, dispatcher)).concat([1, 2, 3, 4].map(() => followSocket(url)));
    const counts = () => followers.map(({ events }) => events.filter(({ type }) => type === "execution.progress").length);
    await expect.poll(counts).toEqual(followers.map(() => EVENTS / 2));
    frontEnd.signal("SIGKILL");
    await frontEnd.exited;
    await writeFile(gate, "");
    await Promise.all(followers.map(({ ended }) => ended));

    const steps = followers.map(({ events }) => events.flatMap(({ type, data }) => (type === "execution.progress" ? [data?.step] : [])));
    const expected = Array.from({ length: EVENTS }, (_, index) => index + 1);
    expect(steps).toEqual(followers.map(() => expected));
    expect(followers.filter(({ interruptions }) => interruptions > 0).length).toBeGreaterThan(0);
    expect(followers.filter(({ interruptions }) => interruptions === 0).length).toBeGreaterThan(0);
    expect(
      await askUntil(
        () => dispatch("next-1"),
        (status) => status !== 502 && status !== 503,
      ),
    ).toBe(202);
    await askUntil(
      () =>
        fetch(`${runner.url}/api/v2/tasks/next-1`, { headers }).then(
          async (response) => ((await response.json()) as { state: string }).state,
        ),
      (state) => state === "completed",
    );
  });
});
