import { setTimeout as delay } from "node:timers/promises";
import type { Connection } from "../connection.ts";
import { type Check, failed, ok } from "./check.ts";
import { REQUEST_LIMIT_MS, reasonOf } from "./check-address.ts";

/**
 * The stream counts as buffered if it has sent nothing after this time and after this many plain requests through the same address, which
 * began after the stream and were answered. So a slow machine or network, which delays both, is not taken for a buffering proxy.
 */
const MIN_WAIT_MS = 3_000;
const MIN_ANSWERS = 3;

/** Checks that events arrive at once. Bridge sends the first bytes of a stream immediately; a proxy that buffers holds them back. */
export async function checkStream({ url, token }: Connection, signal: AbortSignal): Promise<Check> {
  const ended = new AbortController();
  const headers = { authorization: `Bearer ${token}` };
  const stopSignal = AbortSignal.any([signal, ended.signal]);
  const startedAt = performance.now();
  const first = readFirstBytes(`${url}/api/events`, headers, stopSignal).catch((error: unknown) => reasonOf(error));
  try {
    const answers = await Promise.race([first, answerPlainRequests(`${url}/healthz`, stopSignal)]);
    if (answers === true)
      return ok("events", `The first bytes of an event stream arrived after ${Math.round(performance.now() - startedAt)} ms.`);
    if (typeof answers === "string")
      return failed(
        "events",
        `The event stream cannot be read: ${answers}.`,
        "Let the proxy pass GET /api/events: deploy/README.md#behind-a-proxy",
      );
    return failed(
      "events",
      `The event stream sent nothing for ${MIN_WAIT_MS / 1000} s, while ${answers} plain requests were answered. A proxy buffers it.`,
      "Disable buffering in the proxy, for nginx with: proxy_buffering off; For others: deploy/README.md#behind-a-proxy",
    );
  } finally {
    ended.abort();
    await first;
  }
}

/** Resolves to true when the first bytes arrive, or to the fault of the response. */
async function readFirstBytes(url: string, headers: Record<string, string>, signal: AbortSignal): Promise<true | string> {
  const response = await fetch(url, { headers: { ...headers, accept: "text/event-stream" }, signal });
  if (!response.ok) return `HTTP ${response.status}`;
  const { done = true } = (await response.body?.getReader().read()) ?? {};
  return done ? "it ended without an event" : true;
}

/** Resolves to the number of answers when there are enough of them, and enough time has passed. */
async function answerPlainRequests(url: string, signal: AbortSignal): Promise<number | string> {
  let answers = 0;
  try {
    const timePassed = delay(MIN_WAIT_MS, undefined, { signal });
    // A failed request ends the function before it awaits the time.
    timePassed.catch(() => {});
    for (let number = 0; number < MIN_ANSWERS; number += 1) {
      const response = await fetch(url, { signal: AbortSignal.any([signal, AbortSignal.timeout(REQUEST_LIMIT_MS)]) });
      await response.arrayBuffer();
      answers += 1;
    }
    await timePassed;
    return answers;
  } catch (error) {
    return `a plain request to ${url} failed: ${reasonOf(error)}`;
  }
}
