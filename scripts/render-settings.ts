import { isDeepStrictEqual } from "node:util";
import type { z } from "zod";
import { listSecrets } from "../src/config/settings.ts";

/** Schemas of the texts of settings, by name. */
type Settings = Readonly<Record<string, z.ZodType>>;

interface Row {
  name: string;
  description: string;
  /** The default as a value or in words; null if the setting has none. */
  fallback: string | null;
  /** A value that `.env.example` can show. */
  value: string;
}

/** Renders `.env.example`: every setting with its description and its default, commented out. */
export function renderEnvironmentExample(settings: Settings): string {
  const header = `# Settings of Bridge. Copy this file to .env, which Bridge reads at its start, and uncomment the settings that you change.
# The values are the defaults. A setting without a value is unset by default.
# A secret can be read from a file instead: ${listSecrets(settings)
    .map((name) => `${name}_FILE`)
    .join(", ")}.
`;
  const entries = Object.entries(settings).map(describeSetting);
  return [header, ...entries.map(({ name, description, value }) => `# ${description}\n#${name}=${value}\n`)].join("\n");
}

/** Renders the settings as a Markdown table. */
export function renderSettingsTable(settings: Settings): string {
  const rows = Object.entries(settings)
    .map(describeSetting)
    .map(({ name, description, fallback }) => `| \`${name}\` | ${renderFallback(fallback)} | ${escapeCell(removeDefault(description))} |`);
  return ["| setting | default | description |", "|---|---|---|", ...rows].join("\n");
}

/** A value is rendered as code, a description of several words as text. A placeholder such as <data dir> does not count as words. */
function renderFallback(fallback: string | null): string {
  if (fallback === null) return "";
  const isDescription = /[a-z]\S* [a-z]/i.test(fallback.replaceAll(/<[^>]*>|\d+ \w+/g, ""));
  return isDescription ? escapeCell(fallback) : `\`${fallback}\``;
}

function describeSetting([name, schema]: [string, z.ZodType]): Row {
  const { description = "", example } = (schema.meta() ?? {}) as { description?: string; example?: string };
  const defaultValue = schema.safeParse(undefined).data;
  const fallback = /Default: (.+)$/.exec(description)?.[1] ?? textOf(defaultValue) ?? null;
  // A default in words, such as "<data dir>/…", is no value of the setting.
  const parsed = schema.safeParse(fallback);
  const isValue = fallback !== null && parsed.success && isDeepStrictEqual(parsed.data, defaultValue);
  return { name, description, fallback, value: example ?? (isValue ? fallback : "") };
}

const textOf = (value: unknown): string | undefined => (["string", "number", "boolean"].includes(typeof value) ? String(value) : undefined);

const removeDefault = (description: string): string => description.replace(/ Default: .+$/, "");
const escapeCell = (text: string): string => text.replaceAll("|", "\\|").replaceAll(/<([^>]+)>/g, "\\<$1\\>");
