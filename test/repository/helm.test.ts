import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import { listAllSettings } from "../../src/app/load-config.ts";

const repository = path.resolve(import.meta.dirname, "../..");
const chart = path.join(repository, "deploy/helm/bridge");
const templates = readdirSync(path.join(chart, "templates")).map((name) => ({
  name,
  text: readFileSync(path.join(chart, "templates", name), "utf8"),
}));
const values = parse(readFileSync(path.join(chart, "values.yaml"), "utf8"));

/** Whether the object has the value at a path such as `image.tag`. */
const has = (object: unknown, names: readonly string[]): boolean => {
  const [name = "", ...rest] = names;
  if (typeof object !== "object" || object === null || !Object.hasOwn(object, name)) return false;
  return rest.length === 0 || has((object as Record<string, unknown>)[name], rest);
};

const referencesTo = (pattern: RegExp): string[] =>
  templates.flatMap(({ text }) => [...text.matchAll(pattern)].map(([, name = ""]) => name));

describe("the Helm chart", () => {
  test("the Helm chart uses only values that values.yaml contains, and every value", () => {
    const used = [...new Set(referencesTo(/\.Values\.([A-Za-z.]+)/g))];
    expect(used.length).toBeGreaterThan(15);
    expect(used.filter((name) => !has(values, name.split(".")))).toEqual([]);
    const group = [...new Set(referencesTo(/\$group\.([A-Za-z]+)/g))];
    expect(group.toSorted()).toEqual(Object.keys(values.groups[0]).toSorted());
    expect(Object.keys(values).filter((name) => !used.some((reference) => reference.split(".")[0] === name))).toEqual([]);
  });

  test("the Helm chart includes only templates that it defines", () => {
    const defined = referencesTo(/define "([\w.]+)"/g);
    expect(referencesTo(/include "([\w.]+)"/g).filter((name) => !defined.includes(name))).toEqual([]);
  });

  test("the Helm chart sets only settings that exist", () => {
    const named = [...new Set(referencesTo(/\b(BRIDGE_[A-Z_]+)\b/g))];
    expect(named).toContain("BRIDGE_NODE_URL");
    const settings = listAllSettings();
    expect(named.filter((name) => !Object.hasOwn(settings, name))).toEqual([]);
  });

  test("the Helm chart gives a pod the drain time, the time to close, and 5 s each before and after", () => {
    const [, margin] = /CLOSE_MARGIN_MS = (\d+)_000/.exec(readFileSync(path.join(repository, "src/main.ts"), "utf8")) ?? [];
    expect(referencesTo(/terminationGracePeriodSeconds: {{ add \$root\.Values\.drainSeconds (\d+) }}/g)).toEqual([
      String(Number(margin) + 10),
    ]);
  });

  test.each(templates)("$name closes its blocks, and is YAML without its actions", ({ name, text }) => {
    expect(text.match(/{{-? (if|range|with|define) /g)?.length ?? 0).toBe(text.match(/{{-? end /g)?.length ?? 0);
    if (name.endsWith(".tpl")) return;
    const plain = text.replaceAll(/^ *{{-?[^\n]*}}$/gm, "").replaceAll(/{{.*?}}/g, "x");
    for (const document of parseAllDocuments(plain)) {
      expect(document.errors).toEqual([]);
      if (document.contents !== null) expect(document.toJS()).toMatchObject({ apiVersion: expect.any(String), kind: expect.any(String) });
    }
  });
});
