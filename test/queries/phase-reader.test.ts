import { pino } from "pino";
import { expect, onTestFinished, test } from "vitest";
import type { AdapterEventType } from "#contract";
import { createEventLog } from "../../src/events/event-log.ts";
import { createMetrics } from "../../src/metrics.ts";
import { createPhaseReader } from "../../src/queries/phase-reader.ts";
import { newFinish, newTask } from "../conformance/store/fixtures.ts";
import { openTestStore } from "../support/database-subject.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";

test("a running task is in the phase tool-call from a tool.invoked event to the next tool.completed event", async () => {
  const store = await openTestStore(await temporaryDirectory());
  const eventLog = createEventLog({ store, metrics: createMetrics("test"), logger: pino({ level: "silent" }) });
  onTestFinished(async () => {
    await eventLog.close();
    await store.close();
  });
  const phases = createPhaseReader({ store, dispatcher: { isHeldByQuota: async () => false } });
  const { task } = await store.insertTaskIfAbsent(newTask({ taskId: "t" }));
  const phase = async () => (await phases.find(task.tenant, "t"))?.phase;
  const after = async (type: AdapterEventType, data: Record<string, unknown> = {}) => {
    eventLog.append(task, { type, data });
    await eventLog.flush(task);
    return phase();
  };

  expect(await phase()).toBe("queued");
  await store.startNextTaskIfQueued({ ...task, kind: "dispatched", exceptAgents: [] });
  expect(await phase()).toBe("running");
  expect(await after("tool.invoked", { toolCallId: "a" })).toBe("tool-call");
  expect(await after("assistant.text", { content: "Meanwhile." })).toBe("tool-call");
  expect(await after("tool.invoked", { toolCallId: "b" })).toBe("tool-call");
  expect(await after("tool.completed", { toolCallId: "b" })).toBe("running");
  expect(await after("tool.invoked", { toolCallId: "c" })).toBe("tool-call");
  await store.finishTaskIfRunning(task, newFinish());
  expect(await phase()).toBe("completed");
  expect(await phases.find("another", "t")).toBeNull();
  expect(await phases.find(task.tenant, "u")).toBeNull();
});
