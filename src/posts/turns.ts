import type { PostQueue } from "../store/posts/interface.ts";

/** Keeps the order in which queues with due posts are claimed: tenants take turns, and so do the receivers of a tenant. */
export function createTurns() {
  /** Origins that may have due posts, by tenant. Tenants and receivers are in the order of their turn. */
  const turns = new Map<string, Set<string>>();
  /** Tenants that wait for a free slot of an receiver, by receiver. The least recently served is first. */
  const parked = new Map<string, Set<string>>();

  function add({ tenant, receiver }: PostQueue): void {
    const receivers = turns.get(tenant);
    if (receivers === undefined) turns.set(tenant, new Set([receiver]));
    else receivers.add(receiver);
  }

  return {
    add,
    /** Whether it is the turn of a tenant that fulfills the condition. */
    hasTurn(isReady: (tenant: string) => boolean): boolean {
      for (const tenant of turns.keys()) if (isReady(tenant)) return true;
      return false;
    },
    /** Takes one queue of each tenant in turn. Tenants that do not fulfill the condition keep their turns. */
    *take(isReady: (tenant: string) => boolean): Generator<PostQueue, void, undefined> {
      for (const [tenant, receivers] of turns) {
        if (!isReady(tenant)) continue;
        const receiver = receivers.values().next().value as string;
        receivers.delete(receiver);
        // Setting the tenant again moves it to the end, where this loop visits it once more.
        turns.delete(tenant);
        if (receivers.size > 0) turns.set(tenant, receivers);
        yield { tenant, receiver };
      }
    },
    /** The queue waits for a slot of its receiver. It keeps its place if it waits already. */
    park({ tenant, receiver }: PostQueue): void {
      const tenants = parked.get(receiver);
      if (tenants === undefined) parked.set(receiver, new Set([tenant]));
      else tenants.add(tenant);
    },
    /** The queue gets slots of its receiver. */
    unpark({ tenant, receiver }: PostQueue): void {
      const tenants = parked.get(receiver);
      if (tenants?.delete(tenant) === true && tenants.size === 0) parked.delete(receiver);
    },
    /** Whether a queue waits for a slot of the receiver. */
    isAwaited: (receiver: string): boolean => parked.has(receiver),
    /** A slot of the receiver is free: the queues that wait for one get a turn. */
    resume(receiver: string): void {
      for (const tenant of parked.get(receiver) ?? []) add({ tenant, receiver });
    },
  };
}
