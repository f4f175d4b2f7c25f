import { pino } from "pino";
import { expect, onTestFinished, test } from "vitest";
import { createMetrics } from "../../src/metrics.ts";
import type { Store } from "../../src/store/store.ts";
import type { ExportAnswer } from "../../src/traces/otlp-exporter.ts";
import type { Span } from "../../src/traces/span.ts";
import { createTraceExporter } from "../../src/traces/trace-exporter.ts";
import { newFinish, started } from "../conformance/store/fixtures.ts";
import { openTestStore } from "../support/database-subject.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";

/** A store with the position of the export at its beginning, and an exporter for a collector whose responses `answer` returns. */
async function open(answer: () => ExportAnswer, onPause: () => Promise<void> = async () => {}) {
  const store = await openTestStore(await temporaryDirectory());
  await store.claimTracePosition("node", 60_000);
  const metrics = createMetrics("test");
  const received: Span[] = [];
  const pauses: number[] = [];
  const exporter = createTraceExporter({
    ...{ store, metrics, holder: "node", logger: pino({ level: "silent" }), isSampled: () => true },
    eventLog: { subscribe: () => () => {} },
    otlp: {
      async send(spans) {
        const given = answer();
        if (given.kind === "sent") received.push(...spans);
        return given;
      },
      close: async () => {},
    },
    content: { messages: false, tools: false },
    traitsOf: () => ({ vendor: null, isWorkflow: false, callsModel: () => false }),
    async pause(durationMs) {
      pauses.push(durationMs);
      await onPause();
    },
  });
  onTestFinished(async () => {
    await exporter.close();
    await store.close();
  });
  return { store, metrics, received, pauses, exporter };
}

const SENT: ExportAnswer = { kind: "sent", rejected: 0, message: "" };
const AWAY: ExportAnswer = { kind: "refused", message: "connection refused" };
const SPANS_OF_A_RUN = 3;

const ids = (spans: readonly Span[]): string[] => spans.map(({ traceId, spanId }) => `${traceId}/${spanId}`);

async function runTasks(store: Store, from: number, count: number): Promise<void> {
  const numbers = Array.from({ length: count }, (_, index) => from + index);
  await Promise.all(numbers.map(async (number) => store.finishTaskIfRunning(await started(store, { taskId: `t-${number}` }), newFinish())));
}

test("a collector that is unreachable for an hour receives every span once afterwards, also those of tasks that ended meanwhile", async () => {
  let attempts = 0;
  const MINUTES_AWAY = 60;
  const { store, received, pauses, exporter, metrics } = await open(
    () => (attempts++ < 2 * MINUTES_AWAY ? AWAY : SENT),
    // Tasks keep ending while the collector is away.
    () => runTasks(store, 1_000 + attempts, attempts % 4 === 0 ? 1 : 0),
  );
  await runTasks(store, 0, 100);
  await exporter.start();
  const tasks = 100 + MINUTES_AWAY / 2;
  await expect.poll(() => received.length).toBe(tasks * SPANS_OF_A_RUN);
  expect(new Set(ids(received)).size).toBe(received.length);
  expect(pauses.slice(0, 7)).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000]);
  expect(pauses.length).toBe(2 * MINUTES_AWAY);
  const text = await metrics.registry.metrics();
  expect(text).toMatch(/^bridge_trace_delay_seconds 0$/m);
  expect(text).toMatch(new RegExp(`^bridge_trace_spans_total\\{outcome="exported"\\} ${received.length}$`, "m"));
  await expect.poll(() => store.claimTracePosition("node", 60_000)).toBe(store.lastEventNumber());
});

test("events that retention deleted before their export are counted, and what follows is exported", async () => {
  const { store, received, exporter, metrics } = await open(() => SENT);
  const position = await store.claimTracePosition("node", 60_000);
  await runTasks(store, 0, 5);
  for (let pruned = 1; pruned > 0; ) pruned = await store.prune(-1_000, 100);
  const skipped = (await store.prunedThrough()) - Number(position);
  expect(skipped).toBeGreaterThan(0);
  await runTasks(store, 5, 2);
  await exporter.start();
  await expect.poll(() => received.length).toBe(2 * SPANS_OF_A_RUN);
  expect(await metrics.registry.metrics()).toMatch(new RegExp(`^bridge_trace_events_skipped_total ${skipped}$`, "m"));
});

test("an exporter that stops while the collector is unreachable keeps the position, so that the next one exports everything", async () => {
  const { store, received, exporter, pauses } = await open(() => AWAY);
  const position = await store.claimTracePosition("node", 60_000);
  await runTasks(store, 0, 2);
  await exporter.start();
  await expect.poll(() => pauses.length).toBeGreaterThan(3);
  await exporter.close();
  expect(received).toEqual([]);
  expect(await store.claimTracePosition("node", 60_000)).toBe(position);
});
