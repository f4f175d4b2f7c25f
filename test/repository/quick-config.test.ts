import { globSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import quick from "../quick.config.ts";

/** `a{b,c}` as `ab` and `ac`. */
function expand(pattern: string): string[] {
  const [whole, before = "", inside = "", after = ""] = /^([^{]*)\{([^{}]*)\}(.*)$/.exec(pattern) ?? [];
  return whole === undefined ? [pattern] : inside.split(",").flatMap((part) => expand(before + part + after));
}

test("every file that the quick selection names exists", () => {
  const repository = path.resolve(import.meta.dirname, "../..");
  const patterns = ((quick as { test?: { include?: string[] } }).test?.include ?? []).flatMap(expand);
  expect(patterns.length).toBeGreaterThan(30);
  // A pattern over all adapters names files that only some of them have.
  const missing = patterns.filter(
    (pattern) => !pattern.startsWith("test/adapters/*") && globSync(pattern, { cwd: repository }).length === 0,
  );
  expect(missing.filter((pattern) => !pattern.startsWith("test/adapters/shared/*/"))).toEqual([]);
});
