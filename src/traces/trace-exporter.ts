import { sleep } from "@hak2i/async-kit";
import type { Logger } from "pino";
import type { EventLog } from "../events/event-log.ts";
import { createRepeatedPass } from "../events/repeated-pass.ts";
import type { Metrics } from "../metrics.ts";
import { type TraceEnd, type TraceLimits, type TraceStore, traceEndTypes } from "../store/traces/interface.ts";
import type { TracedTask } from "../trace-context.ts";
import type { OtlpExporter } from "./otlp-exporter.ts";
import type { Span } from "./span.ts";
import { type SpanOptions, toSpans } from "./to-spans.ts";

/** The process that exports traces has the position for this time. It renews it before each batch. */
const CLAIM_MS = 60_000;
/** A process looks for ends at this interval, because the process that stored them may have been killed. */
const POLL_MS = 5_000;
/** Ends that follow each other share a batch. */
const LEAST_PASS_MS = 1_000;
const FAULT_PAUSE_MS = 1_000;
const FIRST_BACKOFF_MS = 1_000;
const MAX_BACKOFF_MS = 30_000;
/** Maximum spans of one request to the collector. */
const MAX_BATCH_SPANS = 512;
/** Log lines about a collector that does not answer are at least this far apart. */
const LOG_PAUSE_MS = 60_000;

/** What one page of ends contains at most: it determines the memory of the export. */
const limits: TraceLimits = { ends: 64, events: 2_000, head: 512, request: 4_096 };
/** With content, each event can be 16 times as long. */
const contentLimits: TraceLimits = { ends: 8, events: 1_000, head: 9_216, request: 65_536 };

/** Options of `createTraceExporter`. */
export interface TraceExporterOptions extends SpanOptions {
  store: TraceStore;
  eventLog: Pick<EventLog, "subscribe">;
  otlp: OtlpExporter;
  isSampled(task: TracedTask): boolean;
  /** Distinguishes this process from the others on the database. */
  holder: string;
  metrics: Pick<Metrics, "traceSpans" | "traceEventsSkipped" | "traceDelay">;
  logger: Logger;
  /** Waits before a batch is sent again. Replaced in tests. */
  pause?: typeof sleep;
}

export type TraceExporter = ReturnType<typeof createTraceExporter>;

/**
 * Creates the exporter of traces. It follows the event log, and its position moves only after the collector has acknowledged the spans, so
 * that a crash, or a collector that is away, loses none. A repeated span has the same id.
 */
export function createTraceExporter(options: TraceExporterOptions) {
  const { store, eventLog, otlp, isSampled, holder, metrics, logger, pause = sleep } = options;
  const pageLimits = options.content.messages || options.content.tools ? contentLimits : limits;
  const closing = new AbortController();
  let unsubscribe = (): void => {};
  let loggedAt = Number.NEGATIVE_INFINITY;
  const passes = createRepeatedPass({
    ...{ pass, pollMs: POLL_MS, leastMs: LEAST_PASS_MS, faultPauseMs: FAULT_PAUSE_MS },
    onFault: (error) => closing.signal.aborted || logger.error({ err: error }, "failed to read events for traces, retrying"),
  });

  async function pass(): Promise<void> {
    while (!closing.signal.aborted) {
      const position = await store.claimTracePosition(holder, CLAIM_MS);
      // Another process exports.
      if (position === null) return;
      const page = await store.readTraceEnds(position, pageLimits);
      if (page.skipped > 0) {
        metrics.traceEventsSkipped.inc(page.skipped);
        logger.warn({ events: page.skipped }, "traces skip events that retention has deleted");
      }
      if (!(await exportAll(page.ends))) return;
      // A position without ends moves too, so that no pass reads the same events again.
      if (page.through !== position && !(await store.moveTracePosition(holder, page.through))) return;
      if (!page.hasMore) return;
    }
  }

  /** Returns false if another process has taken over, or if Bridge stops. */
  async function exportAll(ends: readonly TraceEnd[]): Promise<boolean> {
    const spans = ends.filter(({ task }) => isSampled(task)).flatMap(toSpansSafely);
    for (let start = 0; start < spans.length; start += MAX_BATCH_SPANS)
      if (!(await exportBatch(spans.slice(start, start + MAX_BATCH_SPANS)))) return false;
    return true;
  }

  /** One row that cannot be converted must not stop the export of the others. */
  function toSpansSafely(end: TraceEnd): Span[] {
    try {
      return toSpans(end, options);
    } catch (error) {
      metrics.traceSpans.inc({ outcome: "failed" });
      logger.error({ err: error, taskId: end.task.taskId, tenant: end.task.tenant }, "failed to create the spans of a task");
      return [];
    }
  }

  /** Sends a batch until the collector accepts or rejects it. */
  async function exportBatch(spans: readonly Span[]): Promise<boolean> {
    for (let backoffMs = FIRST_BACKOFF_MS; ; backoffMs = Math.min(2 * backoffMs, MAX_BACKOFF_MS)) {
      const result = await otlp.send(spans);
      if (result.kind === "sent") {
        metrics.traceDelay.set(0);
        metrics.traceSpans.inc({ outcome: "exported" }, spans.length - result.rejected);
        if (result.rejected > 0) noteRejected(result.rejected, result.message);
        return true;
      }
      if (result.kind === "rejected") {
        noteRejected(spans.length, result.message);
        return true;
      }
      noteUnreachable(result.message);
      metrics.traceDelay.set(Math.max(0, Date.now() - (spans[0]?.endAt ?? 0)) / 1000);
      await pause(backoffMs, closing.signal).catch(() => {});
      if (closing.signal.aborted || (await store.claimTracePosition(holder, CLAIM_MS)) === null) return false;
    }
  }

  function noteRejected(count: number, message: string): void {
    metrics.traceSpans.inc({ outcome: "rejected" }, count);
    logger.error({ spans: count, reason: message }, "the collector rejected spans, they are lost");
  }

  function noteUnreachable(message: string): void {
    if (performance.now() - loggedAt < LOG_PAUSE_MS) return;
    loggedAt = performance.now();
    logger.warn({ reason: message }, "the collector did not accept spans, retrying");
  }

  return {
    /** Starts to export. At the first start on a database, the spans of everything that ends after this has resolved. */
    async start(): Promise<void> {
      await store.claimTracePosition(holder, CLAIM_MS);
      unsubscribe = eventLog.subscribe((events) => {
        if (events.some(({ type }) => (traceEndTypes as readonly string[]).includes(type))) passes.wakeIn(0);
      });
      passes.start();
    },
    /** Call it when another node has stored events. */
    onForeignEvents: (): void => passes.wakeIn(LEAST_PASS_MS),
    async close(): Promise<void> {
      closing.abort();
      unsubscribe();
      await passes.close();
      await otlp.close();
    },
  };
}
