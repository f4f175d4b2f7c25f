import { setTimeout as delay } from "node:timers/promises";
import { expect, test } from "vitest";
import { type BridgeProgram, startBridgeProgram } from "../support/bridge-program.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";
import { dispatchAsking, listWanted, startSubscriber } from "./webhook-programs.ts";

/** Tasks that are dispatched before each kill. */
const TASKS = 6;

test("after kill -9 at any point, every stored approval and end reaches the subscriber at least once", async () => {
  const directory = await temporaryDirectory();
  const { settings, received } = await startSubscriber(directory);
  const dispatched: string[] = [];

  async function dispatchSome(bridge: BridgeProgram, round: number): Promise<void> {
    const ids = Array.from({ length: TASKS }, (_, index) => `t-${round}-${index}`);
    dispatched.push(...ids);
    // The kill cuts off the dispatches that have no answer yet.
    await Promise.allSettled(ids.map((id) => dispatchAsking(bridge, id)));
  }
  const isReceived = (round: number) => received().some((event) => event.startsWith(`t-${round}-`));

  /** What must have happened before the kill: nothing, the dispatch, or the first POST; and a random time. */
  const kills: ((bridge: BridgeProgram, round: number) => Promise<unknown>)[] = [
    async (bridge, round) => {
      void dispatchSome(bridge, round);
      await delay(Math.random() * 40);
    },
    dispatchSome,
    async (bridge, round) => {
      await dispatchSome(bridge, round);
      await delay(Math.random() * 40);
    },
    async (bridge, round) => {
      void dispatchSome(bridge, round);
      await expect.poll(() => isReceived(round), { interval: 1 }).toBe(true);
    },
  ];
  for (const [round, kill] of kills.entries()) {
    const bridge = await startBridgeProgram(directory, settings);
    await kill(bridge, round);
    bridge.signal("SIGKILL");
    await bridge.exited;
  }

  const last = await startBridgeProgram(directory, settings);
  await expect
    .poll(async () => (await listWanted(last, dispatched)).filter((event) => !received().includes(event)), { interval: 200 })
    .toEqual([]);
  const wanted = await listWanted(last, dispatched);
  expect(wanted.filter((event) => event.endsWith("tool.approval_requested")).length).toBeGreaterThan(0);
  // The last process ends the tasks that the kills have interrupted.
  expect(wanted.filter((event) => event.endsWith("execution.failed")).length).toBeGreaterThan(0);
});

test("a new webhook gets the ends of tasks that its first start ends because they were interrupted", async () => {
  const directory = await temporaryDirectory();
  const { settings, received } = await startSubscriber(directory);
  const { BRIDGE_WEBHOOKS_FILE: _, ...withoutWebhooks } = settings;
  const first = await startBridgeProgram(directory, withoutWebhooks);
  await dispatchAsking(first, "t-1");
  await expect.poll(() => listWanted(first, ["t-1"])).toEqual(["t-1 tool.approval_requested"]);
  first.signal("SIGKILL");
  await first.exited;

  await startBridgeProgram(directory, settings);
  await expect.poll(received).toEqual(["t-1 execution.failed"]);
});
