import { z } from "zod";

/**
 * A setting of an adapter: an environment variable and the value that the adapter gets for it. The description of `schema` is for the
 * operator; "Default: …" at its end describes a default that is not a single value. Other metadata of `schema`: `isSecret` (the value may
 * come from a file that `<variable>_FILE` names), `after` (the setting that it follows in `.env.example`; absent: BRIDGE_SANDBOX).
 */
export interface AdapterSetting<Schema extends z.ZodType = z.ZodType> {
  variable: string;
  /** Validates the value. Accepts its own output, because the adapter validates the value again. */
  schema: Schema;
  /** Converts the text of the variable to the input of `schema`. Absent: the text is the input. */
  read?: (text: string) => unknown;
}

/** The settings of an adapter, by their names in `AdapterConfig.settings`. */
export type AdapterSettings = Readonly<Record<string, AdapterSetting>>;

/** Returns the schema of all values of an adapter's settings. It drops values that are not declared. */
export const settingsSchema = <Settings extends AdapterSettings>(settings: Settings) =>
  z.object(
    Object.fromEntries(Object.entries(settings).map(([name, { schema }]) => [name, schema])) as {
      [Name in keyof Settings]: Settings[Name]["schema"];
    },
  );

/** Returns the zod error of a wrong value. It shows the value, so it is not for secrets. */
export const expected = (what: string) => ({ error: ({ input }: { input?: unknown }) => `must be ${what}; got ${JSON.stringify(input)}` });

/** Returns the schema of one of these words. */
export const choice = <const Names extends readonly [string, ...string[]]>(names: Names) => z.enum(names, expected(names.join(" or ")));

/** Returns the schema of a whole number in a range. */
export function integer(min: number, max: number) {
  const fault = { ...expected(`a whole number from ${min} to ${max}`), abort: true };
  return z.int(fault).min(min, fault).max(max, fault);
}

/** Reads a comma-separated list; drops empty entries. */
export const readList = (text: string): string[] =>
  text
    .split(",")
    .map((part) => part.trim())
    .filter((part) => part !== "");

/** Reads a whole number; returns any other text as it is. */
export const readInteger = (text: string): number | string => (/^\s*\d+\s*$/.test(text) ? Number(text) : text);

/** Reads true, false, 1 or 0; returns any other text as it is. */
export const readFlag = (text: string): boolean | string => (/^(true|false|1|0)$/.test(text) ? text === "true" || text === "1" : text);

/** Reads JSON; returns any other text as it is. */
export function readJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
