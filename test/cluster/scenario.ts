import type { BridgeProgram } from "../crash/bridge-process.ts";
import type { Installation } from "../crash/installation.ts";
import type { Load, Orchestrator, Tenant } from "../crash/orchestrator.ts";
import type { Phase } from "../crash/phase-counter.ts";
import type { Random } from "../crash/random.ts";
import type { PostgresCluster } from "../support/postgres/cluster.ts";
import type { ClusterNode } from "./cluster-node.ts";
import type { Sampler } from "./sampler.ts";

/** The nodes under test, and what a scenario may do to them. */
export interface Cluster {
  readonly nodes: readonly ClusterNode[];
  readonly server: PostgresCluster;
  /** The directory with the source that the nodes run. */
  readonly root: string;
  readonly tenants: readonly Tenant[];
  readonly orchestrator: Orchestrator;
  /** Returns what the runtimes have recorded. */
  readonly readJournals: Installation["readJournals"];
  readonly sampler: Sampler;
  readonly random: Random;
  readonly leaseMs: number;
  /** Origin of the callback receiver. */
  readonly callbackOrigin: string;
  /** Runs a statement directly on the database. */
  query<Row extends object>(text: string, values?: readonly unknown[]): Promise<Row[]>;
  /** Returns how often to repeat a fault: fewer times in a short run, but at least once. */
  times(count: number): number;
  /** Resolves at the n-th next moment of the phase, or after a time limit. */
  reach(phase: Phase, occurrence: number): Promise<void>;
  /** Waits for the condition, and reports a violation if it does not become true in time. */
  expectSoon(what: string, condition: () => boolean | Promise<boolean>, limitMs?: number): Promise<void>;
  onViolation(violation: string): void;
  /** Adds to a figure of the report. */
  count(figure: string, by?: number): void;
}

/** What happens to a cluster under load. */
export interface Scenario {
  readonly name: string;
  /** The number of nodes, if it does not depend on the options. */
  readonly nodes?: number;
  /** The lease of the nodes, if it does not depend on the options. */
  readonly leaseSeconds?: number;
  readonly environment?: Readonly<Record<string, string>>;
  /** More settings of each node. */
  environmentOf?(index: number): Readonly<Record<string, string>>;
  /** The program of each node, if it is not this source. */
  programOf?(index: number): Partial<BridgeProgram>;
  /** The share of the tasks that have to be completed. Default: 60 %. */
  readonly minCompleted?: number;
  /** Lines of level error that the fault explains. Others are violations. */
  readonly expectedErrors?: RegExp;
  /** The load, where it differs from the usual one. */
  readonly load?: Partial<Load>;
  /** Whether dispatches go through a load balancer, which does not know that a node stops. Default: to running nodes at random. */
  readonly usesLoadBalancer?: boolean;
  /** Whether event ids may become unknown, which readers learn by a gap. */
  readonly mayLoseEventIds?: boolean;
  /** Starts the nodes, before the load begins. Default: all at once. */
  start?(cluster: Cluster): Promise<void>;
  /** Happens under load. */
  act(cluster: Cluster): Promise<void>;
}
