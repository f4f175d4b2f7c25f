import type { ClientMemory } from "../../access/client-memory.ts";
import type { StoredEvent } from "../../events/event-feed.ts";

/**
 * Maximum bytes of one tenant that wait in buffers of several events. Streams with different filters have such buffers with the same events
 * in each, so further events are encoded one by one, and then all streams share the buffer of each event.
 */
const MAX_JOINED_BYTES = 8 * 1024 * 1024;

/** Encoded events, which all streams that send the same events share. */
export interface SharedEvents {
  /** The buffers to send, in order. */
  buffers: readonly Buffer[];
  /** Length of all buffers. */
  bytes: number;
  /** Number of events. */
  count: number;
  /** Counts the buffers as memory of the tenant, each once for all streams, until each stream that called this calls `release`. */
  retain(): void;
  release(): void;
}

/** A buffer, and the number of streams that send it. */
interface HeldBuffer {
  buffer: Buffer;
  retain(): void;
  release(): void;
}

/** Options of the function that shares events. */
interface ShareOptions {
  encode(events: readonly StoredEvent[]): Buffer;
  clientMemory: ClientMemory;
  /** Default: `MAX_JOINED_BYTES`. */
  maxJoinedBytes?: number;
}

/** Creates the function that encodes the events of one tenant. The same array results in the same object. */
export function createSharing({ encode, clientMemory, maxJoinedBytes = MAX_JOINED_BYTES }: ShareOptions) {
  const known = new WeakMap<readonly StoredEvent[], SharedEvents>();
  const single = new WeakMap<StoredEvent, HeldBuffer>();
  /** Bytes that wait in buffers of several events, by tenant. */
  const joinedBytes = new Map<string, number>();

  function join(events: readonly StoredEvent[], tenant: string): HeldBuffer {
    return hold(encode(events), tenant, (difference) => {
      const bytes = (joinedBytes.get(tenant) ?? 0) + difference;
      if (bytes === 0) joinedBytes.delete(tenant);
      else joinedBytes.set(tenant, bytes);
    });
  }

  function encodeOne(event: StoredEvent, tenant: string): HeldBuffer {
    const encoded = single.get(event) ?? hold(encode([event]), tenant);
    single.set(event, encoded);
    return encoded;
  }

  /** Counts a buffer as memory of the tenant while streams send it. */
  function hold(buffer: Buffer, tenant: string, onChange: (difference: number) => void = () => {}): HeldBuffer {
    const reservation = clientMemory.open(tenant);
    let holders = 0;
    const setBytes = (bytes: number): void => {
      onChange(bytes - reservation.bytes);
      reservation.set(bytes);
    };
    return {
      buffer,
      retain() {
        holders += 1;
        if (holders === 1) setBytes(buffer.length);
      },
      release() {
        holders -= 1;
        if (holders === 0) setBytes(0);
      },
    };
  }

  function share(events: readonly StoredEvent[]): SharedEvents {
    const tenant = events[0]?.task.tenant ?? "";
    const mayJoin = (joinedBytes.get(tenant) ?? 0) < maxJoinedBytes;
    const held = mayJoin ? [join(events, tenant)] : events.map((event) => encodeOne(event, tenant));
    return {
      buffers: held.map(({ buffer }) => buffer),
      bytes: held.reduce((sum, { buffer }) => sum + buffer.length, 0),
      count: events.length,
      retain() {
        for (const one of held) one.retain();
      },
      release() {
        for (const one of held) one.release();
      },
    };
  }

  return (events: readonly StoredEvent[]): SharedEvents => {
    const shared = known.get(events) ?? share(events);
    known.set(events, shared);
    return shared;
  };
}
