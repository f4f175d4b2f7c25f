import type { AvailableAdapters } from "../adapters/available-adapters.ts";
import { BridgeError } from "../errors.ts";
import type { ParsedDispatch } from "../requests/parse-dispatch.ts";
import { readAgentFile } from "../workspaces/prompt-files.ts";
import type { Workspaces } from "../workspaces/workspace-directories.ts";

interface ProviderChoiceOptions {
  adapters: Pick<AvailableAdapters, "isLoaded" | "listNames">;
  workspaces: Pick<Workspaces, "workspaceOf">;
  /** Adapters that are part of Bridge, loaded or not. Error messages name them. */
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

  return (dispatch: Pick<ParsedDispatch, "provider" | "agentId">, tenant: string): string => {
    const provider = dispatch.provider ?? readProviderOfAgent(workspaces.workspaceOf(tenant, dispatch.agentId)) ?? findOnlyProvider();
    if (provider !== undefined && adapters.isLoaded(provider)) return provider;
    const message = provider === undefined ? "is required, because several adapters are loaded" : "is not a loaded adapter";
    const loaded = adapters.listNames().join(", ");
    const remedy =
      provider !== undefined && catalogProviders.includes(provider) ? ` To enable it, add ${provider} to BRIDGE_ADAPTERS.` : "";
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
