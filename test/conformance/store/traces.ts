import { describe, expect, onTestFinished, test } from "vitest";
import { newFinish, newTask, type StoreSubject, started } from "./fixtures.ts";

const limits = { ends: 10, events: 100, head: 20, request: 10_000 };

/** Checks the export of traces of a storage engine. */
export function traceConformance(subject: StoreSubject): void {
  describe(`traces in the store: ${subject.name}`, () => {
    test("traces begin at the end of the log, and one process at a time reads the ends with the events of their runs", async () => {
      const { store, close } = await subject.open(() => 1_000);
      onTestFinished(close);
      await store.finishTaskIfRunning(await started(store, { taskId: "earlier" }), newFinish());
      const position = (await store.claimTracePosition("a", 60_000)) as number;
      expect(position).toBe(store.lastEventNumber());
      const trace = { traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", tracestate: "congo=2" };
      const task = await started(store, { taskId: "next", request: { ...newTask().request, message: "Tidy up." }, ...trace });
      expect(await store.findTask("default", "next")).toMatchObject(trace);
      await store.appendEventsIfRunning(task, [
        { type: "assistant.text", data: '{"content":"not a span"}' },
        { type: "tool.invoked", data: '{"toolCallId":"c1","toolName":"look","input":{}}' },
      ]);
      await store.finishTaskIfRunning(task, newFinish());
      const page = await store.readTraceEnds(position, limits);
      expect(page).toMatchObject({ through: store.lastEventNumber(), hasMore: false, skipped: 0 });
      expect(page.ends.map(({ type, at, callback }) => ({ type, at, callback }))).toEqual([
        { type: "execution.completed", at: 1_000, callback: null },
      ]);
      expect(page.ends[0]?.events.map(({ type, head }) => [type, head.slice(0, 20)])).toEqual([
        ["execution.started", expect.any(String)],
        ["tool.invoked", '{"toolCallId":"c1","'],
      ]);
      expect(page.ends[0]?.task).toMatchObject({ taskId: "next", parentSeq: null, ...trace, createdAt: 1_000 });
      expect(page.ends[0]?.request).toContain("Tidy up.");
      expect(await store.moveTracePosition("b", page.through)).toBe(false);
      expect(await store.moveTracePosition("a", page.through)).toBe(true);
      expect(await store.claimTracePosition("a", 60_000)).toBe(page.through);
    });

    test.for([100, 5, 2])("traces give each of several runs its own events, %i at most", async (events) => {
      const { store, close } = await subject.open(() => 1_000);
      onTestFinished(close);
      const position = (await store.claimTracePosition("a", 60_000)) as number;
      const tasks = [await started(store, { taskId: "one" }), await started(store, { taskId: "two" })] as const;
      const invoke = (call: string) => ({ type: "tool.invoked" as const, data: `{"toolCallId":"${call}"}` });
      await store.appendEventsIfRunning(tasks[0], [invoke("1a"), invoke("1b")]);
      await store.appendEventsIfRunning(tasks[1], [invoke("2a")]);
      await store.appendEventsIfRunning(tasks[0], [invoke("1c")]);
      await store.finishTaskIfRunning(tasks[1], newFinish());
      await store.finishTaskIfRunning(tasks[0], newFinish());
      const page = await store.readTraceEnds(position, { ...limits, events });
      expect(page.ends.map(({ task, events: ofRun }) => [task.taskId, ofRun.slice(1).map(({ head }) => head.slice(15, 17))])).toEqual([
        ["two", ["2a"].slice(0, events - 1)],
        ["one", ["1a", "1b", "1c"].slice(0, events - 1)],
      ]);
    });
  });
}
