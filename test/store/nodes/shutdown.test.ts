import { expect, onTestFinished, test } from "vitest";
import { type BridgeProgram, dispatchTask, SHARED_TOKEN, shellCommand, startBridgeProgram } from "../../support/bridge-program.ts";
import { createDatabase } from "../../support/postgres/create-database.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";

/** Opens an event stream, which the test does not read. */
async function openStream({ url }: BridgeProgram, headers: Record<string, string> = {}): Promise<void> {
  const stop = new AbortController();
  onTestFinished(() => stop.abort());
  await fetch(`${url}/api/events`, {
    headers: { authorization: `Bearer ${SHARED_TOKEN}`, accept: "text/event-stream", ...headers },
    signal: stop.signal,
  });
}

test("a node that is stopped by SIGTERM under load with open event streams logs no error", async () => {
  const { urlAt, port, query } = await createDatabase();
  const node = await startBridgeProgram(await temporaryDirectory(), {
    BRIDGE_DATABASE_URL: urlAt(port),
    BRIDGE_MAX_CONCURRENT: "4",
    BRIDGE_DRAIN_SECONDS: "0",
    ...shellCommand("for i in 1 2 3 4 5 6 7 8; do echo line $i; done; sleep 0.2"),
  });
  let isOver = false;
  onTestFinished(() => {
    isOver = true;
  });
  const load = async (client: number): Promise<void> => {
    for (let index = 0; !isOver; index += 1) {
      await dispatchTask(node, { taskId: `${client}-${index}`, agentId: `agent-${index % 5}`, message: "go" });
      await node.call("GET", "/api/v2/tasks?limit=10");
    }
  };
  const loads = [1, 2, 3, 4].map((client) => load(client).catch(() => {}));
  const countEvents = async () => Number((await query<{ count: string }>("SELECT count(*) AS count FROM event"))[0]?.count);
  await expect.poll(countEvents).toBeGreaterThan(100);
  // One stream is at the end of the log, and the others begin at its start, so that they read it while the node stops.
  await openStream(node);
  const replays = Array.from({ length: 40 }, () => openStream(node, { "last-event-id": "unknown-1" }).catch(() => {}));
  await Promise.race(replays);
  node.signal("SIGTERM");
  expect(await node.exited).toBe(0);
  isOver = true;
  await Promise.all([...loads, ...replays]);
  expect(node.log.filter(({ level }) => Number(level) >= 50)).toEqual([]);
  expect(node.stderr()).toBe("");
});
