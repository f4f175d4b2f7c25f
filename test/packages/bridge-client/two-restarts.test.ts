import { type BridgeEvent, createBridgeClient } from "bridge-client";
import { test } from "vitest";
import { type Follower, surviveTwoRestarts } from "./two-restarts.ts";

test("events follow a task across a restart and a kill of Bridge without losing or repeating an event", async () => {
  await surviveTwoRestarts(async (address, taskId): Promise<Follower> => {
    const client = createBridgeClient({ ...address, retryDelayMs: 20 });
    const task: BridgeEvent[] = [];
    const all: BridgeEvent[] = [];
    const stop = new AbortController();
    const everything = (async () => {
      for await (const event of client.events({}, { signal: stop.signal })) {
        all.push(event);
        if (event.taskId === taskId && event.type === "execution.completed") return;
      }
    })();
    async function followTask(): Promise<{ task: BridgeEvent[]; all: BridgeEvent[] }> {
      for await (const event of client.events(taskId)) task.push(event);
      await everything;
      return { task, all };
    }
    return { seen: async () => task.map(({ id }) => id), ended: followTask() };
  });
});
