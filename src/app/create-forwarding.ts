import type { Logger } from "pino";
import type { ClusterView } from "../cluster/cluster-view.ts";
import { createForwarder } from "../http/forwarding/forward-request.ts";
import { locateRuntime, locateTaskFiles, locateWorkspace } from "../http/forwarding/locate.ts";
import type { ClusterStore } from "../store/nodes/interface.ts";
import type { Store } from "../store/store.ts";
import type { Forwarding } from "./forwarding.ts";

interface ForwardingOptions {
  cluster: ClusterStore;
  view: ClusterView;
  store: Store;
  logger: Logger;
}

/** Creates the hooks that pass requests to the nodes on a PostgreSQL database. */
export function createForwarding({ cluster, view, store, logger }: ForwardingOptions): Forwarding {
  const { createHook, close } = createForwarder({ view, logger });
  return {
    taskFiles: createHook(locateTaskFiles(view, store)),
    workspaces: createHook(locateWorkspace(view, cluster)),
    runtimes: createHook(locateRuntime(view)),
    close,
  };
}
