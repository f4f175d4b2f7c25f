import { BridgeError } from "../../errors.ts";

const MIB = 1024 ** 2;

/** Enough for two results of the maximum size, or eight request bodies of the default limit. */
export const MAX_BYTES_PER_TENANT = 64 * MIB;
/** Limit of all tenants together: an eighth of the 2 GiB heap of Node on a small machine. */
const MAX_BYTES_IN_TOTAL = 256 * MIB;
/** Smaller amounts are not counted, because the connection itself needs as much. */
export const UNCOUNTED_BYTES = 16 * 1024;
/** How long a request waits for memory. Clients that read their responses free memory within this time. */
const MAX_WAIT_MS = 5_000;

/** The memory that one client occupies. */
export interface Reservation {
  readonly bytes: number;
  /** Adds this number of bytes when memory is available; throws BridgeError `overloaded` after the maximum wait. */
  reserve(bytes: number): Promise<void>;
  /** Sets the reserved bytes to this number, even above the limits. */
  set(bytes: number): void;
  /** Sets the reserved bytes to zero, permanently. */
  release(): void;
}

export type ClientMemory = ReturnType<typeof createClientMemory>;

/** Limits and times, for tests. */
interface ClientMemoryOptions {
  perTenantBytes?: number;
  totalBytes?: number;
  maxWaitMs?: number;
}

interface Waiter {
  tenant: string;
  reservation: Reservation;
  bytes: number;
  admit(): void;
}

/**
 * Creates the limit on the bytes that Bridge keeps in memory for clients, by tenant: incomplete requests and unread
 * responses. A tenant that occupies nothing is always admitted, even if all tenants are over their limit, and with a
 * response of any size.
 */
export function createClientMemory({
  perTenantBytes = MAX_BYTES_PER_TENANT,
  totalBytes = MAX_BYTES_IN_TOTAL,
  maxWaitMs = MAX_WAIT_MS,
}: ClientMemoryOptions = {}) {
  const bytesByTenant = new Map<string, number>();
  const waiters = new Set<Waiter>();
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
    if (difference < 0 && waiters.size > 0) admitWaiters();
  }

  /** Admits waiters in order of arrival. A waiter that needs more memory than is available delays only its own tenant. */
  function admitWaiters(): void {
    const blocked = new Set<string>();
    for (const waiter of waiters) {
      const { tenant, reservation, bytes } = waiter;
      if (blocked.has(tenant)) continue;
      if (hasRoom(tenant, bytes, reservation.bytes)) waiter.admit();
      else blocked.add(tenant);
    }
  }

  function open(tenant: string): Reservation {
    let reserved = 0;
    let isReleased = false;
    let stopWaiting: (() => void) | null = null;
    const reservation: Reservation = {
      get bytes() {
        return reserved;
      },
      async reserve(bytes) {
        if (isReleased) throw createOverloadedError(perTenantBytes);
        const isFirst = ![...waiters].some((waiter) => waiter.tenant === tenant);
        if (!isFirst || !hasRoom(tenant, bytes, reserved)) await wait(bytes);
        else reservation.set(reserved + bytes);
      },
      set(bytes) {
        if (isReleased || bytes === reserved) return;
        const difference = bytes - reserved;
        reserved = bytes;
        add(tenant, difference);
      },
      release() {
        reservation.set(0);
        isReleased = true;
        stopWaiting?.();
      },
    };

    function wait(bytes: number): Promise<void> {
      return new Promise((resolve, reject) => {
        const fail = (): void => {
          leave();
          reject(createOverloadedError(perTenantBytes));
          // Later waiters may need fewer bytes.
          admitWaiters();
        };
        const timer = setTimeout(fail, maxWaitMs);
        const leave = (): void => {
          clearTimeout(timer);
          waiters.delete(waiter);
          stopWaiting = null;
        };
        const waiter: Waiter = {
          tenant,
          reservation,
          bytes,
          admit() {
            leave();
            reservation.set(reserved + bytes);
            resolve();
          },
        };
        waiters.add(waiter);
        stopWaiting = fail;
      });
    }

    return reservation;
  }

  return {
    /** Starts to count the memory of one client. */
    open,
    /** Returns whether the tenant can add no more bytes now. */
    isFull: (tenant: string): boolean => !hasRoom(tenant, 0),
  };
}

const createOverloadedError = (perTenantBytes: number): BridgeError =>
  new BridgeError(
    "overloaded",
    `Unread responses and incomplete requests of this tenant, or of all tenants, occupy too much memory; a tenant may occupy ${perTenantBytes} bytes. Read the open responses, then try again.`,
  );
