import { existsSync } from "node:fs";
import { registerHooks } from "node:module";
import path from "node:path";
import { pathToFileURL } from "node:url";
import type { AdapterModule, ExecutionAdapter } from "#contract";
import { ConfigError } from "../errors.ts";
import type { LoadedAdapter } from "./adapter-registry.ts";

/** Provider to the module of its adapter; nothing loads unless asked for. */
export type Catalogue = Readonly<Record<string, () => Promise<AdapterModule>>>;

/** Loads each named adapter: from the catalogue, else as a path, else as a package. One that fails is listed with its reason; when all do, there is nothing to start. */
export async function loadAdapters(names: readonly string[], catalogue: Catalogue): Promise<LoadedAdapter[]> {
  const loaded = await Promise.all(names.map((name) => loadAdapter(name, catalogue)));
  const reasons = loaded.flatMap((entry) => (entry.adapter === null ? [entry.reason] : []));
  if (reasons.length === loaded.length) throw new ConfigError(reasons.map((reason) => `BRIDGE_ADAPTERS: ${reason}`));
  const providers = loaded.map((entry) => entry.provider);
  const twice = providers.find((provider, index) => providers.indexOf(provider) !== index);
  if (twice !== undefined) throw new ConfigError([`BRIDGE_ADAPTERS: two adapters call themselves ${twice}`]);
  const taken = loaded.find(({ provider }, index) => isTaken(provider, names[index] ?? "", catalogue));
  if (taken !== undefined)
    throw new ConfigError([`BRIDGE_ADAPTERS: ${taken.provider} is another adapter of Bridge; call it my-${taken.provider}, for example`]);
  return loaded;
}

/** Settings and homes belong to a provider: what the catalogue has under one name must not go by another of its names. */
const isTaken = (provider: string, name: string, catalogue: Catalogue): boolean =>
  provider !== name && Object.hasOwn(catalogue, name) && Object.hasOwn(catalogue, provider);

async function loadAdapter(name: string, catalogue: Catalogue): Promise<LoadedAdapter> {
  try {
    const load = Object.hasOwn(catalogue, name) ? catalogue[name] : undefined;
    const { createAdapter } = (await (load?.() ?? importModule(name, catalogue))) as Partial<AdapterModule>;
    if (typeof createAdapter !== "function") throw new Error("its module exports no createAdapter()");
    const adapter = createAdapter();
    const missing = required.filter((method) => typeof adapter[method] !== "function");
    if (missing.length > 0) throw new Error(`it lacks ${missing.join(", ")}`);
    if (typeof adapter.provider !== "string" || !/^[A-Za-z0-9_:.-]{1,64}$/.test(adapter.provider))
      throw new Error("its provider is not a name");
    return { provider: adapter.provider, adapter };
  } catch (error) {
    return {
      provider: name,
      adapter: null,
      reason: `The adapter ${name} cannot be loaded: ${error instanceof Error ? error.message : String(error)}`,
    };
  }
}

const required = [
  "initialize",
  "shutdown",
  "checkHealth",
  "capabilities",
  "execute",
  "cancel",
] as const satisfies readonly (keyof ExecutionAdapter)[];

/** Paths and packages are seen from the directory in which Bridge was started. */
async function importModule(name: string, catalogue: Catalogue): Promise<unknown> {
  const isPath = /^\.{0,2}\//.test(name) || path.isAbsolute(name);
  if (!isPath) return import(resolvePackage(name, catalogue));
  if (!existsSync(name)) throw new Error("there is no such file");
  return import(pathToFileURL(name).href);
}

/** As an import there would find it: `require.resolve` knows nothing of packages that can only be imported. */
function resolvePackage(name: string, catalogue: Catalogue): string {
  const parentURL = pathToFileURL(path.resolve("package.json")).href;
  const hooks = registerHooks({ resolve: (specifier, context, next) => next(specifier, { ...context, parentURL }) });
  try {
    return import.meta.resolve(name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ERR_MODULE_NOT_FOUND") throw error;
    const known = Object.keys(catalogue).join(", ");
    throw new Error(`it is neither in the catalogue (${known}) nor a package that can be found; a file begins with ./ or /`, {
      cause: error,
    });
  } finally {
    hooks.deregister();
  }
}
