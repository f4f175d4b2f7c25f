import type { AdapterRegistry } from "../adapters/adapter-registry.ts";
import { BridgeError } from "../errors.ts";
import type { DestinationGuard } from "../network/destination-guard.ts";
import type { ParsedDispatch } from "../requests/parse-dispatch.ts";
import type { SchemaChecker } from "../requests/schema-checker.ts";
import type { Store } from "../store/store.ts";
import type { TaskRequest } from "../task.ts";
import { readAgentFile } from "../workspaces/prompt-files.ts";
import type { Workspaces } from "../workspaces/workspace-directories.ts";
import { validateDispatch } from "./validate-dispatch.ts";

/** Whose work it is, and on which adapter. */
interface Bearer {
  tenant: string;
  agentId: string;
  provider: string;
}

/** Decides whether a well-formed request can be carried out here and now. Refusals are BridgeErrors. */
export interface Admission {
  /** The dispatch's own provider, else the agent's, else the only one. */
  chooseProvider(dispatch: ParsedDispatch, tenant: string): string;
  check(request: TaskRequest, bearer: Bearer): Promise<void>;
}

/** What admission looks at. */
export interface AdmissionOptions {
  store: Pick<Store, "isResumeTokenKnown">;
  registry: AdapterRegistry;
  workspaces: Workspaces;
  guard: DestinationGuard;
  schemas: Pick<SchemaChecker, "findSchemaFault">;
  mcpCommands: readonly string[];
  /** Adapters that come with Bridge, loaded or not; only for messages. */
  shipped?: readonly string[];
}

/** Makes the one place that says no before anything is stored. */
export function createAdmission({ store, registry, workspaces, guard, schemas, mcpCommands, shipped = [] }: AdmissionOptions): Admission {
  return {
    chooseProvider(dispatch, tenant) {
      const names = registry.list().map((entry) => entry.provider);
      const only = names.length === 1 ? names[0] : undefined;
      const provider = dispatch.provider ?? providerOfAgent(workspaces.workspaceOf(tenant, dispatch.agentId)) ?? only;
      if (provider !== undefined && names.includes(provider)) return provider;
      const message = provider === undefined ? "is needed, because several adapters are loaded" : "is not a loaded adapter";
      const loaded = names.join(", ");
      const remedy =
        provider !== undefined && shipped.includes(provider) ? ` The operator enables it by BRIDGE_ADAPTERS=…,${provider}.` : "";
      throw new BridgeError("unknown_provider", `The provider ${message}. Loaded: ${loaded}.${remedy}`, {
        errors: [{ path: "provider", message: `${message} (${loaded})` }],
      });
    },

    async check(request, { tenant, agentId, provider }) {
      const entry = registry.get(provider);
      if (entry === undefined || entry.adapter === null || entry.health.status === "offline") {
        // What was missing may be there by now.
        registry.suspect(provider);
        const retryAfterSeconds = registry.secondsToNextCheck(provider);
        const words = offlineText(provider, entry !== undefined);
        if (retryAfterSeconds === null) throw new BridgeError("adapter_offline", words, { retryAfterSeconds: NEVER_CHECKED_SECONDS });
        throw new BridgeError("adapter_offline", `${words} Bridge checks it again within ${retryAfterSeconds} s; dispatch again then.`, {
          retryAfterSeconds,
        });
      }
      const workspace = workspaces.workspaceOf(tenant, agentId);
      await validateDispatch(request, {
        adapter: entry.adapter,
        provider,
        capabilities: entry.adapter.capabilities(),
        listCapabilities: () =>
          registry
            .list()
            .flatMap(({ provider: name, adapter, health }) =>
              adapter === null || health.status === "offline" ? [] : [{ provider: name, capabilities: adapter.capabilities() }],
            ),
        guard,
        schemas,
        mcpCommands,
        tenant,
        workspace,
      });
      const token = request.resumeToken;
      if (token === undefined || (await store.isResumeTokenKnown({ tenant, provider, agentId, token }))) return;
      throw new BridgeError("resume_unknown", "The resume token is not known for this provider and agent.", {
        errors: [{ path: "resumeToken", message: "was not handed out for this provider and agent, or has expired" }],
      });
    },
  };
}

/** Only a new start of Bridge helps an adapter that could not be loaded. */
const NEVER_CHECKED_SECONDS = 30;

/** What a client is told; why the adapter is offline may name paths, and is for operators to read. */
export const offlineText = (provider: string, isLoaded = true): string =>
  isLoaded
    ? `The adapter ${provider} is offline; GET /api/v2/adapters tells why.`
    : `The adapter ${provider} is not loaded: the operator adds it to BRIDGE_ADAPTERS.`;

function providerOfAgent(workspace: string): string | undefined {
  try {
    return readAgentFile(workspace).provider;
  } catch {
    // A faulty agent.json is told by the task that reads it for its other settings.
    return undefined;
  }
}
