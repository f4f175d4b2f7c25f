import type { AdapterCapabilities, ExecutionAdapter } from "#contract";
import type { ClusterNode, ClusterView, NodeAdapter } from "../cluster/cluster-view.ts";
import { findMissingTag, tagsOf } from "../cluster/node-tags.ts";
import type { AdapterRegistry } from "./adapter-registry.ts";

/** Finds the adapters of this node and of the nodes that share its database, and those of them that can run tasks. */
export type AvailableAdapters = ReturnType<typeof createAvailableAdapters>;

/** What a task needs to run. */
export interface RunnerQuery {
  provider: string;
  /** Tags that the node must have. */
  needs: readonly string[];
  /** The id of the node on which the agent lives; null if it may start on any node. */
  place: string | null;
}

/** Where a task can run. */
export interface Runner {
  /** The adapter in this process, which can check inputs; null if it is not online here. */
  adapter: ExecutionAdapter | null;
  capabilities: AdapterCapabilities;
  /** Whether the agent has its files on this node, or may get them here. */
  isHere: boolean;
  /** False if the task waits for the return of the node on which its agent lives. */
  isAlive: boolean;
}

/** Why no node can run a task: its agent's node is not running, a tag is missing, the adapter is not online, or it has no slots. */
export interface Obstacle {
  kind: "node" | "tag" | "adapter" | "slots";
  text: string;
  /** The tag that the node of the agent lacks. The request is at fault then, because the agent does not move. */
  tagMissingAtPlace?: string;
}

export type RunnerSearch = { runner: Runner; obstacle: null } | { runner: null; obstacle: Obstacle };

/** A node on which tasks may start. */
interface Host {
  id: string;
  name: string;
  tags: readonly string[];
  /** The capabilities of the adapter; null if it is offline, undefined if the node does not have it. */
  capabilitiesOf(provider: string): AdapterCapabilities | null | undefined;
  /** Whether it may run tasks of the adapter: its BRIDGE_MAX_CONCURRENT is not 0. */
  hasSlots(provider: string): boolean;
}

/** Creates the lookups of adapters: those of this process, which may run tasks if it `hasSlots`, and those of the nodes in the view. */
export function createAvailableAdapters(
  registry: Pick<AdapterRegistry, "get" | "list">,
  view: ClusterView,
  hasSlots: (provider: string) => boolean = () => true,
) {
  const { self } = view;

  /** Returns the adapter of this process; null if it is not configured, could not be loaded, or is offline. */
  function findOnline(provider: string): ExecutionAdapter | null {
    const entry = registry.get(provider);
    return entry === undefined || entry.health.status === "offline" ? null : entry.adapter;
  }

  const listOthers = (): ClusterNode[] => view.nodes().filter(({ id }) => id !== self.id);

  const own: Host = {
    id: self.id,
    name: self.name,
    tags: tagsOf(self),
    capabilitiesOf: (provider) => (registry.get(provider) === undefined ? undefined : (findOnline(provider)?.capabilities() ?? null)),
    hasSlots,
  };

  /** This node, and the others that are alive. */
  const listHosts = (): Host[] => [
    own,
    ...listOthers()
      .filter(({ isAlive }) => isAlive)
      .map(toHost),
  ];

  const isLoaded = (provider: string): boolean =>
    registry.get(provider) !== undefined || listOthers().some((node) => findAdapter(node, provider) !== undefined);

  /** The names of this process's adapters in their configured order, and then those that only other nodes have. */
  function listNames(): string[] {
    const others = listOthers().flatMap(({ adapters }) => adapters.map(({ provider }) => provider));
    return [...new Set([...registry.list().map(({ provider }) => provider), ...others.toSorted()])];
  }

  /** Returns the message for clients about an adapter that is not online anywhere. */
  const describeOffline = (provider: string): string =>
    isLoaded(provider) ? describeOfflineAdapter(provider) : `The adapter ${provider} is not loaded. Add it to BRIDGE_ADAPTERS.`;

  const findRunner = createRunnerSearch({ view, own, findOnline, isLoaded, listOthers, listHosts, describeOffline });

  return {
    /** Whether the adapter is configured on this or another node, even if it is offline or could not be loaded. */
    isLoaded,
    listNames,
    findOnline,
    /** The capabilities of each adapter that is online on a live node. */
    listCapabilities(): { provider: string; capabilities: AdapterCapabilities }[] {
      const hosts = listHosts();
      return listNames().flatMap((provider) => {
        const capabilities = hosts.map((host) => host.capabilitiesOf(provider)).find((found) => found !== undefined && found !== null);
        return capabilities === undefined || capabilities === null ? [] : [{ provider, capabilities }];
      });
    },
    /** Finds out whether a live node can run a task, or why none can. */
    findRunner,
    /** The names of the live nodes that have the adapter, this one first. */
    listNodesWith: (provider: string): string[] =>
      listHosts().flatMap(({ name, capabilitiesOf }) => (capabilitiesOf(provider) === undefined ? [] : [name])),
    /** The adapters that only other live nodes have, sorted by name. */
    listForeign(): ForeignAdapter[] {
      const found = new Map<string, NodeAdapter[]>();
      for (const node of listOthers().filter(({ isAlive }) => isAlive))
        for (const adapter of node.adapters)
          if (registry.get(adapter.provider) === undefined) found.set(adapter.provider, [...(found.get(adapter.provider) ?? []), adapter]);
      return [...found].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, adapters]) => combine(adapters as [NodeAdapter]));
    },
    describeOffline,
  };
}

/** What the search for a runner reads. */
interface RunnerSearchOptions {
  view: ClusterView;
  own: Host;
  findOnline(provider: string): ExecutionAdapter | null;
  isLoaded(provider: string): boolean;
  listOthers(): ClusterNode[];
  listHosts(): Host[];
  describeOffline(provider: string): string;
}

/** Creates the function that finds out whether a live node can run a task, or why none can. */
function createRunnerSearch({ view, own, findOnline, isLoaded, listOthers, listHosts, describeOffline }: RunnerSearchOptions) {
  const { self } = view;

  function findRunner({ provider, needs, place }: RunnerQuery): RunnerSearch {
    // Without other nodes, this is the only case in which a task can run.
    const isOwn = (place === null || place === self.id) && findMissingTag(needs, own.tags) === undefined;
    if (isOwn && own.hasSlots(provider) && findOnline(provider) !== null) return toRunner(own, provider);
    const home = place === null ? null : findHome(place);
    if (home !== null) return findRunnerAt(home, { provider, needs });
    const hosts = listHosts().filter((host) => isOnline(host, provider));
    const online = hosts.filter((host) => host.hasSlots(provider));
    const host = online.find(({ tags }) => findMissingTag(needs, tags) === undefined);
    if (host !== undefined) return toRunner(host, provider);
    if (hosts.length === 0) return blocked({ kind: "adapter", text: describeOffline(provider) });
    if (online.length === 0) return blocked({ kind: "slots", text: `BRIDGE_MAX_CONCURRENT of ${provider} is 0 on all live nodes.` });
    return blocked({ kind: "tag", text: `No live node with the adapter ${provider} has ${describeMissingTags(needs, online)}.` });
  }

  /** Null if the agent may move: its node was forgotten, or has died and did not keep the files for itself. */
  function findHome(place: string): { host: Host; node: ClusterNode | null } | null {
    if (place === self.id) return { host: own, node: null };
    const node = listOthers().find(({ id }) => id === place);
    return node === undefined || (!node.isAlive && node.files !== "local") ? null : { host: toHost(node), node };
  }

  function findRunnerAt(
    { host, node }: { host: Host; node: ClusterNode | null },
    { provider, needs }: Omit<RunnerQuery, "place">,
  ): RunnerSearch {
    const lives = `The agent lives on the node ${host.name}, which`;
    const tag = findMissingTag(needs, host.tags);
    if (tag !== undefined) return blocked({ kind: "tag", text: `${lives} lacks the tag ${tag}.`, tagMissingAtPlace: tag });
    if (node !== null && view.isGivenUp(node)) return blocked({ kind: "node", text: `${lives} is not running. ${howToReturn(host.name)}` });
    if (isOnline(host, provider)) {
      if (host.hasSlots(provider)) return toRunner(host, provider, node?.isAlive ?? true);
      return blocked({ kind: "slots", text: `${lives} runs no tasks of ${provider}, because its BRIDGE_MAX_CONCURRENT is 0.` });
    }
    const isAbsent = host.capabilitiesOf(provider) === undefined;
    if (host === own && (!isAbsent || !isLoaded(provider))) return blocked({ kind: "adapter", text: describeOffline(provider) });
    const text = isAbsent ? "does not have the adapter" : "reports an offline adapter";
    return blocked({ kind: "adapter", text: `${lives} ${text} ${provider}.` });
  }

  function toRunner(host: Host, provider: string, isAlive = true): RunnerSearch {
    const adapter = findOnline(provider);
    const capabilities = adapter?.capabilities() ?? (host.capabilitiesOf(provider) as AdapterCapabilities);
    return { runner: { adapter, capabilities, isHere: host === own || self.files === "shared", isAlive }, obstacle: null };
  }

  return findRunner;
}

/** An adapter that this process has not loaded: the best health of its nodes, and the sum of their loads. */
export interface ForeignAdapter extends NodeAdapter {}

const healthOrder: readonly NodeAdapter["health"][] = ["healthy", "degraded", "offline"];

function combine([first, ...others]: readonly [NodeAdapter, ...NodeAdapter[]]): ForeignAdapter {
  return others.reduce((sum, adapter) => {
    const best = healthOrder.indexOf(adapter.health) < healthOrder.indexOf(sum.health) ? adapter : sum;
    return { ...best, running: sum.running + adapter.running, maxConcurrent: sum.maxConcurrent + adapter.maxConcurrent };
  }, first);
}

const blocked = (obstacle: Obstacle): RunnerSearch => ({ runner: null, obstacle });

/** Returns the tag that no host has, or all tags if no host has them together. */
function describeMissingTags(needs: readonly string[], hosts: readonly Host[]): string {
  const absent = findMissingTag(
    needs,
    hosts.flatMap(({ tags }) => tags),
  );
  return absent === undefined ? `all of the tags ${needs.join(", ")}` : `the tag ${absent}`;
}

const findAdapter = ({ adapters }: ClusterNode, provider: string): NodeAdapter | undefined =>
  adapters.find((adapter) => adapter.provider === provider);

const toHost = (node: ClusterNode): Host => ({
  id: node.id,
  name: node.name,
  tags: tagsOf(node),
  capabilitiesOf(provider) {
    const adapter = findAdapter(node, provider);
    return adapter === undefined ? undefined : adapter.health === "offline" ? null : adapter.capabilities;
  },
  hasSlots: (provider) => (findAdapter(node, provider)?.maxConcurrent ?? 0) > 0,
});

const isOnline = (host: Host, provider: string): boolean => {
  const capabilities = host.capabilitiesOf(provider);
  return capabilities !== undefined && capabilities !== null;
};

const howToReturn = (name: string): string =>
  `Start it again, or forget it with DELETE /api/v2/nodes/${name}: its agents then begin anew on other nodes.`;

/** Returns the message for clients. Only GET /api/v2/adapters reports the reason, for operators, because it may contain paths. */
export const describeOfflineAdapter = (provider: string): string =>
  `The adapter ${provider} is offline. GET /api/v2/adapters reports the reason.`;
