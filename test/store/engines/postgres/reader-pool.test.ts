import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { connect } from "../../../../src/store/engines/postgres/connection.ts";
import { createReaderPool } from "../../../../src/store/engines/postgres/reader-pool.ts";
import { toStatement } from "../../../../src/store/engines/postgres/statements.ts";
import { createDatabase } from "../../../support/postgres/create-database.ts";
import { startProxy } from "../../../support/postgres/proxy.ts";

const echo = toStatement("SELECT $1::text AS text");
const unavailable = { code: "storage_unavailable" };

async function open(options: { suspiciousMs?: number } = {}) {
  const { urlAt, port } = await createDatabase();
  const proxy = await startProxy(port);
  const faults: unknown[] = [];
  const pool = createReaderPool({ connect: () => connect({ url: urlAt(proxy.port) }), onFault: (error) => faults.push(error), ...options });
  onTestFinished(() => pool.close());
  return { proxy, pool, faults };
}

test("many reads share four connections", async () => {
  const { proxy, pool } = await open();
  const texts = Array.from({ length: 50 }, (_, index) => String(index));
  expect(await Promise.all(texts.map(async (text) => (await pool.get(echo, text))?.["text"]))).toEqual(texts);
  expect(proxy.connections).toBe(4);
});

test("a read that fails while the database is unavailable reports it, and later reads connect again", async () => {
  const { proxy, pool, faults } = await open();
  await Promise.all(["a", "b", "c", "d", "e"].map((text) => pool.all(echo, text)));
  proxy.cut();
  const reads = Array.from({ length: 9 }, () => expect(pool.all(echo, "x")).rejects.toMatchObject(unavailable));
  await Promise.all(reads);
  expect(faults).toHaveLength(9);
  proxy.pass();
  expect(await Promise.all(["1", "2", "3", "4", "5"].map(async (text) => (await pool.get(echo, text))?.["text"]))).toHaveLength(5);
});

test("an error of a statement is passed on, and the connection stays usable", async () => {
  const { proxy, pool, faults } = await open();
  await expect(pool.all(toStatement("SELECT 1 / $1::int"), 0)).rejects.toThrow("division by zero");
  expect(await pool.get(echo, "x")).toEqual({ text: "x" });
  expect([proxy.connections, faults]).toEqual([1, []]);
});

test("a text with U+0000, which no row contains, finds nothing", async () => {
  const { pool } = await open();
  expect(await pool.all(echo, "a\0b")).toEqual([]);
});

test("reads after the pool is closed are rejected, also those that wait", async () => {
  const { pool } = await open();
  const reads = Array.from({ length: 9 }, () => expect(pool.all(toStatement("SELECT pg_sleep(60)"))).rejects.toMatchObject(unavailable));
  await nextTurn();
  pool.close();
  await Promise.all(reads);
  await expect(pool.all(echo, "x")).rejects.toMatchObject(unavailable);
});

test("all reads fail together when the database stops answering, and the pool finds out when it answers again", async () => {
  const { proxy, pool } = await open({ suspiciousMs: 50 });
  await Promise.all(Array.from({ length: 4 }, () => pool.all(echo, "a")));
  proxy.stall();
  const connections = proxy.connections;
  const reads = await Promise.allSettled(Array.from({ length: 40 }, () => pool.all(echo, "x")));
  expect(new Set(reads.map(({ status }) => status))).toEqual(new Set(["rejected"]));
  expect(pool.isAnswering).toBe(false);
  // One test of the database decides about all reads; each read would otherwise open a connection.
  expect(proxy.connections - connections).toBeLessThan(8);
  proxy.pass();
  await expect.poll(() => pool.isAnswering).toBe(true);
  expect(await pool.get(echo, "x")).toEqual({ text: "x" });
});

test("a slow read continues while the database answers other connections", async () => {
  const { proxy, pool } = await open({ suspiciousMs: 50 });
  const slow = pool.all(toStatement("SELECT pg_sleep(1)"));
  await expect.poll(() => proxy.connections).toBeGreaterThan(1);
  expect(await slow).toHaveLength(1);
  expect(pool.isAnswering).toBe(true);
});
