import type { StoredEvent } from "../../events/event-feed.ts";
import type { ClientMemory } from "../wire/client-memory.ts";

/** Encoded events in one buffer, which all streams that send the same events share. */
export interface SharedEvents {
  bytes: Buffer;
  count: number;
  /** Counts the buffer as memory of the tenant, once for all streams, until each stream that called this calls `release`. */
  retain(): void;
  release(): void;
}

/** Options of the function that shares events. */
interface ShareOptions {
  encode(events: readonly StoredEvent[]): Buffer;
  clientMemory: ClientMemory;
}

/** Creates the function that encodes the events of one tenant. The same array results in the same object. */
export function createSharing({ encode, clientMemory }: ShareOptions): (events: readonly StoredEvent[]) => SharedEvents {
  const known = new WeakMap<readonly StoredEvent[], SharedEvents>();
  return (events) => {
    const shared = known.get(events) ?? share(events);
    known.set(events, shared);
    return shared;
  };

  function share(events: readonly StoredEvent[]): SharedEvents {
    const bytes = encode(events);
    const reservation = clientMemory.open(events[0]?.task.tenant ?? "");
    let holders = 0;
    return {
      bytes,
      count: events.length,
      retain() {
        holders += 1;
        reservation.set(bytes.length);
      },
      release() {
        holders -= 1;
        if (holders === 0) reservation.set(0);
      },
    };
  }
}
