import { BridgeError } from "../../errors.ts";
import type { DestinationGuard } from "../../network/destination-guard.ts";
import type { AdapterRegistry } from "../../registry/adapter-registry.ts";
import type { AvailableAdapters, Obstacle, Runner } from "../../registry/available-adapters.ts";
import type { SchemaChecker } from "../../requests/schema-checker.ts";
import type { Store } from "../../store/store.ts";
import type { TaskRequest } from "../../task.ts";
import type { Workspaces } from "../../workspaces/workspace-directories.ts";
import { validateDispatch } from "./validate-dispatch.ts";

/** A task to check, and the id of the node on which its agent lives; null if it may start on any node. */
export interface CheckedTask {
  tenant: string;
  agentId: string;
  provider: string;
  place: string | null;
  /** Whether it runs in the work tree of its parent. */
  isInTree?: boolean;
}

/** The parts that check requests. */
export interface RequestCheckOptions {
  store: Pick<Store, "isResumeTokenKnown">;
  registry: Pick<AdapterRegistry, "suspect" | "estimateSecondsToNextCheck">;
  adapters: AvailableAdapters;
  /** The id of this node. */
  ownNode: string;
  workspaces: Workspaces;
  guard: DestinationGuard;
  schemas: SchemaChecker;
  mcpCommands: readonly string[];
}

export type RequestCheck = ReturnType<typeof createRequestCheck>;

/** `Retry-After` of an adapter that could not be loaded. Only a restart of Bridge checks it again. */
const UNLOADED_RETRY_SECONDS = 30;

/** Creates the check of a request, for dispatches and for child tasks. */
export function createRequestCheck({ store, registry, adapters, ownNode, workspaces, guard, schemas, mcpCommands }: RequestCheckOptions) {
  function toError({ kind, text, tagMissingAtPlace }: Obstacle, { provider, place }: Pick<CheckedTask, "provider" | "place">): BridgeError {
    if (tagMissingAtPlace !== undefined) {
      const message = `contains ${tagMissingAtPlace}, which is not a tag of the node of the agent; omit it or choose another agentId`;
      return new BridgeError("capability_missing", text, { errors: [{ path: "runsOn", message }] });
    }
    const isChecked = kind === "adapter" && (place === null || place === ownNode);
    return isChecked ? createOfflineError(provider, text) : new BridgeError("adapter_offline", text);
  }

  function createOfflineError(provider: string, text: string): BridgeError {
    // The cause may have been fixed since the last health check.
    registry.suspect(provider);
    const retryAfterSeconds = registry.estimateSecondsToNextCheck(provider);
    if (retryAfterSeconds === null) return new BridgeError("adapter_offline", text, { retryAfterSeconds: UNLOADED_RETRY_SECONDS });
    return new BridgeError("adapter_offline", `${text} The next check is within ${retryAfterSeconds} s. Dispatch again after it.`, {
      retryAfterSeconds,
    });
  }

  /** Rejects a request that its adapter cannot carry out at the moment. Returns where the task can run. */
  return async (request: TaskRequest, { tenant, agentId, provider, place, isInTree = false }: CheckedTask): Promise<Runner> => {
    const { runner, obstacle } = adapters.findRunner({ provider, needs: needsOf(request), place });
    if (obstacle !== null) throw toError(obstacle, { provider, place });
    // The paths of a task in a work tree are checked when it starts.
    const isInWorkspace = runner.isHere && !isInTree && request.repository === undefined;
    const workspace = isInWorkspace ? workspaces.workspaceOf(tenant, agentId) : null;
    const { adapter, capabilities } = runner;
    const { listCapabilities } = adapters;
    await validateDispatch(request, { adapter, provider, capabilities, listCapabilities, guard, schemas, mcpCommands, tenant, workspace });
    const token = request.resumeToken;
    if (token === undefined || (await store.isResumeTokenKnown({ tenant, provider, agentId, token }))) return runner;
    throw new BridgeError("resume_unknown", "The resume token is not known for this provider and agent.", {
      errors: [{ path: "resumeToken", message: "was not issued for this provider and agent, or has expired" }],
    });
  };
}

/** The tags that the node of a task must have. */
export const needsOf = ({ runsOn = [] }: TaskRequest): readonly string[] => runsOn;
