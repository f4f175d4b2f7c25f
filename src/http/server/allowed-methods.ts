import type { FastifyInstance } from "fastify";

/** Remembers which methods each path has, so that a wrong one can be told from an unknown path. */
export function collectAllowedMethods(app: FastifyInstance): (path: string) => string[] {
  const methods = new Map<string, Set<string>>();
  app.addHook("onRoute", ({ url, method }) => {
    const known = methods.get(url) ?? new Set();
    for (const name of [method].flat()) known.add(name);
    methods.set(url, known);
  });
  return (path) => {
    const fitting = [...methods].filter(([pattern]) => matches(pattern, path));
    return [...new Set(fitting.flatMap(([, names]) => [...names]))].toSorted();
  };
}

/** Segment by segment; `:name` stands for any one, `*` for all that follow. */
function matches(pattern: string, path: string): boolean {
  const wanted = pattern.split("/");
  const given = path.split("/");
  const star = wanted.indexOf("*");
  if (star === -1 ? wanted.length !== given.length : given.length < wanted.length) return false;
  return wanted
    .slice(0, star === -1 ? undefined : star)
    .every((segment, index) => (segment.startsWith(":") ? given[index] !== "" : segment === given[index]));
}
