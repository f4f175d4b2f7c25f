import { z } from "zod";
import type { AdapterSetting, Catalog } from "#contract";
import { type ServerSetting, type SettingGroup, serverSettings } from "./settings.ts";
import { createTextReader } from "./value-schemas.ts";

/** The setting that the adapters' settings follow in `.env.example`. */
const LAST_BEFORE_ADAPTERS = serverSettings.sandbox.variable;

/**
 * All settings by the names of their variables, in the order of `.env.example`. A setting that several adapters share is listed once, with
 * the last of them.
 */
export function listSettings(catalog: Catalog): Readonly<Record<string, z.ZodType>> {
  const adapterSchemas = new Map<string, z.ZodType>();
  for (const setting of catalog.flatMap(({ settings }) => Object.values(settings))) {
    adapterSchemas.delete(setting.variable);
    adapterSchemas.set(setting.variable, toTextSchema(setting));
  }
  const listSettingsAfter = (name: string) =>
    [...adapterSchemas].filter(([, schema]) => (schema.meta()?.["after"] ?? LAST_BEFORE_ADAPTERS) === name);
  return Object.fromEntries(
    listServerSettings().flatMap(({ setting: { variable, schema, description, isSecret } }) => [
      [variable, schema.meta({ description, isSecret })],
      ...listSettingsAfter(variable),
    ]),
  );
}

/** Lists the settings of the server with their paths in `Config`, such as `["node", "name"]`. */
export function listServerSettings(
  group: SettingGroup = serverSettings,
  path: readonly string[] = [],
): { path: readonly string[]; setting: ServerSetting }[] {
  return Object.entries(group).flatMap(([name, entry]) =>
    isSetting(entry) ? [{ path: [...path, name], setting: entry }] : listServerSettings(entry, [...path, name]),
  );
}

/** Names of settings whose value may come from a file named by `<NAME>_FILE` instead. */
export const listSecrets = (settings: Readonly<Record<string, z.ZodType>>): string[] =>
  Object.entries(settings).flatMap(([name, schema]) => (schema.meta()?.["isSecret"] === true ? [name] : []));

/** Returns whether the entry is a setting; otherwise it is a group of settings. */
export const isSetting = (entry: ServerSetting | SettingGroup): entry is ServerSetting => typeof entry["variable"] === "string";

/** Returns the schema of the text of an adapter's setting. */
function toTextSchema({ schema, read }: AdapterSetting): z.ZodType {
  return read === undefined ? schema : z.preprocess(createTextReader(read), schema).meta(schema.meta() ?? {});
}
