import { setTimeout as delay } from "node:timers/promises";
import type { ExecutionResult } from "#contract";

/** The number of events of one run. */
export const EVENTS_PER_TASK = 20;

export type NoopEvent =
  | { type: "tool.invoked"; data: { toolCallId: string; toolName: string; input: unknown } }
  | { type: "tool.completed"; data: { toolCallId: string; toolName: string; output: unknown; isError: boolean } }
  | { type: "assistant.text"; data: { content: string } }
  | { type: "execution.progress"; data: Record<string, unknown> };

const output = "The work is done, and this is what there is to say about it. ".repeat(13);

const createResult = (): ExecutionResult => ({
  status: "ok",
  output,
  durationMs: 0,
  usage: { inputTokens: 1200, outputTokens: 300 },
  model: "none",
  connection: "in-process",
});

/**
 * Emits 20 events and returns a result of about 0.9 kB, so that every server has the same work. No event is a text, because Bridge combines
 * texts.
 */
export async function runNoopAgent(emit: (event: NoopEvent) => void): Promise<ExecutionResult> {
  for (let call = 0; call < 6; call += 1) {
    const named = { toolCallId: `call-${call}`, toolName: "read_file" };
    emit({ type: "execution.progress", data: { step: call, note: "Looking at the next file." } });
    emit({ type: "tool.invoked", data: { ...named, input: { path: `src/part-${call}.ts` } } });
    emit({ type: "tool.completed", data: { ...named, output: "export const answer = 42;", isError: false } });
  }
  emit({ type: "execution.progress", data: { step: 6, note: "Putting the answer together." } });
  emit({ type: "execution.progress", data: { step: 7, note: "Done." } });
  return createResult();
}

/** Emits `burst` events, each with the text if there is one, every `everyMs` for `turns` turns. */
export interface Pace {
  burst: number;
  everyMs: number;
  turns: number;
  text?: string;
}

/** Emits events at a fixed rate, each with the time at which it was emitted. */
export async function runPacedAgent({ burst, everyMs, turns, text }: Pace, emit: (event: NoopEvent) => void): Promise<ExecutionResult> {
  const startedAt = performance.now();
  for (let turn = 0; turn < turns; turn += 1) {
    await delay(Math.max(0, startedAt + turn * everyMs - performance.now()));
    for (let count = 0; count < burst; count += 1) emit({ type: "execution.progress", data: { sentAt: Date.now(), text } });
  }
  return createResult();
}

/** Emits text and calls tools at this rate. */
export interface Talk {
  eventsPerSecond: number;
  seconds: number;
}

const TALK_EVERY_MS = 20;

/**
 * Emits turns of a text, a report and a tool call. A text after a tool call is an event, because Bridge combines consecutive texts only.
 */
export async function runTalkingAgent({ eventsPerSecond, seconds }: Talk, emit: (event: NoopEvent) => void): Promise<ExecutionResult> {
  const startedAt = performance.now();
  for (let sent = 0; sent < eventsPerSecond * seconds; ) {
    const due = Math.min(((performance.now() - startedAt) / 1000) * eventsPerSecond, eventsPerSecond * seconds);
    for (; sent < due; sent += 1) emit(createTalkEvent(sent));
    await delay(TALK_EVERY_MS);
  }
  return createResult();
}

function createTalkEvent(number: number): NoopEvent {
  const named = { toolCallId: `call-${Math.floor(number / 4)}`, toolName: "read_file" };
  const events: NoopEvent[] = [
    { type: "assistant.text", data: { content: `I look at part ${number} next, because the last one refers to it.` } },
    { type: "execution.progress", data: { step: number, note: "Looking at the next file." } },
    { type: "tool.invoked", data: { ...named, input: { path: `src/part-${number}.ts` } } },
    { type: "tool.completed", data: { ...named, output: "export const answer = 42;", isError: false } },
  ];
  return events[number % events.length] as NoopEvent;
}
