import type { AdapterCapabilities, ExecutionAdapter } from "#contract";
import type { NodeDescription } from "../cluster/cluster.ts";
import type { Config } from "../config/config.ts";
import type { Dispatcher } from "../dispatch/dispatcher.ts";
import type { AdapterRegistry } from "../registry/adapter-registry.ts";
import type { NodeAdapter } from "../store/nodes/interface.ts";

/** Describes this node as it registers itself among the nodes of its database. */
export function describeNode({ node }: Pick<Config, "node">, version: string): NodeDescription {
  const { name, url, tags, files, leaseSeconds } = node;
  return { name, url, version, tags, files, leaseMs: leaseSeconds * 1000 };
}

/** Describes the adapters of this node as it reports them to the other nodes. */
export function describeAdapters(registry: AdapterRegistry, dispatcher: Pick<Dispatcher, "load">): NodeAdapter[] {
  return registry.list().map(({ provider, adapter, health }) => {
    const { running, maxConcurrent } = dispatcher.load(provider);
    return {
      provider,
      health: health.status,
      capabilities: readCapabilities(adapter),
      running,
      maxConcurrent,
      checkedAt: health.checkedAt,
    };
  });
}

/** An adapter that fails here must not prevent the renewal of the lease. */
function readCapabilities(adapter: ExecutionAdapter | null): AdapterCapabilities | null {
  try {
    return adapter?.capabilities() ?? null;
  } catch {
    return null;
  }
}
