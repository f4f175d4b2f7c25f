import { type CallLimit, readBodyReset, readLimit } from "../model-api/call-limit.ts";
import type { ResponseObserver } from "./forward.ts";
import type { Protocol, RequestKind } from "./protocol.ts";
import type { RequestReader } from "./request-reader.ts";
import { createTap, type Tap } from "./tap.ts";
import type { TaskRoute } from "./task-route.ts";
import type { CallUsage } from "./usage-reader.ts";

/** What is known about a call before its response. */
interface ObservedCall {
  kind: RequestKind;
  protocol: Protocol;
  request: RequestReader;
}

/** Observes the response of one call: reports its usage to the task, and notes the limit of a rejected call. */
export function observeResponse({ task, state, taps }: TaskRoute, { kind, protocol, request }: ObservedCall) {
  const startedAt = Date.now();
  const start = performance.now();
  let status: number | null = null;
  let tap: Tap | null = null;
  let onTapEnd = (_: CallUsage): void => {};
  let isReported = false;

  function report({ model, usage: counted, incomplete: isBroken }: CallUsage): void {
    // Of all responses without counts, only those of generations cost something for sure.
    if (isReported || (counted === undefined && kind !== "generation")) return;
    isReported = true;
    const incomplete = isBroken || counted === undefined;
    task.onCall({
      ...(model !== undefined && { model }),
      usage: counted ?? { inputTokens: 0, outputTokens: 0 },
      call: { startedAt, durationMs: performance.now() - start, status, ...(incomplete && { incomplete }) },
      ...(counted === undefined && { partial: true }),
      ...(isBroken && kind === "generation" && { atMost: request.findLargestUsage(counted) }),
    });
  }

  function noteLimit(limit: CallLimit): void {
    state.limit = limit;
    task.onLimit?.(limit);
  }

  /** Reads the body of an error, for the end of the limit. */
  function openLimitTap(limit: CallLimit, encoding: ResponseFormat): void {
    let resetsAt: number | null = null;
    const read = (body: unknown): object => {
      resetsAt = readBodyReset(body, Date.now());
      return {};
    };
    tap = createTap({ ...protocol, read }, encoding, () => {});
    onTapEnd = () => noteLimit({ ...limit, resetsAt });
  }

  async function endTap(isWhole: boolean): Promise<void> {
    if (tap === null) return;
    const ended = tap;
    tap = null;
    onTapEnd(await ended.end(isWhole));
    taps.delete(ended);
  }

  return {
    onStart(responseStatus, headers) {
      status = responseStatus;
      const format = { contentType: textOf(headers["content-type"]), contentEncoding: textOf(headers["content-encoding"]) };
      const limit = readLimit(status, headers, Date.now());
      if (limit !== null && limit.resetsAt === null) openLimitTap(limit, format);
      else if (limit !== null) noteLimit(limit);
      if (kind === "free" || status < 200 || status > 299) return;
      if (kind === "generation") Object.assign(state, { answered: state.answered + 1, limit: null });
      tap = createTap(protocol, format, report);
      onTapEnd = report;
      taps.add(tap);
    },
    onData: (chunk) => tap?.add(chunk),
    onEnd: () => endTap(true),
    /** Call it when the call has ended in any way. */
    close: () => endTap(false),
  } satisfies ResponseObserver & { close(): Promise<void> };
}

interface ResponseFormat {
  contentType: string;
  contentEncoding: string;
}

const textOf = (value: string | string[] | undefined): string => (Array.isArray(value) ? value.join(",") : (value ?? ""));
