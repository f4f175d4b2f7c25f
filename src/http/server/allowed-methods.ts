import type { FastifyInstance } from "fastify";

/** Collects the methods of each route. The returned function lists the methods of a path; an empty list means that no route matches. */
export function collectAllowedMethods(app: FastifyInstance): (path: string) => string[] {
  const methods = new Map<string, Set<string>>();
  app.addHook("onRoute", ({ url, method }) => {
    const known = methods.get(url) ?? new Set();
    for (const name of [method].flat()) known.add(name);
    methods.set(url, known);
  });
  return (path) => {
    const matching = [...methods].filter(([pattern]) => matches(pattern, path));
    return [...new Set(matching.flatMap(([, names]) => [...names]))].toSorted();
  };
}

/** Compares segment by segment: `:name` matches any one segment, `*` matches all remaining segments. */
function matches(pattern: string, path: string): boolean {
  const expected = pattern.split("/");
  const actual = path.split("/");
  const star = expected.indexOf("*");
  if (star === -1 ? expected.length !== actual.length : actual.length < expected.length) return false;
  return expected
    .slice(0, star === -1 ? undefined : star)
    .every((segment, index) => (segment.startsWith(":") ? actual[index] !== "" : segment === actual[index]));
}
