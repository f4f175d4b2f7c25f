import type { Logger } from "pino";
import { BridgeError } from "../errors.ts";
import type { Metrics } from "../metrics.ts";
import type { ClusterStore, NewNode, NodeReport } from "../store/nodes/interface.ts";
import { createClockSkew } from "./clock-skew.ts";
import { createDatabaseContact, type Moment, readClocks } from "./database-contact.ts";

/** Parts of the lease: renewals per lease, and the share of it after which a node stops its own tasks, before others count it as dead. */
const RENEWALS_PER_LEASE = 12;
const OWN_DEADLINE = 2 / 3;
/** How often a node looks at its clocks, at most. */
const CHECK_MS = 1_000;

/** What a lease calls. */
export interface LeaseEvents {
  /** Called when the database has not answered for so long that this node must stop its tasks, with the reason. */
  onLost(reason: string): void;
  /** Called when the database answers again. */
  onRegained(): void;
  /** Called once when other nodes have declared this node dead. The process must stop its tasks and exit. */
  onExpelled(): void;
}

/** What a lease uses. */
export interface LeaseOptions extends LeaseEvents {
  cluster: Pick<ClusterStore, "renewLease" | "isAnswering">;
  node: Pick<NewNode, "name" | "leaseMs">;
  /** What this node reports with each renewal. */
  report(): Pick<NodeReport, "settingsDigest" | "adapters">;
  metrics: Pick<Metrics, "lease" | "leaseAge" | "clockSkew">;
  logger: Logger;
}

/** Creates the lease of this node, with the deadline at which it stops its own tasks. */
export function createLease({ cluster, node, report, onLost, onRegained, onExpelled, metrics, logger }: LeaseOptions) {
  const { leaseMs } = node;
  const intervalMs = leaseMs / RENEWALS_PER_LEASE;
  const contact = createDatabaseContact(leaseMs);
  const skew = createClockSkew({ metrics, logger });
  metrics.lease.set(leaseMs / 1000);
  let lastAttempt = performance.now();
  let isLost = false;
  let isHeld = false;
  let renewing: Promise<void> | null = null;
  let timer: NodeJS.Timeout | undefined;

  /** Timers that are due run first after a pause of the process, so a node that was stopped for too long stops its tasks first. */
  function check(): void {
    const { silentMs, now, hasJumped } = contact.look();
    if (silentMs >= leaseMs * OWN_DEADLINE) lose(silentMs);
    if (hasJumped || now - lastAttempt >= intervalMs) void renewOnce();
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
      if (isHeld) onFailure(error);
      return;
    }
    if (!isHeld) return;
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
    isHeld = false;
    clearInterval(timer);
  }

  return {
    /** Renews the lease regularly from now on. Resolves after the first renewal. */
    async start(): Promise<void> {
      contact.begin();
      isHeld = true;
      timer = setInterval(check, Math.min(CHECK_MS, intervalMs));
      await renewOnce();
    },
    stop,
    /** Whether it was started and neither stopped nor lost to other nodes. */
    isHeld: (): boolean => isHeld,
    /** Resolves when no renewal is under way. */
    waitForRenewal: async (): Promise<void> => void (await renewing),
    /** Whether this node has reached the database for a whole lease without a break, so that others had the same opportunity. */
    isInTouch: (): boolean => isHeld && !isLost && contact.isUnbroken(),
    /** Throws `storage_unavailable` if the database does not answer reads, or the last renewal was long ago. */
    async checkInTouch(): Promise<void> {
      if (!isHeld || !cluster.isAnswering() || performance.now() - contact.last().monotonic >= leaseMs / 2)
        throw new BridgeError("storage_unavailable", "Bridge has lost contact to its database.");
    },
  };
}
