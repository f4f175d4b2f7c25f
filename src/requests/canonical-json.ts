/** Maximum nesting depth. Recursive functions rely on it. Hand-written schemas have fewer than 20 levels. */
export const MAX_JSON_DEPTH = 100;

/**
 * Returns the JSON text of a value with sorted keys. `findJsonFault` must have accepted the value. Parts whose keys are already sorted,
 * usually all, are written by `JSON.stringify`, because it is five times as fast.
 */
export function canonicalJson(value: unknown): string {
  return reorder(value, null) ?? JSON.stringify(value);
}

interface JsonFault {
  path: PropertyKey[];
  message: string;
}

/** Finds a value that Bridge could not store unchanged or traverse; null if there is none. */
export function findJsonFault(root: unknown): JsonFault | null {
  const fault = findFault(root, 0);
  // The error reports only the beginning of a deep path.
  return fault === null || fault.path.length < MAX_JSON_DEPTH ? fault : { ...fault, path: fault.path.slice(0, 3) };
}

/** Loops without iterators, entries and lists of names: a body can have 50,000 members. */
function findFault(value: unknown, depth: number): JsonFault | null {
  if (typeof value === "number") return Number.isFinite(value) ? null : { path: [], message: "must be a finite number" };
  if (typeof value !== "object" || value === null) return null;
  if (depth >= MAX_JSON_DEPTH) return { path: [], message: `must not be nested deeper than ${MAX_JSON_DEPTH} levels` };
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index += 1) {
      const fault = findFault(value[index], depth + 1);
      if (fault !== null) return { ...fault, path: [index, ...fault.path] };
    }
    return null;
  }
  // Nothing is inherited: JSON.parse sets even `__proto__` as an own member.
  for (const name in value) {
    if (name === "__proto__") return { path: [name], message: "is not allowed as a name" };
    const fault = findFault((value as Record<string, unknown>)[name], depth + 1);
    if (fault !== null) return { ...fault, path: [name, ...fault.path] };
  }
  return null;
}

/** Caches for the objects of a list, which often have the same keys. Null outside of lists. */
interface NameCaches {
  /** Names as JSON with their colon. */
  quoted: Map<string, string>;
  /** By first name: the last unsorted names, and the same names sorted. */
  orders: Map<string, { names: readonly string[]; sorted: readonly string[] }>;
}
/** Objects with more members than this rarely repeat, so caching their names would only cost memory. */
const MAX_CACHED_MEMBERS = 100;

/** Returns the canonical text, or null if `JSON.stringify` writes the same text. */
function reorder(value: unknown, caches: NameCaches | null): string | null {
  if (typeof value !== "object" || value === null) return null;
  return Array.isArray(value) ? reorderArray(value, caches) : reorderObject(value as Record<string, unknown>, caches);
}

function reorderArray(elements: readonly unknown[], known: NameCaches | null): string | null {
  const caches = known ?? { quoted: new Map(), orders: new Map() };
  let text: string | null = null;
  for (let index = 0; index < elements.length; index += 1) {
    const element = elements[index];
    const reordered = reorder(element, caches);
    if (text !== null) text += `,${reordered ?? stringify(element)}`;
    else if (reordered !== null) {
      const before = JSON.stringify(elements.slice(0, index)).slice(0, -1);
      text = `${before}${index === 0 ? "" : ","}${reordered}`;
    }
  }
  return text === null ? null : `${text}]`;
}

function reorderObject(object: Record<string, unknown>, caches: NameCaches | null): string | null {
  const names = Object.keys(object);
  let isOrdered = true;
  let reordered: Map<string, string> | null = null;
  for (let index = 0; index < names.length; index += 1) {
    const name = names[index] as string;
    if (isOrdered && index > 0 && name < (names[index - 1] as string)) isOrdered = false;
    const text = reorder(object[name], caches);
    if (text === null) continue;
    reordered ??= new Map();
    reordered.set(name, text);
  }
  if (isOrdered && reordered === null) return null;
  const isCached = caches !== null && names.length <= MAX_CACHED_MEMBERS;
  let text = "";
  for (const name of isOrdered ? names : isCached ? sortNames(names, caches) : names.sort()) {
    const member = object[name];
    if (member === undefined) continue;
    if (text !== "") text += ",";
    text += isCached ? quote(name, caches) : `${JSON.stringify(name)}:`;
    text += reordered?.get(name) ?? stringify(member);
  }
  return `{${text}}`;
}

function sortNames(names: string[], { orders }: NameCaches): readonly string[] {
  const first = names[0] as string;
  const known = orders.get(first);
  if (known !== undefined && isSame(known.names, names)) return known.sorted;
  const sorted = names.toSorted();
  orders.set(first, { names, sorted });
  return sorted;
}

function isSame(one: readonly string[], other: readonly string[]): boolean {
  if (one.length !== other.length) return false;
  for (let index = 0; index < one.length; index += 1) if (one[index] !== other[index]) return false;
  return true;
}

function quote(name: string, { quoted }: NameCaches): string {
  const known = quoted.get(name);
  if (known !== undefined) return known;
  const text = `${JSON.stringify(name)}:`;
  quoted.set(name, text);
  return text;
}

/** Writes common short values without `JSON.stringify`, whose call takes 100 ns. */
function stringify(value: unknown): string {
  if (typeof value === "number") return String(value);
  if (typeof value === "object" && value !== null && !Array.isArray(value) && isEmpty(value)) return "{}";
  return JSON.stringify(value);
}

function isEmpty(object: object): boolean {
  for (const _ in object) return false;
  return true;
}
