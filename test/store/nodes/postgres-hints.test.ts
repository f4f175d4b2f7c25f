import { expect, onTestFinished, test } from "vitest";
import { connect } from "../../../src/store/engines/postgres/connection.ts";
import type { Hint } from "../../../src/store/nodes/interface.ts";
import { createHints } from "../../../src/store/nodes/postgres-hints.ts";
import { createDatabase } from "../../support/postgres/create-database.ts";
import { startProxy } from "../../support/postgres/proxy.ts";

/** The hints of one node, and what it has received. */
async function join(url: string, { checkMs }: { checkMs?: number } = {}) {
  const received: Hint[] = [];
  const node = { ups: 0 };
  const hints = createHints({
    connect: (options) => connect({ url, ...options }),
    onHint: (hint) => received.push(hint),
    onUp() {
      node.ups += 1;
    },
    ...(checkMs !== undefined && { checkMs }),
  });
  onTestFinished(() => hints.close());
  await expect.poll(() => hints.isUp).toBe(true);
  return { hints, received, node };
}

test("a hint reaches the other nodes, and not its sender", async () => {
  const { urlAt, port } = await createDatabase();
  const [a, b, c] = [await join(urlAt(port)), await join(urlAt(port)), await join(urlAt(port))];
  a.hints.send("events");
  a.hints.send("queue:command");
  a.hints.send("queue:command");
  await expect.poll(() => b.received).toEqual(["events", "queue:command"]);
  await expect.poll(() => c.received).toEqual(["events", "queue:command"]);
  b.hints.send("events");
  await expect.poll(() => a.received).toEqual(["events"]);
  expect(b.received).toHaveLength(2);
});

test("a node whose connection was ended listens again, and reports that hints arrive again", async () => {
  const { urlAt, port, query } = await createDatabase();
  const [a, b] = [await join(urlAt(port)), await join(urlAt(port))];
  await query(
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
     WHERE datname = current_database() AND query ~ '^LISTEN |pg_listening_channels' AND pid <> pg_backend_pid()`,
  );
  await expect.poll(() => [a.node.ups, b.node.ups]).toEqual([2, 2]);
  a.hints.send("nodes");
  await expect.poll(() => b.received).toEqual(["nodes"]);
});

test("a connection on which nothing arrives any more is replaced", async () => {
  const { urlAt, port } = await createDatabase();
  const proxy = await startProxy(port);
  const a = await join(urlAt(port));
  const b = await join(urlAt(proxy.port), { checkMs: 50 });
  proxy.stall();
  await expect.poll(() => b.hints.isUp).toBe(false);
  proxy.pass();
  await expect.poll(() => b.node.ups).toBe(2);
  a.hints.send("events");
  await expect.poll(() => b.received).toEqual(["events"]);
});

test("a hint that cannot be sent is lost, and does not throw", async () => {
  const { urlAt, port } = await createDatabase();
  const proxy = await startProxy(port);
  const a = await join(urlAt(proxy.port));
  proxy.cut();
  a.hints.send("events");
  await expect.poll(() => a.hints.isUp).toBe(false);
  a.hints.send("events");
  await a.hints.close();
});
