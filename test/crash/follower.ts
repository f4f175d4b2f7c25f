import { createParser } from "eventsource-parser";
import type { EventEnvelope } from "#contract";
import type { Tenant } from "./orchestrator.ts";

/** Follows all events of one tenant across restarts. */
export interface Follower {
  readonly tenant: string;
  /** All events in the order of arrival. */
  readonly events: readonly EventEnvelope[];
  /** How often the stream has begun again. */
  readonly gaps: number;
  /** The number of reconnects. */
  readonly resumptions: number;
  /** Reads until Bridge exits or the signal is aborted. `connected` resolves when the stream is open, or when Bridge exits before. */
  follow(address: string, signal?: AbortSignal): { connected: Promise<void>; ended: Promise<void> };
}

/** Creates a follower without events. */
export function createFollower({
  tenant: { tenant, token },
  mayRefuse = () => false,
  mayLoseIds = false,
  onEvent,
  onViolation,
}: {
  tenant: Tenant;
  /** Whether Bridge may answer the request for a stream with this status, so that the follower asks again. */
  mayRefuse?(status: number): boolean;
  /** Whether event ids may become unknown, so that the stream begins again with the oldest event. */
  mayLoseIds?: boolean;
  onEvent(event: EventEnvelope): void;
  onViolation(violation: string): void;
}): Follower {
  const events: EventEnvelope[] = [];
  let resumptions = 0;
  let gaps = 0;
  /** The id before the last gap, for a reader that disconnects before the first event after it. */
  let lostId: string | undefined;

  async function open(address: string, signal: AbortSignal | undefined): Promise<Response | null> {
    const lastId = events.at(-1)?.id ?? lostId;
    if (lastId !== undefined) resumptions += 1;
    const headers = {
      authorization: `Bearer ${token}`,
      accept: "text/event-stream",
      ...(lastId !== undefined && { "last-event-id": lastId }),
    };
    const response = await fetch(`${address}/api/events`, { headers, ...(signal !== undefined && { signal }) }).catch(() => null);
    if (response !== null && response.status !== 200 && !mayRefuse(response.status))
      onViolation(`events: the stream of ${tenant} was answered ${response.status}`);
    return response;
  }

  async function read(response: Response | null): Promise<void> {
    if (response?.status !== 200 || response.body === null) return;
    const parser = createParser({ onEvent: ({ event, data }) => take(event, data) });
    try {
      for await (const text of response.body.pipeThrough(new TextDecoderStream())) parser.feed(text);
    } catch {
      // The kill or the signal interrupted the stream. The next stream continues after the last complete event.
    }
  }

  function take(type: string | undefined, data: string): void {
    if (type === "stream.gap") onGap(data);
    if (type === undefined || type.startsWith("stream.")) return;
    const event = JSON.parse(data) as EventEnvelope;
    events.push(event);
    onEvent(event);
  }

  function onGap(data: string): void {
    gaps += 1;
    lostId = events.at(-1)?.id ?? lostId;
    events.length = 0;
    if (!mayLoseIds) onViolation(`durability: the stream of ${tenant} has a gap: ${data}`);
  }

  return {
    tenant,
    events,
    get gaps() {
      return gaps;
    },
    get resumptions() {
      return resumptions;
    },
    follow(address, signal) {
      const opening = open(address, signal);
      return { connected: opening.then(() => {}), ended: opening.then(read) };
    },
  };
}

/** Returns the number in an event's id. */
export const eventNumber = (event: EventEnvelope): number => Number(event.id.slice(event.id.indexOf("-") + 1));
