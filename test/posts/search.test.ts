import { expect, test, vi } from "vitest";
import { createDueSearch } from "../../src/posts/search.ts";

test.each([
  ["is reported", false],
  ["is not reported after the search was stopped, because Bridge closes the store then", true],
])("a failed read %s", async (_, isStopped) => {
  const read = Promise.withResolvers<never>();
  const ended = Promise.withResolvers<void>();
  const onFault = vi.fn();
  const search = createDueSearch({
    outbox: { nextInMs: () => read.promise, listDueQueues: async () => [] },
    onFault,
    onBegin() {},
    onFound() {},
    onEnded: ended.resolve,
  });
  search.start();
  if (isStopped) search.stop();
  read.reject(new Error("Bridge is stopping."));
  await ended.promise;
  expect(onFault).toHaveBeenCalledTimes(isStopped ? 0 : 1);
  search.stop();
});
