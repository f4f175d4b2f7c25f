import type { AdapterModule } from "./adapter.ts";
import type { AdapterInput } from "./input.ts";
import type { AdapterSettings } from "./settings.ts";

/** An adapter that ships with Bridge. Bridge validates its settings at every start, and loads its module if the adapter is enabled. */
export interface CatalogEntry {
  /** The adapter's name in BRIDGE_ADAPTERS and in a dispatch. */
  provider: string;
  settings: AdapterSettings;
  /** The field of a dispatch that carries the adapter's own input. Adapters may share one. */
  input?: AdapterInput;
  /** The runtime is a program with the name of the provider. If it is installed, Bridge suggests to enable the adapter. */
  hasProgram?: true;
  /** Its tasks run programs on Bridge's host, as Bridge's user. */
  runsPrograms?: true;
  /** The company whose models the runtime uses by default, as `gen_ai.provider.name` of traces. Default: the provider. */
  vendor?: string;
  /** Its tasks consist of other tasks or calls, so traces show them as workflows. */
  isWorkflow?: true;
  load(): Promise<AdapterModule>;
}

/** Adapters that the operator describes in a setting and enables as `<prefix>:<name>`. */
export interface AdapterFamily {
  prefix: string;
  settings: AdapterSettings;
  /** Finds the adapter that these settings describe under a name. Returns the error for the operator if there is none. */
  find(name: string, settings: Readonly<Record<string, unknown>>): { load(): Promise<AdapterModule> } | { missing: string };
}

/** Every adapter that ships with Bridge, in the order in which `.env.example` lists their settings. */
export type Catalog = readonly (CatalogEntry | AdapterFamily)[];

/** Returns the key of an entry's settings: its provider, or the prefix of a family and a colon, so that it differs from every provider. */
export const settingsKey = (entry: Catalog[number]): string => ("provider" in entry ? entry.provider : `${entry.prefix}:`);

/** Finds the entry of a provider; undefined if no such adapter ships with Bridge. */
export const findEntry = (catalog: Catalog, provider: string): CatalogEntry | undefined =>
  catalog.find((entry): entry is CatalogEntry => "provider" in entry && entry.provider === provider);

/** Lists the inputs that adapters of the catalog declare, each once. */
export const listInputs = (catalog: Catalog): AdapterInput[] => [
  ...new Map(
    catalog.flatMap((entry) => ("provider" in entry && entry.input !== undefined ? [[entry.input.field, entry.input]] : [])),
  ).values(),
];

/** Finds the family of a name such as `acp:goose`, with the name of the adapter in it; null for a name without a known prefix. */
export function findFamily(catalog: Catalog, name: string): { family: AdapterFamily; member: string } | null {
  const [prefix = ""] = name.split(":", 1);
  const family = catalog.find((entry): entry is AdapterFamily => "prefix" in entry && entry.prefix === prefix);
  return family === undefined || prefix === name ? null : { family, member: name.slice(prefix.length + 1) };
}
