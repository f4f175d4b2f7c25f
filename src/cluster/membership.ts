import type { Logger } from "pino";
import { BridgeError } from "../errors.ts";
import type { Metrics } from "../metrics.ts";
import type { ClusterStore, NewNode, NodeReport } from "../store/nodes/interface.ts";
import { createClockSkew } from "./clock-skew.ts";
import { createDatabaseContact, type Moment, readClocks } from "./database-contact.ts";
import { createReaper } from "./reaper.ts";

/** Parts of the lease: renewals per lease, and the share of it after which a node stops its own tasks, before others count it as dead. */
const RENEWALS_PER_LEASE = 12;
const OWN_DEADLINE = 2 / 3;
/** How often a node looks at its clocks, at most. */
const CHECK_MS = 1_000;
/** A change of the system clock relative to the monotonic clock that is noticed. A suspended machine causes one. */
const JUMP_MS = 1_000;

/** The part of the store that a membership uses. */
export type MemberStore = Pick<
  ClusterStore,
  "join" | "renewLease" | "isAnswering" | "startDraining" | "leave" | "listNodes" | "takeExpiredNode" | "releaseNode" | "forgetUnusedNodes"
>;

/** What a membership uses, and what it calls. */
export interface MembershipOptions {
  cluster: MemberStore;
  node: NewNode;
  /** What this node reports with each renewal. */
  report(): Pick<NodeReport, "settingsDigest" | "adapters">;
  /** Called when the database has not answered for so long that this node must stop its tasks, with the reason. */
  onLost(reason: string): void;
  /** Called when the database answers again. */
  onRegained(): void;
  /** Called once when other nodes have declared this node dead. The process must stop its tasks and exit. */
  onExpelled(): void;
  /** Ends the tasks that a dead node has left running. Returns their number. */
  endTasksOf(node: { id: string; name: string }): Promise<number>;
  metrics: Pick<Metrics, "nodes" | "lease" | "leaseAge" | "clockSkew">;
  logger: Logger;
}

/** A node among the nodes on one database. */
export interface Membership {
  /** Joins the cluster, and renews the lease from then on. Throws StartError. */
  join(signal: AbortSignal): Promise<void>;
  /** Marks this node as draining. Never rejects. */
  startDraining(): Promise<void>;
  /** Ends the membership, so that the other nodes do not wait for the end of the lease. Never rejects. */
  leave(): Promise<void>;
  /** Throws `storage_unavailable` if the database does not answer reads, or the last renewal of the lease was long ago. */
  checkInTouch(): Promise<void>;
}

/** Creates the membership of this node: its lease, its own deadline, and its part in ending the tasks of dead nodes. */
export function createMembership(options: MembershipOptions): Membership {
  const { cluster, node, report, onLost, onRegained, onExpelled, metrics, logger } = options;
  const { leaseMs } = node;
  const intervalMs = leaseMs / RENEWALS_PER_LEASE;
  const contact = createDatabaseContact(leaseMs);
  const skew = createClockSkew({ metrics, logger });
  metrics.lease.set(leaseMs / 1000);
  /** The last check, to notice jumps of the system clock. */
  let checked = readClocks();
  let lastAttempt = checked.monotonic;
  let isLost = false;
  let isMember = false;
  let renewing: Promise<void> | null = null;
  let timer: NodeJS.Timeout | undefined;
  const reaper = createReaper({ ...options, isInTouch, intervalMs: Math.min(5_000, leaseMs / 6) });

  /** Timers that are due run first after a pause of the process, so a node that was stopped for too long stops its tasks first. */
  function check(): void {
    const now = readClocks();
    const jumpMs = now.wall - checked.wall - (now.monotonic - checked.monotonic);
    checked = now;
    if (jumpMs > JUMP_MS) contact.noteSuspension();
    const silentMs = now.monotonic - contact.last().monotonic;
    if (silentMs >= leaseMs * OWN_DEADLINE) lose(silentMs);
    if (Math.abs(jumpMs) > JUMP_MS || now.monotonic - lastAttempt >= intervalMs) void renewOnce();
    metrics.leaseAge.set(silentMs / 1000);
  }

  /** Renews the lease, unless a renewal is under way. */
  function renewOnce(): Promise<void> {
    renewing ??= renew().finally(() => {
      renewing = null;
    });
    return renewing;
  }

  async function renew(): Promise<void> {
    const sent = readClocks();
    lastAttempt = sent.monotonic;
    let answer: number | null;
    try {
      answer = await cluster.renewLease({ leaseMs, skewMs: skew.ms(), ...report() });
    } catch (error) {
      if (isMember) onFailure(error);
      return;
    }
    if (!isMember) return;
    if (answer === null) expel();
    else confirm(sent, answer);
  }

  function onFailure(error: unknown): void {
    logger.debug({ err: error }, "failed to renew the lease");
    contact.break();
    const silentMs = contact.silentWithSuspensionMs();
    if (silentMs >= leaseMs * OWN_DEADLINE) lose(silentMs);
  }

  function confirm(sent: Moment, answer: number): void {
    contact.confirm(sent, answer);
    skew.track((sent.wall + Date.now()) / 2 - answer);
    if (!isLost) return;
    isLost = false;
    logger.info("the database answers again; this node starts tasks");
    onRegained();
  }

  function lose(silentMs: number): void {
    if (isLost) return;
    isLost = true;
    const seconds = Math.round(silentMs / 1000);
    logger.error({ seconds }, "the database did not answer for most of the lease; stopping all tasks of this node");
    onLost(`The node lost its database for ${seconds} s.`);
  }

  function expel(): void {
    stop();
    logger.error({ node: node.name }, "other nodes declared this node dead, because its lease was over");
    onExpelled();
  }

  function stop(): void {
    isMember = false;
    clearInterval(timer);
  }

  /** Whether this node has reached the database for a whole lease without a break, so that others had the same opportunity. */
  function isInTouch(): boolean {
    return isMember && !isLost && contact.isUnbroken();
  }

  return {
    async join(signal) {
      const onWait = (): void =>
        logger.warn({ node: node.name }, "waiting for the end of the lease of another process with this node's id or name");
      await cluster.join(node, { signal, onWait });
      contact.begin();
      checked = contact.last();
      isMember = true;
      timer = setInterval(check, Math.min(CHECK_MS, intervalMs));
      await renewOnce();
      reaper.start();
    },
    async startDraining() {
      await cluster.startDraining().catch((error: unknown) => logger.warn({ err: error }, "failed to mark this node as draining"));
    },
    async leave() {
      const wasMember = isMember;
      stop();
      await reaper.close();
      await renewing;
      if (wasMember) await cluster.leave().catch((error: unknown) => logger.warn({ err: error }, "failed to leave the cluster"));
    },
    async checkInTouch() {
      if (!isMember || !cluster.isAnswering() || performance.now() - contact.last().monotonic >= leaseMs / 2)
        throw new BridgeError("storage_unavailable", "Bridge has lost contact to its database.");
    },
  };
}
