import { BridgeError } from "../errors.ts";

const MIB = 1024 ** 2;

/** Enough for two results of the maximum size, or eight request bodies of the default limit. */
export const MAX_BYTES_PER_TENANT = 64 * MIB;
/** Limit of all tenants together: an eighth of the 2 GiB heap of Node on a small machine. */
const MAX_BYTES_IN_TOTAL = 256 * MIB;
/** Smaller amounts are not counted, because the connection itself needs as much. */
export const UNCOUNTED_BYTES = 16 * 1024;
/**
 * Reserved while a page of a list or of events is read and encoded. The store reads about 1 Mi characters at most, which
 * take 2 bytes each in memory, and the encoded text up to 3.
 */
export const PAGE_BYTES = 6 * MIB;
/** How long a request waits for memory. Clients that read their responses free memory within this time. */
const MAX_WAIT_MS = 5_000;

/** The memory that one client occupies. */
export interface Reservation {
  readonly bytes: number;
  /**
   * Adds this number of bytes when memory is available. Throws BridgeError `overloaded` after the maximum wait (default:
   * `MAX_WAIT_MS`), and when the reservation is released. A stream waits without a limit (`Infinity`), after all requests of its tenant.
   */
  reserve(bytes: number, maxWaitMs?: number): Promise<void>;
  /** Sets the reserved bytes to this number, even above the limits. */
  set(bytes: number): void;
  /** Sets the reserved bytes to zero, permanently. */
  release(): void;
}

/** The bytes that all clients occupy, by tenant. */
type MemoryBudget = ReturnType<typeof createBudget>;

export type ClientMemory = MemoryBudget & {
  /**
   * The values of parsed bodies, until their requests are answered. They have separate limits of the same size. A request that waits for
   * memory for its values still occupies its bytes, so with one common limit, requests could wait for each other forever.
   */
  values: MemoryBudget;
};

/** Limits and times, for tests. */
interface ClientMemoryOptions {
  perTenantBytes?: number;
  totalBytes?: number;
  maxWaitMs?: number;
}

interface Waiter {
  reservation: Reservation;
  bytes: number;
  admit(): void;
}

/**
 * Creates the limit on the bytes that Bridge keeps in memory for clients, by tenant: incomplete requests, values of parsed bodies, and
 * unread responses. A tenant that occupies nothing is always admitted, even if all tenants are over their limit, and with a response of any
 * size.
 */
export const createClientMemory = (options: ClientMemoryOptions = {}): ClientMemory => ({
  ...createBudget(options, "Unread responses and incomplete requests", "Read the open responses"),
  values: createBudget(options, "The bodies of unanswered requests", "Wait for the open responses"),
});

function createBudget(
  { perTenantBytes = MAX_BYTES_PER_TENANT, totalBytes = MAX_BYTES_IN_TOTAL, maxWaitMs = MAX_WAIT_MS }: ClientMemoryOptions,
  occupants: string,
  advice: string,
) {
  const createOverloadedError = (): BridgeError =>
    new BridgeError(
      "overloaded",
      `${occupants} of this tenant, or of all tenants, occupy too much memory; a tenant may occupy ${perTenantBytes} bytes. ${advice}, then try again.`,
    );
  const bytesByTenant = new Map<string, number>();
  /** The requests that wait for memory, by tenant, in order of arrival. */
  const waitingRequests = new Map<string, Set<Waiter>>();
  /** The streams that wait for memory until their client disconnects. They come after the requests of their tenant. */
  const waitingStreams = new Map<string, Set<Waiter>>();
  let total = 0;

  function hasRoom(tenant: string, bytes: number, ownBytes = 0): boolean {
    const otherBytes = (bytesByTenant.get(tenant) ?? 0) - ownBytes;
    // A request for zero bytes checks whether any more may be added.
    const wantedBytes = ownBytes + Math.max(bytes, 1);
    return otherBytes === 0 || (otherBytes + wantedBytes <= perTenantBytes && total - ownBytes + wantedBytes <= totalBytes);
  }

  function add(tenant: string, difference: number): void {
    const bytes = (bytesByTenant.get(tenant) ?? 0) + difference;
    if (bytes === 0) bytesByTenant.delete(tenant);
    else bytesByTenant.set(tenant, bytes);
    total += difference;
    if (difference < 0) admitWaiters();
  }

  /** Admits the waiters of each tenant in order. A waiter that needs more memory than is available delays only its own tenant. */
  function admitWaiters(): void {
    for (const queue of [waitingRequests, waitingStreams])
      for (const [tenant, waiters] of queue) {
        if (queue === waitingStreams && waitingRequests.has(tenant)) continue;
        for (const waiter of waiters) {
          if (!hasRoom(tenant, waiter.bytes, waiter.reservation.bytes)) break;
          waiter.admit();
        }
      }
  }

  const tenantMemory: TenantMemory = { hasRoom, add, admitWaiters, createOverloadedError, waitingRequests, waitingStreams, maxWaitMs };
  return {
    /** Starts to count the memory of one client. */
    open: (tenant: string): Reservation => createReservation(tenant, tenantMemory),
    /** Returns whether the tenant can add no more bytes now. */
    isFull: (tenant: string): boolean => !hasRoom(tenant, 0),
  };
}

/** What the reservations of a budget share. */
interface TenantMemory {
  hasRoom(tenant: string, bytes: number, ownBytes: number): boolean;
  add(tenant: string, difference: number): void;
  admitWaiters(): void;
  createOverloadedError(): BridgeError;
  waitingRequests: Map<string, Set<Waiter>>;
  waitingStreams: Map<string, Set<Waiter>>;
  maxWaitMs: number;
}

function createReservation(
  tenant: string,
  { hasRoom, add, admitWaiters, createOverloadedError, waitingRequests, waitingStreams, maxWaitMs }: TenantMemory,
): Reservation {
  let reserved = 0;
  let isReleased = false;
  let stopWaiting: (() => void) | null = null;
  const reservation: Reservation = {
    get bytes() {
      return reserved;
    },
    async reserve(bytes, limitMs = maxWaitMs) {
      if (isReleased) throw createOverloadedError();
      const mustWait = waitingRequests.has(tenant) || (limitMs === Number.POSITIVE_INFINITY && waitingStreams.has(tenant));
      if (mustWait || !hasRoom(tenant, bytes, reserved)) await wait(bytes, limitMs);
      else reservation.set(reserved + bytes);
    },
    set(bytes) {
      if (isReleased || bytes === reserved) return;
      const difference = bytes - reserved;
      reserved = bytes;
      add(tenant, difference);
    },
    release() {
      // First, because the bytes that become free would admit the waiter.
      stopWaiting?.();
      reservation.set(0);
      isReleased = true;
    },
  };

  function wait(bytes: number, limitMs: number): Promise<void> {
    return new Promise((resolve, reject) => {
      const fail = (): void => {
        leave();
        reject(createOverloadedError());
        // Later waiters may need fewer bytes.
        admitWaiters();
      };
      const isStream = limitMs === Number.POSITIVE_INFINITY;
      const queue = isStream ? waitingStreams : waitingRequests;
      const waiters = queue.get(tenant) ?? new Set();
      const timer = isStream ? undefined : setTimeout(fail, limitMs);
      const leave = (): void => {
        clearTimeout(timer);
        waiters.delete(waiter);
        if (waiters.size === 0) queue.delete(tenant);
        stopWaiting = null;
      };
      const waiter: Waiter = {
        reservation,
        bytes,
        admit() {
          leave();
          reservation.set(reserved + bytes);
          resolve();
        },
      };
      queue.set(tenant, waiters.add(waiter));
      stopWaiting = fail;
    });
  }

  return reservation;
}
