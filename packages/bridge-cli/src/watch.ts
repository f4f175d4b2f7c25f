import { setTimeout as delay } from "node:timers/promises";
import type { Output } from "./output.ts";
import type { Text } from "./text.ts";

/** Many events can arrive at once, so what they change is read at most this often. */
const MIN_PAUSE_MS = 500;
/** No event reports that a task was queued or deleted, so changes are also read without an event. */
const MAX_PAUSE_MS = 5_000;

/**
 * Calls `refresh` now, after events, and regularly, until it returns false. Rejects when the events or a refresh fail, and with the
 * signal's reason.
 */
export async function watch(events: AsyncIterable<unknown>, signal: AbortSignal, refresh: () => Promise<boolean>): Promise<void> {
  let hasChanged = false;
  let wake = (): void => {};
  const receiving = (async () => {
    for await (const _event of events) {
      hasChanged = true;
      wake();
    }
    // The stream of a task ends with the task; then the last refresh reads its end.
    hasChanged = true;
    wake();
    await new Promise(() => {});
  })();
  const refreshing = (async () => {
    for (;;) {
      hasChanged = false;
      if (!(await refresh())) return;
      await delay(MIN_PAUSE_MS, undefined, { signal });
      if (hasChanged) continue;
      const paused = new AbortController();
      wake = () => paused.abort();
      await delay(MAX_PAUSE_MS - MIN_PAUSE_MS, undefined, { signal: AbortSignal.any([signal, paused.signal]) }).catch(() =>
        signal.throwIfAborted(),
      );
    }
  })();
  await Promise.race([receiving, refreshing]);
}

/** Returns the lines that a function prints. */
export function collectLines(output: Output, print: (to: Output) => void): Text[] {
  const lines: Text[] = [];
  print({ ...output, print: (text) => void lines.push(text), note: (text) => void lines.push(text) });
  return lines;
}
