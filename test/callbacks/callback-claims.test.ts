import { expect, test } from "vitest";
import { createCallbackClaims } from "../../src/callbacks/callback-claims.ts";
import type { DueCallback } from "../../src/store/store.ts";

test("a callback that becomes due between two reads of the store is posted immediately", async () => {
  const queue = { tenant: "default", origin: "http://127.0.0.1:1" };
  const callback = { task: { seq: 1, tenant: "default" }, origin: queue.origin, heldLength: 0 } as unknown as DueCallback;
  let now = 0;
  let isDelivered = false;
  const isDue = () => now >= 1 && !isDelivered;
  // Each read takes time.
  const read = <Result>(result: Result): Promise<Result> => {
    now += 1;
    return Promise.resolve(result);
  };
  const claims = createCallbackClaims({
    store: {
      listDueCallbackQueues: () => read(isDue() ? [queue] : []),
      nextCallbackInMs: () => read(isDue() || isDelivered ? null : 1),
      listDueCallbacks: async () => (isDue() ? [callback] : []),
    },
    deliver() {
      isDelivered = true;
      return { settled: Promise.resolve(true), ended: Promise.resolve(true) };
    },
    onFault(error) {
      throw error;
    },
  });
  claims.start();
  await expect.poll(() => isDelivered).toBe(true);
  claims.stop();
});
