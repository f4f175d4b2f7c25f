/** Deeper values are refused before anything walks them recursively. */
const DEPTH_LIMIT = 100;

/** JSON text that does not depend on the order of keys. The value must have passed `findJsonFault`. */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const entries = Object.entries(value).filter(([, member]) => member !== undefined);
  const members = entries
    .toSorted(([left], [right]) => (left < right ? -1 : 1))
    .map(([key, member]) => `${JSON.stringify(key)}:${canonicalJson(member)}`);
  return `{${members.join(",")}}`;
}

/** What a parsed JSON value holds that Bridge could not keep as it came: its path and the fix; null when there is nothing. */
export function findJsonFault(root: unknown): { path: PropertyKey[]; message: string } | null {
  // A list instead of recursion: the very thing to find is a value too deep to recurse into.
  const waiting: Place[] = [{ value: root, key: "", above: null, depth: 0 }];
  for (let place = waiting.pop(); place !== undefined; place = waiting.pop()) {
    const { value, depth } = place;
    if (typeof value === "number" && !Number.isFinite(value)) return { path: toPath(place), message: "must be a number of ordinary size" };
    if (typeof value !== "object" || value === null) continue;
    if (depth >= DEPTH_LIMIT) return { path: toPath(place).slice(0, 3), message: `must not be nested deeper than ${DEPTH_LIMIT} levels` };
    for (const [key, member] of Array.isArray(value) ? value.entries() : Object.entries(value)) {
      if (key === "__proto__") return { path: [...toPath(place), key], message: "is not allowed as a name" };
      if (typeof member === "object" || typeof member === "number") waiting.push({ value: member, key, above: place, depth: depth + 1 });
    }
  }
  return null;
}

interface Place {
  value: unknown;
  key: PropertyKey;
  above: Place | null;
  depth: number;
}

function toPath(place: Place): PropertyKey[] {
  return place.above === null ? [] : [...toPath(place.above), place.key];
}
