import type { z } from "zod";
import { describeSetting } from "../src/config/describe-setting.ts";
import { listSecrets } from "../src/config/list-settings.ts";

/** Schemas of the texts of settings, by name. */
type Settings = Readonly<Record<string, z.ZodType>>;

/** Renders `.env.example`: every setting with its description and its default, commented out. */
export function renderEnvironmentExample(settings: Settings): string {
  const header = `# Settings of Bridge. Copy this file to .env, which Bridge reads at its start, and uncomment the settings that you change.
# The values are the defaults. A setting without a value is unset by default.
# A secret can be read from a file instead: ${listSecrets(settings)
    .map((name) => `${name}_FILE`)
    .join(", ")}.
`;
  const entries = Object.entries(settings).map(([name, schema]) => describeSetting(name, schema));
  return [header, ...entries.map(({ name, description, value }) => `# ${description}\n#${name}=${value}\n`)].join("\n");
}

/** Renders the settings as a Markdown table. */
export function renderSettingsTable(settings: Settings): string {
  const rows = Object.entries(settings)
    .map(([name, schema]) => describeSetting(name, schema))
    .map(({ name, description, fallback }) => `| \`${name}\` | ${renderFallback(fallback)} | ${escapeCell(removeDefault(description))} |`);
  return ["| setting | default | description |", "|---|---|---|", ...rows].join("\n");
}

/** A value is rendered as code, a description of several words as text. A placeholder such as <data dir> does not count as words. */
function renderFallback(fallback: string | null): string {
  if (fallback === null) return "";
  const isDescription = /[a-z]\S* [a-z]/i.test(fallback.replaceAll(/<[^>]*>|\d+ \w+/g, ""));
  return isDescription ? escapeCell(fallback) : `\`${fallback}\``;
}

const removeDefault = (description: string): string => description.replace(/ Default: .+$/, "");
const escapeCell = (text: string): string => text.replaceAll("|", "\\|").replaceAll(/<([^>]+)>/g, "\\<$1\\>");
