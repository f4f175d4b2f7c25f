import { createHash } from "node:crypto";
import { writeFile } from "node:fs/promises";
import path from "node:path";
import { type BridgeEvent, createBridgeClient } from "bridge-client";
import { expect } from "vitest";
import { startBridgeProgram } from "../../../test/support/bridge-program.ts";
import { findFreePort } from "../../../test/support/find-free-port.ts";
import { temporaryDirectory } from "../../../test/support/temporary-directory.ts";
import { until } from "../../../test/support/until.ts";

/** Options of a follower, in Node or in a browser. */
export interface Address {
  url: string;
  token: string;
}

/** A follower of one task and of all events. */
export interface Follower {
  /** Ids of the task's events so far. */
  seen(): Promise<readonly string[]>;
  /** Resolves with the events of both streams, in order, when the stream of the task has ended. */
  ended: Promise<{ task: BridgeEvent[]; all: BridgeEvent[] }>;
}

const agent = path.resolve(import.meta.dirname, "../../../test/fixtures/programs/gated-agent.js");
const token = "secret-of-the-client";

/**
 * Runs one task across two restarts of the real Bridge while `follow` follows it: a SIGTERM while the task is queued, and a
 * SIGKILL while it runs, after which it runs again. Then compares the events of the follower with the stored events.
 */
export async function surviveTwoRestarts(
  follow: (address: Address, taskId: string) => Promise<Follower>,
  environment: Record<string, string> = {},
): Promise<void> {
  const dataDir = await temporaryDirectory();
  const gate = path.join(dataDir, "gate");
  const port = await findFreePort();
  const start = () =>
    startBridgeProgram(dataDir, {
      BRIDGE_PORT: String(port),
      BRIDGE_GATEWAY_TOKEN_HASH: createHash("sha256").update(token).digest("hex"),
      BRIDGE_COMMAND: JSON.stringify([process.execPath, agent]),
      BRIDGE_MAX_CONCURRENT: "1",
      BRIDGE_DRAIN_SECONDS: "0",
      ...environment,
    });
  const url = `http://127.0.0.1:${port}`;
  const client = createBridgeClient({ url, token, retryDelayMs: 20 });

  let bridge = await start();
  await client.dispatch({ taskId: "first", agentId: "speaker", message: "first", metadata: { gate: "/never" } });
  await client.dispatch({ taskId: "second", agentId: "speaker", message: "second", metadata: { gate }, onInterrupt: "retry" });
  const follower = await follow({ url, token }, "second");
  const finished = client.waitForTask("second");

  bridge.signal("SIGTERM");
  expect(await bridge.exited).toBe(0);
  bridge = await start();
  // The task runs, and the follower has reconnected and receives events.
  expect(await until(async () => (await follower.seen()).length > 1, 15_000)).toBe(true);

  bridge.signal("SIGKILL");
  await bridge.exited;
  const before = (await follower.seen()).length;
  await writeFile(gate, "");
  bridge = await start();

  const { task, all } = await follower.ended;
  expect(await finished).toMatchObject({ state: "completed", result: { status: "ok", output: "second, said" } });
  const stored: BridgeEvent[] = [];
  for await (const event of client.events("second")) stored.push(event);
  expect(task).toEqual(stored);
  expect(task.length).toBeGreaterThan(before + 40);
  expect(task.map(({ type, data }) => (type === "execution.progress" ? data : type))).toContainEqual({ restarted: true });
  expect(task.at(-1)?.type).toBe("execution.completed");
  // No event is missing: the numbers of the log have no gap.
  const numbers = all.map(({ id }) => Number(id.split("-")[1]));
  expect(numbers).toEqual(numbers.map((_, index) => index + (numbers[0] ?? 0)));
  expect(all.filter(({ taskId }) => taskId === "second")).toEqual(stored);
}
