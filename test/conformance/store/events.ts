import { describe, expect, test } from "vitest";
import type { EventType } from "#contract";
import type { TaskEventKind } from "../../../src/store/events/interface.ts";
import type { Task } from "../../../src/task.ts";
import { claim, createOpen, newFinish, newTask, type StoreSubject, started } from "./fixtures.ts";

/** Checks the event log in a storage engine. */
export function eventConformance(subject: StoreSubject): void {
  const open = createOpen(subject);

  describe(`store: ${subject.name}`, () => {
    test("the store reports whether the newest tool event of a running task is an open call, whatever other events follow, until the task ends or starts again", async () => {
      const { store } = await open();
      const task = await started(store, { taskId: "a" });
      const other = await started(store, { taskId: "b" });
      const appendAndLook = async (types: EventType[], of = task) => {
        await store.appendEventsIfRunning(
          of,
          types.map((type) => ({ type, data: "{}" })),
        );
        return [await store.isInToolCall(task.seq), await store.isInToolCall(other.seq)];
      };
      expect(await appendAndLook(["assistant.text"])).toEqual([false, false]);
      expect(await appendAndLook(["tool.invoked", "assistant.text", "tool.approval_requested", "tool.approval_resolved"])).toEqual([
        true,
        false,
      ]);
      expect(await appendAndLook(["tool.invoked"], other)).toEqual([true, true]);
      expect(await appendAndLook(["tool.invoked", "tool.completed"])).toEqual([false, true]);
      expect(await appendAndLook(["tool.completed", "tool.invoked"])).toEqual([true, true]);
      expect(await appendAndLook(Array(600).fill("assistant.text"))).toEqual([true, true]);
      await store.finishTaskIfRunning(other, newFinish());
      await store.requeueTaskIfRunning(task);
      const again = (await claim(store)) as Task;
      expect(await appendAndLook(["execution.progress"], again)).toEqual([false, false]);
      expect(await appendAndLook(["tool.invoked"], again)).toEqual([true, false]);
    });

    describe("events", () => {
      test("events are numbered without a gap over all tasks and a reopen, and published after their commit", async () => {
        const { store, reopen, published } = await open();
        const tasks = [await started(store, { taskId: "a" }), await started(store, { taskId: "b" })] as const;
        const append = (index: number) =>
          store.appendEventsIfRunning(tasks[index % 2 === 0 ? 0 : 1], [{ type: "assistant.text", data: `{"content":"${index}"}` }]);
        await Promise.all(Array.from({ length: 100 }, (_, index) => append(index)));
        expect(published.map(({ number }) => number)).toEqual(Array.from({ length: 102 }, (_, index) => index + 1));
        const again = await reopen();
        expect(again.lastEventNumber()).toBe(102);
        await again.finishTaskIfRunning(tasks[0], newFinish());
        expect(again.lastEventNumber()).toBe(103);
        expect(published).toMatchObject((await again.readEvents(0, { tenant: "default" })).events.slice(0, 102));
      });

      test("events have no gap after an invalid write in the same commit", async () => {
        const { store, published } = await open();
        const task = await started(store);
        const faulty = store.insertTaskIfAbsent(newTask({ taskId: "x", agentId: null as unknown as string }));
        const appended = store.appendEventsIfRunning(task, [{ type: "assistant.text", data: "{}" }]);
        await expect(faulty).rejects.toThrow();
        await appended;
        await store.finishTaskIfRunning(task, newFinish());
        expect(published.map(({ number }) => number)).toEqual([1, 2, 3]);
      });

      test("events can be filtered by tenant, task, agent, provider and type, and a read returns the last number that it examined", async () => {
        const { store } = await open();
        await started(store, { taskId: "a", agentId: "x" });
        await started(store, { taskId: "b", tenant: "other" });
        const codex = await started(store, { taskId: "c", provider: "codex" });
        await store.appendEventsIfRunning(codex, [{ type: "assistant.text", data: "{}" }]);
        const read = async (filter: { tenant?: string; taskId?: string; agentId?: string; provider?: string; types?: EventType[] }) => {
          const { events, through } = await store.readEvents(0, { tenant: "default", ...filter });
          expect(through).toBe(store.lastEventNumber());
          return events.map(({ number }) => number);
        };
        expect(await read({})).toEqual([1, 3, 4]);
        expect(await read({ tenant: "other" })).toEqual([2]);
        expect(await read({ taskId: "b" })).toEqual([]);
        expect(await read({ agentId: "x" })).toEqual([1]);
        expect(await read({ provider: "codex" })).toEqual([3, 4]);
        expect(await read({ types: ["assistant.text"] })).toEqual([4]);
        expect(await read({ types: ["execution.started"], provider: "codex" })).toEqual([3]);
      });

      test("events of a task are read completely, without those of its callback, or only those of its tool calls", async () => {
        const { store } = await open();
        const task = await started(store);
        const types = ["tool.invoked", "assistant.text", "tool.completed", "callback.delivered"] as const;
        await store.appendEventsIfRunning(
          task,
          types.map((type) => ({ type, data: "{}" })),
        );
        const read = async (kind: TaskEventKind) => (await store.readTaskEvents(task.seq, 0, 9, kind)).map(({ type }) => type);
        expect(await read("all")).toEqual(["execution.started", ...types]);
        expect(await read("execution")).toEqual(["execution.started", ...types.slice(0, 3)]);
        expect(await read("toolCalls")).toEqual(["tool.invoked", "tool.completed"]);
      });

      test("events are read in parts of limited length, and each read returns where the next one continues", async () => {
        const { store } = await open();
        const task = await started(store);
        await store.appendEventsIfRunning(
          task,
          Array.from({ length: 2500 }, () => ({ type: "assistant.text" as const, data: "{}" })),
        );
        let [after, seen, reads] = [0, 0, 0];
        while (after < store.lastEventNumber()) {
          const { events, through } = await store.readEvents(after, { tenant: "default" });
          expect(through).toBeGreaterThan(after);
          [after, seen, reads] = [through, seen + events.length, reads + 1];
        }
        expect([seen, reads > 1]).toEqual([2501, true]);
        const page = await store.readTaskEvents(task.seq, 2490, 5, "execution");
        expect(page.map(({ number }) => number)).toEqual([2491, 2492, 2493, 2494, 2495]);
      });

      test("events are read in parts of limited size, however large the events are", async () => {
        const { store } = await open();
        const task = await started(store);
        const data = JSON.stringify({ content: "x".repeat(250_000) });
        await store.appendEventsIfRunning(
          task,
          Array.from({ length: 40 }, () => ({ type: "assistant.text" as const, data })),
        );
        const seen: number[] = [];
        for (let after = 0; after < store.lastEventNumber(); ) {
          const { events, through } = await store.readEvents(after, { tenant: "default" });
          expect(events.length).toBeLessThan(10);
          seen.push(...events.map(({ number }) => number));
          after = through;
        }
        expect(seen).toEqual(Array.from({ length: 41 }, (_, index) => index + 1));
      });
    });
  });
}
