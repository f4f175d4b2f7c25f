/** YAML frontmatter of plain values: JSON is YAML, and ends no line by itself. */
export const frontmatter = (fields: Readonly<Record<string, unknown>>): string =>
  ["---", ...Object.entries(fields).map(([name, value]) => `${name}: ${JSON.stringify(value)}`), "---"].join("\n");

/** A heading and what stands below it; nothing when nothing does. */
export const section = (title: string, items: readonly string[]): string[] => (items.length === 0 ? [] : [`## ${title}`, ...items]);

/** What a model has said on one line: it must not become a heading or end a list of ours. */
export const inline = (text: string): string => text.replaceAll(/\s+/g, " ");

/** What a model has said, as a quotation. */
export const quoted = (text: string): string => text.replaceAll(/^/gm, "> ");
