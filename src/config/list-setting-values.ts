import type { z } from "zod";
import { describeSetting } from "./describe-setting.ts";
import { listSecrets } from "./list-settings.ts";

/** A setting with its value in an environment. */
export interface SettingValue {
  name: string;
  /** Null if the setting is not set. The values of secrets are masked. */
  value: string | null;
  /** The default as a value or in words; null if there is none. */
  fallback: string | null;
  /** The variable that sets it: its name, or `<name>_FILE`; null if it is not set. */
  variable: string | null;
}

/** Lists the settings with their values, in the order of `.env.example`. The result contains no secret. */
export function listSettingValues(
  environment: Readonly<Record<string, string | undefined>>,
  settings: Readonly<Record<string, z.ZodType>>,
): SettingValue[] {
  const secrets = new Set(listSecrets(settings));
  const read = (name: string): string | null => environment[name] || null;
  return Object.entries(settings).map(([name, schema]) => {
    const { fallback } = describeSetting(name, schema);
    const value = read(name);
    if (value !== null) return { name, value: secrets.has(name) ? maskSecret(value) : maskPassword(value), fallback, variable: name };
    const file = secrets.has(name) ? read(`${name}_FILE`) : null;
    return { name, value: file === null ? null : `the content of ${file}`, fallback, variable: file === null ? null : `${name}_FILE` };
  });
}

const MASK = "***";

/** Only the URL of a database is useful without its secret part. */
const maskSecret = (value: string): string => (/^(sqlite|postgres(ql)?):/.test(value) ? maskPassword(value) : MASK);

/** Masks the passwords of URLs. */
const maskPassword = (value: string): string =>
  value.replaceAll(/(:\/\/[^/?#\s@:]*):[^/?#\s]*@/g, `$1:${MASK}@`).replaceAll(/([?&]password=)[^&\s]*/gi, `$1${MASK}`);
