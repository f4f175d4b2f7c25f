import { catalog } from "../../adapters/index.ts";
import { listUnknownSettings, readConfig } from "../config/config.ts";
import { listSettings } from "../config/list-settings.ts";
import { explainMissing } from "../registry/load-adapters.ts";

/** Reads the configuration of Bridge and of the adapters that ship with it. */
export const loadConfig = (environment: Readonly<Record<string, string | undefined>>) =>
  readConfig(environment, catalog, (adapter) => explainMissing(adapter, catalog));

/** Returns a warning for each variable of the environment that looks like a setting and is none. */
export const listUnknown = (environment: Readonly<Record<string, string | undefined>>) => listUnknownSettings(environment, catalog);

/** Every setting of Bridge and of the adapters that ship with it, by name. */
export const listAllSettings = () => listSettings(catalog);
