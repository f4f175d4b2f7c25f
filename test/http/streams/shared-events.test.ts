import { expect, test } from "vitest";
import { createClientMemory } from "../../../src/access/client-memory.ts";
import { createSharing } from "../../../src/http/streams/shared-events.ts";
import type { StoredEvent } from "../../../src/store/events/interface.ts";

const task = { seq: 1, tenant: "default", taskId: "task", parentTaskId: null, agentId: "agent", provider: "memory" };
const event: StoredEvent = { number: 1, task, type: "execution.progress", at: 0, data: "{}" };

test("streams that send the same events share one buffer, which counts once towards the limit until all have sent it", () => {
  const clientMemory = createClientMemory({ perTenantBytes: 100 });
  const share = createSharing({ encode: (events) => Buffer.alloc(events.length * 50), clientMemory });
  const events = [event, event];
  const shared = share(events);
  expect(share(events)).toBe(shared);
  expect(share([...events])).not.toBe(shared);
  expect([shared.count, shared.bytes]).toEqual([2, 100]);

  expect(clientMemory.isFull("default")).toBe(false);
  shared.retain();
  shared.retain();
  expect([clientMemory.isFull("default"), clientMemory.isFull("other")]).toEqual([true, false]);
  const more = clientMemory.open("default");
  more.set(1);
  shared.release();
  expect(clientMemory.isFull("default")).toBe(true);
  shared.release();
  expect(clientMemory.isFull("default")).toBe(false);
  // All of the limit except one byte is free again.
  more.set(99);
  expect(clientMemory.isFull("default")).toBe(false);
});

test("streams with many different filters share the buffers of single events above a limit of memory", () => {
  const clientMemory = createClientMemory();
  const share = createSharing({ encode: (events) => Buffer.alloc(events.length * 1024 ** 2), clientMemory });
  const commit = Array.from({ length: 4 }, (_, number) => ({ ...event, number }));
  const shares = Array.from({ length: 40 }, () => {
    const shared = share([...commit]);
    shared.retain();
    return shared;
  });
  const inEachShare = 4 * 1024 ** 2;
  expect(shares.map(({ bytes, count }) => [bytes, count])).toEqual(shares.map(() => [inEachShare, 4]));
  // 40 copies would be 160 MiB, and the limit of a tenant is 64 MiB.
  expect(clientMemory.isFull("default")).toBe(false);

  for (const { release } of shares) release();
  // Nothing counts any more, so the limit is available as a whole.
  const more = clientMemory.open("default");
  more.set(64 * 1024 ** 2 - 1);
  expect(clientMemory.isFull("default")).toBe(false);
});
