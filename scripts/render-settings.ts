import { secretSettings } from "../src/config/config.ts";
import { settings } from "../src/config/settings.ts";

interface Setting {
  name: string;
  description: string;
  /** What holds when it is not set, in words; null when that is simply nothing. */
  otherwise: string | null;
  /** A value that may be written as it stands. */
  value: string;
}

const header = `# Settings of Bridge. Copy to .env (read at start) and uncomment what you change.
# Shown are the defaults; a setting without a value is unset by default.
# A secret may come from a file instead: ${secretSettings.map((name) => `${name}_FILE`).join(", ")}.
`;

/** The text of `.env.example`: every setting with what it means and its default, commented out. */
export function renderEnvironmentExample(): string {
  const entries = Object.keys(settings).map(describeSetting);
  return [header, ...entries.map(({ name, description, value }) => `# ${description}\n#${name}=${value}\n`)].join("\n");
}

/** The settings as a Markdown table. */
export function renderSettingsTable(): string {
  const rows = Object.keys(settings)
    .map(describeSetting)
    .map(
      ({ name, description, otherwise }) =>
        `| \`${name}\` | ${otherwise === null ? "" : `\`${otherwise}\``} | ${escapeCell(withoutDefault(description))} |`,
    );
  return ["| setting | default | |", "|---|---|---|", ...rows].join("\n");
}

function describeSetting(name: string): Setting {
  const setting = settings[name as keyof typeof settings];
  const description = setting.description ?? "";
  const { example } = (setting.meta() ?? {}) as { example?: string };
  const otherwise = /Default: (.+)$/.exec(description)?.[1] ?? literalDefault(setting) ?? null;
  // Words such as "off" or "<data dir>/…" explain the default and cannot be written as a value.
  const writable = otherwise !== null && !otherwise.includes("<") && setting.safeParse(otherwise).success;
  return { name, description, otherwise, value: example ?? (writable ? otherwise : "") };
}

function literalDefault(setting: (typeof settings)[keyof typeof settings]): string | undefined {
  const value = setting.safeParse(undefined).data;
  return ["string", "number", "boolean"].includes(typeof value) ? String(value) : undefined;
}

const withoutDefault = (description: string): string => description.replace(/ Default: .+$/, "");
const escapeCell = (text: string): string => text.replaceAll("|", "\\|").replaceAll(/<([^>]+)>/g, "\\<$1\\>");
