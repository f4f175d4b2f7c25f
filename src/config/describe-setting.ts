import { isDeepStrictEqual } from "node:util";
import type { z } from "zod";

/** A setting as pages and lists show it. */
export interface DescribedSetting {
  name: string;
  description: string;
  /** The default as a value or in words; null if the setting has none. */
  fallback: string | null;
  /** A value that `.env.example` can show. */
  value: string;
}

/** Describes a setting by the schema of its text. */
export function describeSetting(name: string, schema: z.ZodType): DescribedSetting {
  const { description = "", example } = (schema.meta() ?? {}) as { description?: string; example?: string };
  const defaultValue = schema.safeParse(undefined).data;
  const fallback = /Default: (.+)$/.exec(description)?.[1] ?? textOf(defaultValue) ?? null;
  // A default in words, such as "<data dir>/…", is no value of the setting.
  const parsed = schema.safeParse(fallback);
  const isValue = fallback !== null && parsed.success && isDeepStrictEqual(parsed.data, defaultValue);
  return { name, description, fallback, value: example ?? (isValue ? fallback : "") };
}

const textOf = (value: unknown): string | undefined => (["string", "number", "boolean"].includes(typeof value) ? String(value) : undefined);
