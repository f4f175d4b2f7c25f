import { expect, test, vi } from "vitest";
import type { Store } from "../../../src/store/store.ts";
import { createInMemoryAdapter } from "../../adapters/in-memory-adapter.ts";
import { openTestStore } from "../../support/database-subject.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";
import { endOf, newDispatch, startEngine } from "../engine.ts";
import { createHeldRuntime } from "../runtimes.ts";

test("a claim that fails releases its slot", async () => {
  const dataDir = await temporaryDirectory();
  const real = await openTestStore(dataDir);
  let fails = false;
  const startNextTaskIfQueued: Store["startNextTaskIfQueued"] = (filter) =>
    fails ? Promise.reject(new Error("failed")) : real.startNextTaskIfQueued(filter);
  const { run, held } = createHeldRuntime();
  const engine = await startEngine([createInMemoryAdapter({ run })], {
    dataDir,
    store: { ...real, startNextTaskIfQueued },
    maxConcurrent: () => 1,
  });
  const dispatch = async () =>
    (await engine.dispatcher.admitTask(newDispatch(), { tenant: "default", traceparent: null, tracestate: null })).task;
  const first = await dispatch();
  await vi.waitFor(() => expect(held).toHaveLength(1));
  const second = await dispatch();
  fails = true;
  held[0]?.release();
  await endOf(engine, first);
  await vi.waitFor(() => expect(engine.dispatcher.load("memory")).toMatchObject({ running: 0, queued: 1 }));
  fails = false;
  const third = await dispatch();
  for (const [index, task] of [second, third].entries()) {
    await vi.waitFor(() => expect(held).toHaveLength(index + 2));
    held[index + 1]?.release();
    await endOf(engine, task);
  }
});
