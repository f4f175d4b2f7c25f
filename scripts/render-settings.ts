import { secretSettings } from "../src/config/config.ts";
import { settings } from "../src/config/settings.ts";

interface Setting {
  name: string;
  description: string;
  /** The default value, or a description of it; null if the setting has no default. */
  fallback: string | null;
  /** The value for the example file; empty if there is none that can be written literally. */
  value: string;
}

const header = `# Settings of Bridge. Copy this file to .env, which Bridge reads at its start, and uncomment the settings that you change.
# The values are the defaults. A setting without a value is unset by default.
# A secret can be read from a file instead: ${secretSettings.map((name) => `${name}_FILE`).join(", ")}.
`;

/** Renders `.env.example`: every setting with its description and its default, commented out. */
export function renderEnvironmentExample(): string {
  const entries = Object.keys(settings).map(describeSetting);
  return [header, ...entries.map(({ name, description, value }) => `# ${description}\n#${name}=${value}\n`)].join("\n");
}

/** Renders the settings as a Markdown table. */
export function renderSettingsTable(): string {
  const rows = Object.keys(settings)
    .map(describeSetting)
    .map(({ name, description, fallback }) => `| \`${name}\` | ${renderFallback(fallback)} | ${escapeCell(withoutDefault(description))} |`);
  return ["| setting | default | description |", "|---|---|---|", ...rows].join("\n");
}

/** A value is rendered as code, a description of several words as text. A placeholder such as <data dir> does not count as words. */
function renderFallback(fallback: string | null): string {
  if (fallback === null) return "";
  const isDescription = /[a-z]\S* [a-z]/i.test(fallback.replaceAll(/<[^>]*>|\d+ \w+/g, ""));
  return isDescription ? escapeCell(fallback) : `\`${fallback}\``;
}

function describeSetting(name: string): Setting {
  const setting = settings[name as keyof typeof settings];
  const description = setting.description ?? "";
  const { example } = (setting.meta() ?? {}) as { example?: string };
  const fallback = /Default: (.+)$/.exec(description)?.[1] ?? literalDefault(setting) ?? null;
  // A default such as "<data dir>/…" is a description. It cannot be written as a value.
  const writable = fallback !== null && !fallback.includes("<") && setting.safeParse(fallback).success;
  return { name, description, fallback, value: example ?? (writable ? fallback : "") };
}

function literalDefault(setting: (typeof settings)[keyof typeof settings]): string | undefined {
  const value = setting.safeParse(undefined).data;
  return ["string", "number", "boolean"].includes(typeof value) ? String(value) : undefined;
}

const withoutDefault = (description: string): string => description.replace(/ Default: .+$/, "");
const escapeCell = (text: string): string => text.replaceAll("|", "\\|").replaceAll(/<([^>]+)>/g, "\\<$1\\>");
