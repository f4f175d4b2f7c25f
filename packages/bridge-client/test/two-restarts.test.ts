import { type BridgeEvent, connectBridge, createBridgeClient } from "bridge-client";
import { test } from "vitest";
import { type Address, type Follower, surviveTwoRestarts } from "./two-restarts.ts";

test.each([
  ["events", async (address: Address, taskId: string) => createBridgeClient({ ...address, retryDelayMs: 20 }).events(taskId)],
  ["the WebSocket", async (address: Address, taskId: string) => (await connectBridge({ ...address, retryDelayMs: 20 })).follow(taskId)],
])("%s follow a task across a restart and a kill of Bridge without losing or repeating an event", async (_name, followTask) => {
  await surviveTwoRestarts(async (address, taskId): Promise<Follower> => {
    const client = createBridgeClient({ ...address, retryDelayMs: 20 });
    const events = await followTask(address, taskId);
    const task: BridgeEvent[] = [];
    const all: BridgeEvent[] = [];
    const stop = new AbortController();
    const everything = (async () => {
      for await (const event of client.events({}, { signal: stop.signal })) {
        all.push(event);
        if (event.taskId === taskId && event.type === "execution.completed") return;
      }
    })();
    async function readTask(): Promise<{ task: BridgeEvent[]; all: BridgeEvent[] }> {
      for await (const event of events) task.push(event);
      await everything;
      return { task, all };
    }
    return { seen: async () => task.map(({ id }) => id), ended: readTask() };
  });
});
