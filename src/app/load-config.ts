import { catalog } from "../../adapters/index.ts";
import { explainMissing } from "../adapters/load-adapters.ts";
import { readConfig } from "../config/config.ts";
import { listSettings } from "../config/settings.ts";

/** Reads the configuration of Bridge and of the adapters that ship with it. */
export const loadConfig = (environment: Readonly<Record<string, string | undefined>>) =>
  readConfig(environment, catalog, (adapter) => explainMissing(adapter, catalog));

/** Every setting of Bridge and of the adapters that ship with it, by name. */
export const listAllSettings = () => listSettings(catalog);
