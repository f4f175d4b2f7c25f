import type { FastifyRequest } from "fastify";
import type { ClusterNode, ClusterStore } from "../../store/nodes/interface.ts";
import type { Store } from "../../store/store.ts";
import type { ForwardingView, Locate } from "./forward-request.ts";

const readParam = ({ params }: FastifyRequest, name: string): string | undefined => (params as Record<string, string | undefined>)[name];

/** Reads a query parameter. The query has not been validated yet. */
function readQuery({ query }: FastifyRequest, name: string): string | undefined {
  const value = (query as Record<string, unknown>)[name];
  return typeof value === "string" ? value : undefined;
}

/** Whether this node sees the files of another one. The shared files of a node remain after it was forgotten. */
function seesFilesOf(view: ForwardingView, id: string): boolean {
  const node = view.nodes().find((known) => known.id === id);
  return view.self.files === "shared" && (node === undefined || node.files === "shared");
}

/** Locates the files of a task: on the node that ran it. */
export const locateTaskFiles =
  (view: ForwardingView, store: Pick<Store, "findTaskProgress">): Locate =>
  async (request) => {
    const task = await store.findTaskProgress(request.principal.tenant, readParam(request, "taskId") ?? "");
    return task === null || task.node === null || seesFilesOf(view, task.node) ? null : task.node;
  };

/** Locates the workspace of the agent that the path or the query names: on the node where the agent lives. */
export const locateWorkspace =
  (view: ForwardingView, cluster: Pick<ClusterStore, "findPlace" | "placeAgent">): Locate =>
  async (request) => {
    const agentId = readParam(request, "agentId") ?? readQuery(request, "workspace");
    if (agentId === undefined) return null;
    const { tenant } = request.principal;
    const isWrite = request.method === "PUT";
    const place =
      (await cluster.findPlace(tenant, agentId)) ?? (isWrite ? await cluster.placeAgent(tenant, agentId, chooseHome(view)) : null);
    return place === null || seesFilesOf(view, place) ? null : place;
  };

/**
 * A file that is written before the first task of an agent gives the agent its place, because its tasks need the file: on this node, if it
 * runs tasks, or else on the first node that does.
 */
function chooseHome({ self, nodes }: ForwardingView): string {
  const runsTasks = ({ state, isAlive, adapters }: ClusterNode): boolean =>
    isAlive && state === "live" && adapters.some(({ maxConcurrent }) => maxConcurrent > 0);
  const able = nodes().filter(runsTasks);
  return able.some(({ id }) => id === self.id) ? self.id : (able[0]?.id ?? self.id);
}

/** Locates the runtime of a provider: behind the first node by name that has the adapter, so that writes through all nodes take turns. */
export const locateRuntime =
  (view: ForwardingView): Locate =>
  (request) => {
    const provider = readParam(request, "provider");
    const withAdapter = view
      .nodes()
      .filter(({ isAlive }) => isAlive)
      .flatMap((node) => node.adapters.filter((adapter) => adapter.provider === provider).map((adapter) => ({ node, adapter })));
    const best = withAdapter.toSorted((a, b) => rank(a) - rank(b) || (a.node.name < b.node.name ? -1 : 1))[0];
    return best?.node.id ?? null;
  };

/** A node that stops refuses changes, and an adapter that is offline cannot answer. */
const rank = ({ node, adapter }: { node: ClusterNode; adapter: ClusterNode["adapters"][number] }): number =>
  (adapter.health === "offline" ? 2 : 0) + (node.state === "live" ? 0 : 1);
