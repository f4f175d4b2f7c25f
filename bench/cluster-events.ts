import { setTimeout as delay } from "node:timers/promises";
import type { Target } from "./driver.ts";
import { openEventCounter } from "./event-counter.ts";
import type { Pace } from "./noop-agent.ts";
import { quantile } from "./statistics.ts";

/** Events that one node stores, and a reader on another node. */
export interface EventStage {
  what: string;
  /** Tasks that emit at the same time, all on the first node. */
  tasks: number;
  pace: Pace;
}

export interface EventTimes {
  what: string;
  emittedPerSecond: number;
  seenPerSecond: number;
  p50Ms: number;
  p99Ms: number;
  missing: number;
}

const LIMIT_MS = 60_000;
const SENT_AT = '"sentAt":';

/** Measures the time from the emission of events on the first node of a cluster until a reader on the second one receives them. */
export async function measureEvents({ address, others, token }: Target, stage: EventStage): Promise<EventTimes> {
  const { what, tasks, pace } = stage;
  const delays: number[] = [];
  let firstSentAt = Number.POSITIVE_INFINITY;
  let lastSeenAt = 0;
  const events = await openEventCounter(others?.[0] ?? address, token, (frame) => {
    const at = frame.indexOf(SENT_AT);
    if (at === -1) return;
    const sentAt = Number.parseInt(frame.slice(at + SENT_AT.length, at + SENT_AT.length + 13), 10);
    lastSeenAt = Date.now();
    firstSentAt = Math.min(firstSentAt, sentAt);
    delays.push(lastSeenAt - sentAt);
  });
  try {
    const run = crypto.randomUUID();
    // New agents, which live on the node that accepts their first task.
    for (let task = 0; task < tasks; task += 1) await dispatch(address, token, `paced-${run}-${task}`, pace);
    const expected = tasks * pace.burst * pace.turns;
    const deadline = performance.now() + LIMIT_MS;
    while (delays.length < expected && performance.now() < deadline) await delay(20);
    return {
      what,
      emittedPerSecond: (tasks * pace.burst * 1000) / pace.everyMs,
      seenPerSecond: (delays.length / (lastSeenAt - firstSentAt)) * 1000,
      p50Ms: quantile(delays, 0.5),
      p99Ms: quantile(delays, 0.99),
      missing: expected - delays.length,
    };
  } finally {
    events.close();
  }
}

async function dispatch(address: string, token: string, id: string, pace: Pace): Promise<void> {
  const answer = await fetch(`${address}/api/v2/dispatch`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${token}` },
    body: JSON.stringify({ taskId: id, agentId: id, message: "Emit events.", callbackUrl: "http://127.0.0.1:9/", metadata: { pace } }),
  });
  if (answer.status !== 202) throw new Error(`The dispatch was answered with ${answer.status}: ${await answer.text()}`);
}
