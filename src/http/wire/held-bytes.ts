import { BridgeError } from "../../errors.ts";

const MIB = 1024 ** 2;

/** Enough for two results of the largest size, or eight request bodies of the default limit. */
export const MAX_HELD_PER_TENANT_BYTES = 64 * MIB;
/** Limit of all tenants together: an eighth of the 2 GiB heap of Node on a small machine. */
const MAX_HELD_BYTES = 256 * MIB;
/** Smaller amounts are not counted, because the connection itself needs as much. */
export const UNCOUNTED_BYTES = 16 * 1024;
/** How long a request waits for room. Clients that read their answers free memory within this time. */
const PATIENCE_MS = 5_000;

/** The memory that one client occupies. */
export interface Hold {
  readonly bytes: number;
  /** Adds this number of bytes as soon as there is room; throws `overloaded` when there is none in time. */
  reserve(bytes: number): Promise<void>;
  /** Sets the total to this number of bytes, even if there is no room. */
  set(bytes: number): void;
  /** Sets the total to zero, permanently. */
  release(): void;
}

/** Counts the bytes that Bridge keeps in memory for clients, by tenant: incomplete requests and unread answers. */
export interface HeldBytes {
  open(tenant: string): Hold;
  isFull(tenant: string): boolean;
}

/** Limits and times, for tests. */
interface HeldBytesOptions {
  perTenantBytes?: number;
  inAllBytes?: number;
  patienceMs?: number;
}

interface Waiter {
  tenant: string;
  hold: Hold;
  bytes: number;
  admit(): void;
}

/**
 * Creates the count. A tenant that occupies nothing is always admitted, even if all tenants are over their limit, and with an answer of any size.
 */
export function createHeldBytes({
  perTenantBytes = MAX_HELD_PER_TENANT_BYTES,
  inAllBytes = MAX_HELD_BYTES,
  patienceMs = PATIENCE_MS,
}: HeldBytesOptions = {}): HeldBytes {
  const heldByTenant = new Map<string, number>();
  const waiters = new Set<Waiter>();
  let inAll = 0;

  function hasRoom(tenant: string, bytes: number, ownBytes = 0): boolean {
    const others = (heldByTenant.get(tenant) ?? 0) - ownBytes;
    // Zero bytes need room as well: the call checks whether more may be added.
    const more = ownBytes + Math.max(bytes, 1);
    return others === 0 || (others + more <= perTenantBytes && inAll - ownBytes + more <= inAllBytes);
  }

  function add(tenant: string, difference: number): void {
    const held = (heldByTenant.get(tenant) ?? 0) + difference;
    if (held === 0) heldByTenant.delete(tenant);
    else heldByTenant.set(tenant, held);
    inAll += difference;
    if (difference < 0 && waiters.size > 0) admitWaiters();
  }

  /** In order of arrival. A request that needs more room than there is delays only its own tenant. */
  function admitWaiters(): void {
    const blocked = new Set<string>();
    for (const waiter of waiters) {
      const { tenant, hold, bytes } = waiter;
      if (blocked.has(tenant)) continue;
      if (hasRoom(tenant, bytes, hold.bytes)) waiter.admit();
      else blocked.add(tenant);
    }
  }

  function open(tenant: string): Hold {
    let held = 0;
    let isReleased = false;
    let waiting: { end(): void } | null = null;
    const hold: Hold = {
      get bytes() {
        return held;
      },
      async reserve(bytes) {
        if (isReleased) throw refusal(perTenantBytes);
        const isFirst = ![...waiters].some((waiter) => waiter.tenant === tenant);
        if (!isFirst || !hasRoom(tenant, bytes, held)) await wait(bytes);
        else hold.set(held + bytes);
      },
      set(bytes) {
        if (isReleased || bytes === held) return;
        const difference = bytes - held;
        held = bytes;
        add(tenant, difference);
      },
      release() {
        hold.set(0);
        isReleased = true;
        waiting?.end();
      },
    };

    function wait(bytes: number): Promise<void> {
      return new Promise((resolve, reject) => {
        const giveUp = (): void => {
          leave();
          reject(refusal(perTenantBytes));
          // Those behind may need less.
          admitWaiters();
        };
        const timer = setTimeout(giveUp, patienceMs);
        const leave = (): void => {
          clearTimeout(timer);
          waiters.delete(waiter);
          waiting = null;
        };
        const waiter: Waiter = {
          tenant,
          hold,
          bytes,
          admit() {
            leave();
            hold.set(held + bytes);
            resolve();
          },
        };
        waiters.add(waiter);
        waiting = { end: giveUp };
      });
    }

    return hold;
  }

  return { open, isFull: (tenant) => !hasRoom(tenant, 0) };
}

const refusal = (perTenantBytes: number): BridgeError =>
  new BridgeError(
    "overloaded",
    `Unread answers and incomplete requests of this tenant, or of all tenants, occupy too much memory; a tenant may occupy ${perTenantBytes} bytes. Read the open answers, then try again.`,
  );
