import { setImmediate as nextTurn } from "node:timers/promises";

/** Levels of the document whose entries are written one by one. Schemas are on the third. */
const LEVELS = 3;

/**
 * Formats the OpenAPI document as YAML, for `/openapi.yaml` and the file `openapi.yaml`. Writes one entry after the other,
 * with a turn of the event loop between them, because the whole document takes too long for one turn.
 */
export async function writeOpenapiYaml(document: object): Promise<string> {
  // Loaded when it is needed, because most Bridges never write YAML.
  const { stringify } = await import("yaml");
  let text = "";
  let written: readonly string[] = [];
  for (const { path, value } of listEntries(document, LEVELS)) {
    const nested = path.reduceRight<unknown>((inner, key) => ({ [key]: inner }), value);
    const lines = stringify(nested, { aliasDuplicateObjects: false, lineWidth: 140 }).split("\n");
    // Each key above the entry is a line, which its predecessor may have written.
    text += lines.slice(countShared(path, written)).join("\n");
    written = path;
    await nextTurn();
  }
  return text;
}

/** Lists the values at this depth of nested objects, and those above it that are no objects. */
function* listEntries(value: object, levels: number, path: readonly string[] = []): Generator<{ path: readonly string[]; value: unknown }> {
  for (const [key, entry] of Object.entries(value)) {
    const isSplit = levels > 1 && typeof entry === "object" && entry !== null && !Array.isArray(entry) && Object.keys(entry).length > 0;
    if (isSplit) yield* listEntries(entry, levels - 1, [...path, key]);
    else if (entry !== undefined) yield { path: [...path, key], value: entry };
  }
}

function countShared(path: readonly string[], other: readonly string[]): number {
  const index = path.findIndex((key, position) => key !== other[position]);
  return index < 0 ? path.length : index;
}
