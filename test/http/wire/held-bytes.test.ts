import { expect, test } from "vitest";
import { createHeldBytes } from "../../../src/http/wire/held-bytes.ts";

const limits = { perTenantBytes: 100, inAllBytes: 250, patienceMs: 60_000 };

/** Records when a reservation is admitted. */
function track(order: string[], name: string, reserved: Promise<void>): Promise<void> {
  return reserved.then(() => void order.push(name));
}
const settle = () => new Promise((resolve) => setImmediate(resolve));

test("a tenant's reservations wait in their order until there is room, and other tenants pass by", async () => {
  const held = createHeldBytes(limits);
  const order: string[] = [];
  const first = held.open("a");
  await first.reserve(90);
  const second = held.open("a");
  const waiting = [
    track(order, "second of a", second.reserve(60)),
    track(order, "third of a", held.open("a").reserve(5)),
    track(order, "first of b", held.open("b").reserve(90)),
  ];
  await settle();
  expect(order).toEqual(["first of b"]);
  expect([held.isFull("a"), held.isFull("b")]).toEqual([false, false]);
  first.release();
  await Promise.all(waiting);
  expect(order).toEqual(["first of b", "second of a", "third of a"]);
});

test("a tenant that holds nothing is admitted with an answer of any size, even while all tenants together are over the limit", async () => {
  const held = createHeldBytes(limits);
  await held.open("a").reserve(10_000);
  expect(held.isFull("a")).toBe(true);
  await held.open("b").reserve(50);
  // B has room of its own, but all together have none.
  expect(held.isFull("b")).toBe(true);
  expect(held.isFull("c")).toBe(false);
});

test("a request that waits too long is rejected as overloaded, and a closed one waits no longer", async () => {
  const held = createHeldBytes({ ...limits, patienceMs: 10 });
  await held.open("a").reserve(100);
  await expect(held.open("a").reserve(1)).rejects.toMatchObject({ code: "overloaded", retryAfterSeconds: 5 });
  const patient = createHeldBytes(limits);
  const full = patient.open("a");
  await full.reserve(100);
  const gone = patient.open("a");
  const reserved = gone.reserve(50);
  gone.release();
  await expect(reserved).rejects.toMatchObject({ code: "overloaded" });
  full.release();
  await patient.open("a").reserve(100);
});

test("a waiting request that gives up makes room for smaller ones behind it", async () => {
  const held = createHeldBytes(limits);
  await held.open("a").reserve(60);
  const large = held.open("a");
  const refused = large.reserve(90);
  const small = held.open("a").reserve(5);
  large.release();
  await expect(refused).rejects.toMatchObject({ code: "overloaded" });
  await small;
});

test("a released hold counts nothing", async () => {
  const held = createHeldBytes(limits);
  const hold = held.open("a");
  hold.set(100);
  hold.release();
  hold.set(100);
  expect([hold.bytes, held.isFull("a")]).toEqual([0, false]);
});
