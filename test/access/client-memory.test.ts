import { expect, test } from "vitest";
import { createClientMemory } from "../../src/access/client-memory.ts";

const limits = { perTenantBytes: 100, totalBytes: 250, maxWaitMs: 60_000 };

/** Records when a reservation is admitted. */
function track(order: string[], name: string, reserved: Promise<void>): Promise<void> {
  return reserved.then(() => void order.push(name));
}
const settle = () => new Promise((resolve) => setImmediate(resolve));

test("the reservations of a tenant wait in order for memory, and other tenants do not wait for them", async () => {
  const memory = createClientMemory(limits);
  const order: string[] = [];
  const first = memory.open("a");
  await first.reserve(90);
  const second = memory.open("a");
  const waiting = [
    track(order, "second of a", second.reserve(60)),
    track(order, "third of a", memory.open("a").reserve(5)),
    track(order, "first of b", memory.open("b").reserve(90)),
  ];
  await settle();
  expect(order).toEqual(["first of b"]);
  expect([memory.isFull("a"), memory.isFull("b")]).toEqual([false, false]);
  first.release();
  await Promise.all(waiting);
  expect(order).toEqual(["first of b", "second of a", "third of a"]);
});

test("a tenant that occupies nothing is admitted with a response of any size, even while all tenants together are over the limit", async () => {
  const memory = createClientMemory(limits);
  await memory.open("a").reserve(10_000);
  expect(memory.isFull("a")).toBe(true);
  await memory.open("b").reserve(50);
  // B is within its own limit, but all tenants together are not.
  expect(memory.isFull("b")).toBe(true);
  expect(memory.isFull("c")).toBe(false);
});

test("a request that waits too long is rejected as overloaded, and a released one stops waiting", async () => {
  const memory = createClientMemory({ ...limits, maxWaitMs: 10 });
  await memory.open("a").reserve(100);
  await expect(memory.open("a").reserve(1)).rejects.toMatchObject({ code: "overloaded", retryAfterSeconds: 5 });
  const patient = createClientMemory(limits);
  const full = patient.open("a");
  await full.reserve(100);
  const gone = patient.open("a");
  const reserved = gone.reserve(50);
  gone.release();
  await expect(reserved).rejects.toMatchObject({ code: "overloaded" });
  full.release();
  await patient.open("a").reserve(100);
});

test("a waiting request that is released lets smaller ones behind it proceed", async () => {
  const memory = createClientMemory(limits);
  await memory.open("a").reserve(60);
  const large = memory.open("a");
  const refused = large.reserve(90);
  const small = memory.open("a").reserve(5);
  large.release();
  await expect(refused).rejects.toMatchObject({ code: "overloaded" });
  await small;
});

test("a released reservation counts nothing", async () => {
  const memory = createClientMemory(limits);
  const reservation = memory.open("a");
  reservation.set(100);
  reservation.release();
  reservation.set(100);
  expect([reservation.bytes, memory.isFull("a")]).toEqual([0, false]);
});

test("a reservation that is released while it waits for more leaves nothing counted", async () => {
  const memory = createClientMemory(limits);
  const other = memory.open("a");
  await other.reserve(60);
  const body = memory.open("a");
  await body.reserve(40);
  // The bytes that the release frees would be enough for what it waits for.
  const refused = body.reserve(40);
  body.release();
  await expect(refused).rejects.toMatchObject({ code: "overloaded" });
  other.release();
  await memory.open("a").reserve(100);
});

test("a stream waits without a limit, and after the requests of its tenant", async () => {
  const memory = createClientMemory({ ...limits, maxWaitMs: 20_000 });
  const order: string[] = [];
  const full = memory.open("a");
  await full.reserve(100);
  const waiting = [
    track(order, "stream", memory.open("a").reserve(50, Number.POSITIVE_INFINITY)),
    track(order, "request", memory.open("a").reserve(50)),
  ];
  await settle();
  expect(order).toEqual([]);
  full.release();
  await Promise.all(waiting);
  expect(order).toEqual(["request", "stream"]);
});
