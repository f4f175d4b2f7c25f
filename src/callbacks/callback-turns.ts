import type { CallbackQueue } from "../store/posts/interface.ts";

/** Keeps the order in which queues with due callbacks are claimed: tenants take turns, and so do the origins of a tenant. */
export function createCallbackTurns() {
  /** Origins that may have due callbacks, by tenant. Tenants and origins are in the order of their turn. */
  const turns = new Map<string, Set<string>>();
  /** Tenants that wait for a free slot of an origin, by origin. The least recently served is first. */
  const parked = new Map<string, Set<string>>();

  function add({ tenant, origin }: CallbackQueue): void {
    const origins = turns.get(tenant);
    if (origins === undefined) turns.set(tenant, new Set([origin]));
    else origins.add(origin);
  }

  return {
    add,
    /** Whether it is the turn of a tenant that fulfills the condition. */
    hasTurn(isReady: (tenant: string) => boolean): boolean {
      for (const tenant of turns.keys()) if (isReady(tenant)) return true;
      return false;
    },
    /** Takes one queue of each tenant in turn. Tenants that do not fulfill the condition keep their turns. */
    *take(isReady: (tenant: string) => boolean): Generator<CallbackQueue, void, undefined> {
      for (const [tenant, origins] of turns) {
        if (!isReady(tenant)) continue;
        const origin = origins.values().next().value as string;
        origins.delete(origin);
        // Setting the tenant again moves it to the end, where this loop visits it once more.
        turns.delete(tenant);
        if (origins.size > 0) turns.set(tenant, origins);
        yield { tenant, origin };
      }
    },
    /** The queue waits for a slot of its origin. It keeps its place if it waits already. */
    park({ tenant, origin }: CallbackQueue): void {
      const tenants = parked.get(origin);
      if (tenants === undefined) parked.set(origin, new Set([tenant]));
      else tenants.add(tenant);
    },
    /** The queue gets slots of its origin. */
    unpark({ tenant, origin }: CallbackQueue): void {
      const tenants = parked.get(origin);
      if (tenants?.delete(tenant) === true && tenants.size === 0) parked.delete(origin);
    },
    /** Whether a queue waits for a slot of the origin. */
    isAwaited: (origin: string): boolean => parked.has(origin),
    /** A slot of the origin is free: the queues that wait for one get a turn. */
    resume(origin: string): void {
      for (const tenant of parked.get(origin) ?? []) add({ tenant, origin });
    },
  };
}
