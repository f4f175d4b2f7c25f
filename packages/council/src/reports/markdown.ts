/** Renders YAML frontmatter. Values are JSON, which is valid YAML and contains no line breaks. */
export const renderFrontmatter = (fields: Readonly<Record<string, unknown>>): string =>
  ["---", ...Object.entries(fields).map(([name, value]) => `${name}: ${JSON.stringify(value)}`), "---"].join("\n");

/** Returns a heading with its items; empty without items. */
export const renderSection = (title: string, items: readonly string[]): string[] => (items.length === 0 ? [] : [`## ${title}`, ...items]);

/** Puts the text of a model on one line, so that it cannot start a heading or end a list. */
export const inline = (text: string): string => text.replaceAll(/\s+/g, " ");

/** Renders the text of a model as a quotation. */
export const quote = (text: string): string => text.replaceAll(/^/gm, "> ");
