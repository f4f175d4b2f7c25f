import { BridgeError } from "../../errors.ts";
import { findNearestName } from "../../nearest-name.ts";
import type { AvailableAdapters } from "../../registry/available-adapters.ts";
import type { ParsedDispatch } from "../../requests/parse-dispatch.ts";
import { readAgentFile } from "../../workspaces/prompt-files.ts";
import type { Workspaces } from "../../workspaces/workspace-directories.ts";

interface ProviderChoiceOptions {
  adapters: Pick<AvailableAdapters, "isLoaded" | "listNames">;
  workspaces: Pick<Workspaces, "workspaceOf">;
  /** Adapters that are part of Bridge, loaded or not, and the prefixes of families, such as `acp:`. Error messages name them. */
  catalogProviders?: readonly string[];
}

/**
 * Creates the choice of the provider of a dispatch: the one that it names, else that of the agent's agent.json, else the only loaded one.
 * The function throws BridgeError: unknown_provider.
 */
export function createProviderChoice({ adapters, workspaces, catalogProviders = [] }: ProviderChoiceOptions) {
  function findOnlyProvider(): string | undefined {
    const [first, ...others] = adapters.listNames();
    return others.length === 0 ? first : undefined;
  }

  /** Names the setting that enables the adapter, or the adapter that was probably meant. */
  function adviseOn(provider: string): string {
    const enable = (name: string): string => ` To enable it, add ${name} to BRIDGE_ADAPTERS.`;
    const isFamily = (name: string): boolean => name.endsWith(":") && provider.startsWith(name);
    if (catalogProviders.some((name) => name === provider || isFamily(name))) return enable(provider);
    const loaded = adapters.listNames();
    const nearest = findNearestName(provider, [...loaded, ...catalogProviders]);
    if (nearest === null) return "";
    return ` Did you mean ${nearest}?${loaded.includes(nearest) ? "" : enable(nearest)}`;
  }

  return (dispatch: Pick<ParsedDispatch, "provider" | "agentId">, tenant: string): string => {
    const provider = dispatch.provider ?? readProviderOfAgent(workspaces.workspaceOf(tenant, dispatch.agentId)) ?? findOnlyProvider();
    if (provider !== undefined && adapters.isLoaded(provider)) return provider;
    const message = provider === undefined ? "is required, because several adapters are loaded" : "is not a loaded adapter";
    const loaded = adapters.listNames().join(", ");
    const remedy = provider === undefined ? "" : adviseOn(provider);
    throw new BridgeError("unknown_provider", `The provider ${message}. Loaded adapters: ${loaded}.${remedy}`, {
      errors: [{ path: "provider", message: `${message} (${loaded})` }],
    });
  };
}

function readProviderOfAgent(workspace: string): string | undefined {
  try {
    return readAgentFile(workspace).provider;
  } catch {
    // The task reports a fault of agent.json when it reads the other settings in it.
    return undefined;
  }
}
