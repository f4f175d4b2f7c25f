import type { HeapItem, IndexedHeap } from "./indexed-heap.ts";
import type { Line } from "./line.ts";
import type { TenantLoad } from "./tenant-load.ts";

/** The slots of one adapter and the tasks that wait for one. */
export interface Lane {
  readonly provider: string;
  readonly maxConcurrent: number;
  /** Occupied slots, each from the claim until the runtime has ended. */
  running: number;
  /** Queued tasks that this node may start. */
  startable: number;
  /** Queued tasks that only other nodes may start, when the store was last read. */
  elsewhere: number;
  readonly queued: number;
  /** Start tag of the last claim: the virtual time of start-time fair queueing. */
  turn: number;
  /** The shares from which a task may start. */
  eligible: IndexedHeap<Share>;
}

export interface Tenant extends TenantLoad {
  /** By provider. */
  readonly shares: Map<string, Share>;
}

/** One tenant in one lane. */
export interface Share extends HeapItem {
  readonly lane: Lane;
  readonly tenant: Tenant;
  running: number;
  /**
   * Grows with each start, inversely to the weight. When the share enters the order, its turn is raised to the lane's turn, because time
   * without a queue earns no credit.
   */
  turn: number;
  /** When it entered the order, as a serial number. */
  since: number;
  readonly child: Line;
  readonly dispatched: Line;
}

/** Whether the left share comes before the right one in a lane. */
export function isNext(left: Share, right: Share): boolean {
  const leftLoad = left.running / left.tenant.quota.weight;
  const rightLoad = right.running / right.tenant.quota.weight;
  if (leftLoad !== rightLoad) return leftLoad < rightLoad;
  return left.turn === right.turn ? left.since < right.since : left.turn < right.turn;
}
