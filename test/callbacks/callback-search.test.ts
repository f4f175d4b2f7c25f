import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, test, vi } from "vitest";
import { createCallbackSearch } from "../../src/callbacks/callback-search.ts";

/** A search whose read of the store fails when the test says so. */
function startSearch() {
  const read = Promise.withResolvers<number | null>();
  const onFault = vi.fn<(error: unknown) => void>();
  const onEnded = vi.fn<() => void>();
  const store = { nextCallbackInMs: () => read.promise, listDueCallbackQueues: async () => [] };
  const search = createCallbackSearch({ store, onFault, onBegin() {}, onFound() {}, onEnded });
  search.start();
  return { search, onFault, onEnded, fail: () => read.reject(new Error("The store is closed.")) };
}

test("a failed search is reported", async () => {
  const { search, onFault, fail } = startSearch();
  fail();
  await nextTurn();
  expect(onFault).toHaveBeenCalledTimes(1);
  search.stop();
});

test("a search that fails after the stop, because the store has been closed, is not reported", async () => {
  const { search, onFault, onEnded, fail } = startSearch();
  search.stop();
  fail();
  await nextTurn();
  expect([onFault.mock.calls, onEnded.mock.calls.length]).toEqual([[], 1]);
});
