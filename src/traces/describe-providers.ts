import { type Catalog, findEntry } from "#contract";

/** What the spans of an adapter's tasks show of it. */
export interface ProviderTraits {
  /** The company whose models the runtime uses, as the conventions name it; null if that depends on the configuration. */
  vendor: string | null;
  /** Whether a task is a workflow of other tasks. */
  isWorkflow: boolean;
  /** Whether Bridge itself calls the model, on this connection. */
  callsModel(connection: string | null): boolean;
}

/** Creates the function that describes an adapter of the catalog. Other adapters have no traits. */
export function createProviderTraits(catalog: Catalog): (provider: string) => ProviderTraits {
  return (provider) => {
    const entry = findEntry(catalog, provider);
    return {
      vendor: entry?.vendor ?? null,
      isWorkflow: entry?.isWorkflow ?? false,
      callsModel: (connection) => connection === "api" && entry?.isWorkflow !== true,
    };
  };
}
