import { existsSync } from "node:fs";
import { registerHooks } from "node:module";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { type AdapterModule, type Catalog, type ExecutionAdapter, findEntry, findFamily, settingsKey } from "#contract";
import { ConfigError } from "../errors.ts";
import type { LoadedAdapter } from "./adapter-registry.ts";

/** Where adapters come from: the catalog, and the settings that describe the members of its families, by prefix. */
export interface AdapterSources {
  catalog: Catalog;
  adapterSettings: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

/**
 * Loads each named adapter: from the catalog, otherwise as a path, otherwise as a package. An adapter that fails is listed with its reason.
 * Throws a ConfigError if all of them fail.
 */
export async function loadAdapters(names: readonly string[], sources: AdapterSources): Promise<LoadedAdapter[]> {
  const loaded = await Promise.all(names.map((name) => loadAdapter(name, sources)));
  const reasons = loaded.flatMap((entry) => (entry.adapter === null ? [entry.reason] : []));
  if (reasons.length === loaded.length) throw new ConfigError(reasons.map((reason) => `BRIDGE_ADAPTERS: ${reason}`));
  const providers = loaded.map((entry) => entry.provider);
  const duplicate = providers.find((provider, index) => providers.indexOf(provider) !== index);
  if (duplicate !== undefined) throw new ConfigError([`BRIDGE_ADAPTERS: two adapters have the provider ${duplicate}`]);
  const conflicting = loaded.find(({ provider }, index) => hasProviderOfAnother(provider, names[index] ?? "", sources));
  if (conflicting !== undefined)
    throw new ConfigError([
      `BRIDGE_ADAPTERS: the name ${conflicting.provider} belongs to another adapter of Bridge; choose another one, for example my-${conflicting.provider}`,
    ]);
  return loaded;
}

/** Explains why an adapter has no module; null if it has one, which may still fail to load. */
export function explainMissing(name: string, catalog: Catalog): string | null {
  if (findEntry(catalog, name) !== undefined || findFamily(catalog, name) !== null) return null;
  try {
    findModule(name, catalog);
    return null;
  } catch (error) {
    return explainFailure(name, error);
  }
}

/** Settings and homes belong to a provider, so an adapter from the catalog must not have the provider of another one. */
const hasProviderOfAnother = (provider: string, name: string, sources: AdapterSources): boolean =>
  provider !== name && findLoader(name, sources) !== null && findEntry(sources.catalog, provider) !== undefined;

async function loadAdapter(name: string, sources: AdapterSources): Promise<LoadedAdapter> {
  try {
    const loader = findLoader(name, sources);
    const { createAdapter } = (await (loader?.load() ?? import(findModule(name, sources.catalog)))) as Partial<AdapterModule>;
    if (typeof createAdapter !== "function") throw new Error("its module exports no createAdapter()");
    const adapter = createAdapter();
    const missing = requiredMethods.filter((method) => typeof adapter[method] !== "function");
    if (missing.length > 0) throw new Error(`it lacks ${missing.join(", ")}`);
    if (typeof adapter.provider !== "string" || !/^[A-Za-z0-9_:.-]{1,64}$/.test(adapter.provider))
      throw new Error("its provider is not 1 to 64 of A-Z a-z 0-9 _ : . -");
    return { provider: adapter.provider, adapter };
  } catch (error) {
    return { provider: name, adapter: null, reason: explainFailure(name, error) };
  }
}

const explainFailure = (name: string, error: unknown): string =>
  `The adapter ${name} cannot be loaded: ${error instanceof Error ? error.message : String(error)}`;

const requiredMethods = [
  "initialize",
  "shutdown",
  "checkHealth",
  "capabilities",
  "execute",
  "cancel",
] as const satisfies readonly (keyof ExecutionAdapter)[];

/** Returns null for an adapter that is not in the catalog. */
function findLoader(name: string, { catalog, adapterSettings }: AdapterSources): { load(): Promise<AdapterModule> } | null {
  const entry = findEntry(catalog, name);
  if (entry !== undefined) return entry;
  const found = findFamily(catalog, name);
  const described = found?.family.find(found.member, adapterSettings[settingsKey(found.family)] ?? {});
  return described !== undefined && "load" in described ? described : null;
}

/** Returns the URL of the module at a path or in a package, resolved from the current directory. Throws if there is none. */
function findModule(name: string, catalog: Catalog): string {
  const isPath = /^\.{0,2}\//.test(name) || path.isAbsolute(name);
  if (!isPath) return resolvePackage(name, catalog);
  if (!existsSync(name)) throw new Error("the file does not exist");
  return pathToFileURL(name).href;
}

/** Resolves a package as an import in the current directory does. `require.resolve` does not find packages that can only be imported. */
function resolvePackage(name: string, catalog: Catalog): string {
  const parentURL = pathToFileURL(path.resolve("package.json")).href;
  const hooks = registerHooks({ resolve: (specifier, context, next) => next(specifier, { ...context, parentURL }) });
  try {
    return import.meta.resolve(name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ERR_MODULE_NOT_FOUND") throw error;
    const known = catalog.map((entry) => ("provider" in entry ? entry.provider : `${entry.prefix}:<name>`)).join(", ");
    throw new Error(`it is neither in the catalog (${known}) nor an installed package; the path of a file begins with ./ or /`, {
      cause: error,
    });
  } finally {
    hooks.deregister();
  }
}
