import { type StoredRow, toTaskIdentity, toTaskSummary } from "../tasks/rows.ts";
import type { TraceEnd, TraceEndType, TraceEvent, TracePage } from "./interface.ts";

/** Maximum events that one read examines. */
const MAX_EXAMINED_EVENTS = 1000;
/** Characters of the end of the data of an event, which contains its short last fields. */
export const TAIL_CHARACTERS = 160;

/** Characters of the data of an event that lists calls of a model. They are more than those of other events. */
export const CALLS_CHARACTERS = 8_192;

/** The columns of an end, of the event `e` and its task `t`, without the summary and the texts that are cut. */
export const traceEndColumns = `e.number, e.type, e.at, t.seq, t.tenant, t.id, t.parent_id, t.agent_id, t.provider, t.parent_seq, t.traceparent,
  t.tracestate, t.created_at`;

/** The data of the earlier end of the callback of the event `e`. */
export const previousEndColumn = `CASE WHEN e.type LIKE 'callback.%' THEN (
    SELECT p.data FROM event p WHERE p.task = e.task AND p.number < e.number AND p.type IN ('callback.delivered', 'callback.dead')
    ORDER BY p.number DESC LIMIT 1) END AS previous_end`;

/** The row of an event of a run. */
export const toTraceEvent = (row: StoredRow): TraceEvent => ({
  number: Number(row["number"]),
  type: row["type"] as TraceEvent["type"],
  at: Number(row["at"]),
  head: String(row["head"]),
  tail: String(row["tail"]),
});

/** The row of an end with the events of its run. */
export const toTraceEnd = (row: StoredRow, events: readonly TraceEvent[]): TraceEnd => {
  const { model, costUsd, usage, errorCode } = toTaskSummary(row);
  return {
    ...toTraceEvent(row),
    type: row["type"] as TraceEndType,
    task: {
      ...toTaskIdentity(row),
      parentSeq: row["parent_seq"] as number | null,
      traceparent: row["traceparent"] as string | null,
      tracestate: row["tracestate"] as string | null,
      createdAt: Number(row["created_at"]),
    },
    summary: { model, costUsd, usage, errorCode },
    request: String(row["request"]),
    events,
    callback: toCallback(row),
  };
};

const toCallback = (row: StoredRow): TraceEnd["callback"] =>
  typeof row["url"] === "string"
    ? { url: row["url"], history: row["history"] as string | null, previousEnd: row["previous_end"] as string | null }
    : null;

/** Where a page begins, and the last event that it may contain, of a log that ends with `last`. */
export function toTraceRange({ after, pruned, last }: { after: number; pruned: number; last: number }) {
  const start = Math.max(after, pruned);
  return { start, end: Math.max(start, Math.min(start + MAX_EXAMINED_EVENTS, last)), skipped: start - after };
}

/** The page of these ends. If it is full, it ends with the last of them. The rows of a deleted task may remain for a while. */
export function toTracePage(
  ends: readonly TraceEnd[],
  { end, last, skipped, isFull }: { end: number; last: number; skipped: number; isFull: boolean },
): TracePage {
  const through = isFull ? (ends.at(-1)?.number ?? end) : end;
  return { through, hasMore: through < last, skipped, ends: ends.filter(({ task }) => task.tenant !== "") };
}
