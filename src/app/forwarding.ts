import type { onRequestAsyncHookHandler } from "fastify";
import type { Logger } from "pino";
import type { ClusterView } from "../cluster/cluster-view.ts";
import type { ClusterStore } from "../store/nodes/interface.ts";
import type { Store } from "../store/store.ts";

/** The hooks that pass requests to other nodes, by what the requests concern; null if there are no other nodes. */
export interface Forwarding {
  taskFiles: onRequestAsyncHookHandler | null;
  workspaces: onRequestAsyncHookHandler | null;
  runtimes: onRequestAsyncHookHandler | null;
  close(): Promise<void>;
}

interface ForwardingOptions {
  cluster: ClusterStore | null;
  view: ClusterView;
  store: Store;
  logger: Logger;
}

/** Creates the hooks. With SQLite, loads nothing. */
export async function createForwarding({ cluster, view, store, logger }: ForwardingOptions): Promise<Forwarding> {
  if (cluster === null) return { taskFiles: null, workspaces: null, runtimes: null, close: async () => {} };
  const { createForwarder } = await import("../http/forwarding/forward-request.ts");
  const { locateRuntime, locateTaskFiles, locateWorkspace } = await import("../http/forwarding/locate.ts");
  const { createHook, close } = createForwarder({ view, logger });
  return {
    taskFiles: createHook(locateTaskFiles(view, store)),
    workspaces: createHook(locateWorkspace(view, cluster)),
    runtimes: createHook(locateRuntime(view)),
    close,
  };
}
