import { expect, onTestFinished, test } from "vitest";
import { dispatchTask, shellCommand, startBridgeProgram } from "../../support/bridge-program.ts";
import { createDatabase } from "../../support/postgres/create-database.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";
import { startCollector } from "../../traces/start-collector.ts";

test("of two nodes, one exports the spans of all tasks; after kill -9, the other takes over and loses none", async () => {
  const { urlAt, port, query } = await createDatabase({ isEmpty: true });
  const { settings, spans, unique, close } = await startCollector();
  onTestFinished(close);
  const start = async (name: string) =>
    startBridgeProgram(await temporaryDirectory(), {
      ...settings,
      ...shellCommand("echo done"),
      BRIDGE_DATABASE_URL: urlAt(port),
      BRIDGE_NODE_NAME: name,
      BRIDGE_LEASE_SECONDS: "3",
      BRIDGE_MAX_CONCURRENT: "16",
    });
  const [a, b] = [await start("a"), await start("b")];
  const dispatch = async (node: typeof a, prefix: string) =>
    await Promise.all(
      Array.from({ length: 6 }, (_, index) => dispatchTask(node, { taskId: `${prefix}-${index}`, agentId: prefix, message: "go" })),
    );
  await dispatch(a, "of-a");
  await dispatch(b, "of-b");
  await expect.poll(() => unique().length).toBe(12 * 3);
  expect(spans).toHaveLength(12 * 3);
  expect(new Set(spans.map(({ resource }) => resource["service.instance.id"]))).toEqual(new Set(["a"]));

  a.signal("SIGKILL");
  await a.exited;
  await dispatch(b, "later");
  // Stands for the minute after which the claim of the killed node has expired.
  await query("UPDATE trace_position SET held_until = 0");
  await expect.poll(() => unique().length).toBe(18 * 3);
  expect(new Set(spans.slice(36).map(({ resource }) => resource["service.instance.id"]))).toEqual(new Set(["b"]));
});
